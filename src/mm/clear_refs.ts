import type { Mm } from './mm';
import { hasAny, VM_SOFTDIRTY, without } from './vm_flags';
import { setVma, vmaAt } from './vma_modify';

/**
 * clear_refs_write of fs/proc/task_mmu.c for CLEAR_REFS_SOFT_DIRTY, the 4: no VMA of the process is soft-dirty any more.
 * Nothing joins, and seals do not mind.
 */
export function clearSoftDirty(mm: Mm): void {
  for (let index = 0; index < mm.tree.count; index++) {
    const { flags } = vmaAt(mm, index);
    if (hasAny(flags, VM_SOFTDIRTY)) setVma(mm, index, { flags: without(flags, VM_SOFTDIRTY) });
  }
}
