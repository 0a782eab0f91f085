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

/** refcount_t saturates here; a holder that comes later gets an object of its own. */
const REFCOUNT_MAX = 0x7fffffff;

/**
 * `anon_vma_name_eq`: by content, so that equal names of different calls merge. A name of which only a
 * prefix or a pointer is known equals nothing but itself.
 */
export function anonVmaNameEq(a: AnonVmaName | null, b: AnonVmaName | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return a.certainty === 'exact' && b.certainty === 'exact' && a.text === b.text;
}

/** All name objects of one simulation with their counts. Every reference is that of one VMA. */
export class AnonVmaNames {
  private nextId = 1;
  private readonly counts = new Map<AnonVmaName, number>();

  /** A new object without references, as the naming call makes it (`anon_vma_name_alloc`). */
  alloc(made: Omit<AnonVmaName, 'id'>): AnonVmaName {
    return { id: this.nextId++, ...made };
  }

  /** Takes a reference for a VMA (`anon_vma_name_get`). */
  get(name: AnonVmaName): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Drops a VMA's reference; the last one frees the object (`anon_vma_name_put`). */
  put(name: AnonVmaName): void {
    const count = this.counts.get(name) ?? 0;
    assert(count > 0, `name object ${name.id} must have the reference that is dropped`);
    if (count === 1) this.counts.delete(name);
    else this.counts.set(name, count - 1);
  }

  /** The object that one more holder gets: this one, or at the counter's limit a fresh copy (`anon_vma_name_reuse`). */
  reuse(name: AnonVmaName): AnonVmaName {
    if (this.refs(name) < REFCOUNT_MAX) return name;
    const { id: _old, ...made } = name;
    return this.alloc(made);
  }

  /** References held now; 0 for an object that is gone or was never taken. */
  refs(name: AnonVmaName): number {
    return this.counts.get(name) ?? 0;
  }

  /** Objects alive now with their counts. */
  alive(): ReadonlyMap<AnonVmaName, number> {
    return this.counts;
  }

  /** For taking back a call that the record says did something else: numbers stay dense. */
  mark(): number {
    return this.nextId;
  }

  /** Back to {@link mark}; all objects made since must be without references. */
  rewind(mark: number): void {
    this.nextId = mark;
  }
}
