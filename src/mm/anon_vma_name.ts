import { assert } from '../base/assert';

/**
 * `struct anon_vma_name`: one refcounted text that any number of VMAs point to (Linux 5.17,
 * include/linux/mm_inline.h and mm/madvise.c). The text of an object never changes; naming a range makes a
 * new object, and two objects may carry the same text.
 */
export interface AnonVmaName {
  /** Number in order of creation within one simulation, from 1. */
  readonly id: number;
  readonly text: string;
  /** The capture shows only a prefix, or only a pointer: then `text` is not the whole truth. */
  readonly certainty: 'exact' | 'prefix' | 'pointer';
  /** Who made it. `line` 0 means that it was found in a snapshot, made before anything we saw. */
  readonly createdAt: { readonly line: number; readonly pid: number };
  /** True when it was found in a snapshot and which VMAs share one object is our inference. */
  readonly inferred: boolean;
}
