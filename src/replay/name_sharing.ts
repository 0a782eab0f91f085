import type { AnonVmaName, AnonVmaNames } from '../mm/anon_vma_name';
import { byteLength } from './call_text';
import type { ForkSharing } from './replay_types';
import type { Life } from './world';

/**
 * What a child shares right after its fork, and what the two ways of keeping names cost: `refcount` takes a reference
 * for each named VMA, `copy` (strdup, before 5.17's anon_vma_name) allocates each text again with its NUL.
 */
export function sharingOf(step: number, parent: Life, child: Life, names: AnonVmaNames): ForkSharing {
  const held = new Map<AnonVmaName, number>();
  // A child that uses its parent's address space (vfork) holds nothing of its own.
  const own = child.mm !== null && child.mm !== parent.mm ? child.mm.tree.all() : [];
  let copyBytes = 0;
  let references = 0;
  for (const { name } of own) {
    if (name === null) continue;
    held.set(name, (held.get(name) ?? 0) + 1);
    references++;
    copyBytes += byteLength(name.text) + 1;
  }
  const shared = [...held].map(([object, childRefs]) => ({ object, childRefs, refs: names.refs(object) }));
  return {
    step,
    parentId: parent.id,
    childId: child.id,
    shared,
    cost: { references, copies: references, copyBytes },
  };
}
