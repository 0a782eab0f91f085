import type { Mm } from '../mm';
import { setVma, vmaAt } from '../vma_modify';
import { union, VM_MERGEABLE, without } from '../vm_flags';
import { ksmCompatible } from './madvise';

/**
 * prctl(PR_SET_MEMORY_MERGE, on): ksm_enable_merge_any and ksm_disable_merge_any in mm/ksm.c. Marks every VMA that can be
 * marked, or takes every mark away, also those that madvise made. VMAs that become alike do not join.
 */
export function setMemoryMerge(mm: Mm, on: boolean): void {
  if (mm.scalars.ksmAny === on) return;
  mm.scalars = { ...mm.scalars, ksmAny: on };
  for (let index = 0; index < mm.tree.count; index++) {
    const { flags, special } = vmaAt(mm, index);
    // The gate page is printed with every map and is in none.
    if (special === '[vsyscall]') continue;
    const marked = ksmCompatible(flags) ? union(flags, VM_MERGEABLE) : flags;
    const changed = on ? marked : without(flags, VM_MERGEABLE);
    if (changed !== flags) setVma(mm, index, { flags: changed });
  }
}
