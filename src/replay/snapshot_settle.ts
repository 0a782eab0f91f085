import type { Mm } from '../mm/mm';
import { anonVmaPrepare } from '../mm/fault';
import { setVma, vmaAt } from '../mm/vma_modify';
import { hasAny, union, VM_ACCOUNT, VM_GROWSDOWN, VM_SHARED, VM_WRITE } from '../mm/vm_flags';
import type { MapsEntry } from '../procfs/maps_entry';

/**
 * What a snapshot tells that no trace can: page faults. The rules leave these open, so taking them over is learning,
 * not a difference. Nothing else is ever taken over here.
 */

/** Has the snapshot seen private pages in this mapping (present or swapped out)? */
function wasWritten(entry: MapsEntry): boolean {
  return ['Anonymous', 'Swap'].some((name) => {
    const field = entry.smaps?.fields.get(name);
    return field?.kind === 'number' && field.value > 0;
  });
}

/** Index of the VMA with exactly this range; -1 if there is none. */
function indexOf(mm: Mm, entry: MapsEntry): number {
  const index = mm.tree.find(entry.start);
  const vma = mm.tree.at(index);
  return vma !== undefined && vma.start === entry.start && vma.end === entry.end ? index : -1;
}

/** Private memory with pages of its own has been written to: it has an anon_vma. */
export function settleFaults(mm: Mm, entries: readonly MapsEntry[]): void {
  for (const entry of entries) {
    const index = wasWritten(entry) ? indexOf(mm, entry) : -1;
    if (index >= 0 && !hasAny(vmaAt(mm, index).flags, VM_SHARED)) anonVmaPrepare(mm, index);
  }
}

/**
 * Before a comparison: memory that was written to before mprotect took its write permission away keeps its commit charge
 * (mprotect_fixup); where the trace did not show the write, the replay dropped the charge. Returns how many VMAs.
 */
export function settleCharges(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  for (const entry of entries) {
    const index =
      wasWritten(entry) && entry.smaps?.vmFlags?.includes('ac') === true ? indexOf(mm, entry) : -1;
    if (index < 0) continue;
    const vma = vmaAt(mm, index);
    if (
      vma.anonVma !== 0 ||
      vma.file !== null ||
      hasAny(vma.flags, VM_ACCOUNT) ||
      hasAny(vma.flags, VM_WRITE)
    )
      continue;
    setVma(mm, index, { flags: union(vma.flags, VM_ACCOUNT) });
    settled++;
  }
  return settled;
}

/** Before a comparison: memory that grows down may have grown by faults. Returns how many VMAs did. */
export function settleStackGrowth(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  for (const entry of entries) {
    const index = mm.tree.find(entry.start);
    const vma = mm.tree.at(index);
    if (vma === undefined || vma.end !== entry.end || vma.start <= entry.start) continue;
    if (!hasAny(vma.flags, VM_GROWSDOWN)) continue;
    const grown = vma.start - entry.start;
    setVma(mm, index, { start: entry.start, pgoff: vma.pgoff - grown, anonPgoff: vma.anonPgoff - grown });
    settled++;
  }
  return settled;
}
