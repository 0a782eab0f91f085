import { ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, TASK_SIZE_PAGES, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import { inTaskSize, type Mm } from '../mm';
import { DONE, overLimit, refuse, type Prediction, type Refusal } from '../refusal';
import { canModifyMm, canModifyVma } from '../seal';
import { splitVma, vmaAt } from '../vma_modify';

/** munmap(addr, length): do_vmi_munmap in mm/vma.c (mm/mmap.c before 6.12). */
export function sysMunmap(mm: Mm, addr: U64, length: U64): Prediction {
  if (!pageAligned(addr) || lengthPastTask(length)) return refuse('EINVAL', OUTSIDE);
  const start = vpnOf(addr);
  const done = doMunmap(mm, start, vpnAdd(start, pageAlignUp(length)));
  return done.ok ? DONE : done;
}

const OUTSIDE = 'the address is not page aligned or the range leaves the address space';

/** A length that wraps to 0 pages is still longer than the address space. */
function lengthPastTask(length: U64): boolean {
  return typeof length === 'bigint' && length > BigInt(TASK_SIZE_PAGES) * 4096n;
}

/** do_vmi_munmap: as {@link unmapRange}, with its checks of the range. */
export function doMunmap(mm: Mm, start: Vpn, end: Vpn): Result<void, Refusal> {
  if (start > TASK_SIZE_PAGES || !inTaskSize(start, end - start)) return refuse('EINVAL', OUTSIDE);
  if (start === end) return refuse('EINVAL', 'the length is 0');
  return unmapRange(mm, start, end);
}

/**
 * Takes [start, end) out of the map. All or nothing, except that a refused call leaves a first VMA that it entered
 * mid-way split at `start` (6.12 and later; the kernel re-attaches what it had gathered, not the split).
 */
export function unmapRange(mm: Mm, start: Vpn, end: Vpn): Result<void, Refusal> {
  const gathered = gatherRange(mm, start, end);
  if (!gathered.ok) return gathered;
  mm.replace(gathered.value.from, gathered.value.count, []);
  return ok(undefined);
}

/**
 * vms_gather_munmap_vmas: splits at both ends and says which VMAs are to go. What a later check of the caller refuses
 * leaves the splits behind.
 */
export function gatherRange(
  mm: Mm,
  start: Vpn,
  end: Vpn,
): Result<{ readonly from: number; readonly count: number }, Refusal> {
  const walked = canModifyMm(mm, start, end);
  if (!walked.ok) return walked;
  const first = splitFirst(mm, start, end);
  if (!first.ok) return first;
  const from = mm.tree.find(start);
  let to = from;
  for (; ; to++) {
    const vma = mm.tree.at(to);
    if (vma === undefined || vma.start >= end) break;
    const allowed = canModifyVma(mm, vma);
    if (!allowed.ok) return allowed;
    if (vma.end > end) {
      // No look at the map count: the count may be exceeded for a moment.
      const split = splitVma(mm, to, end);
      if (!split.ok) return split;
    }
  }
  return ok({ from, count: to - from });
}

/** A range that starts inside a VMA: AA[aa… → AA|[aa… */
function splitFirst(mm: Mm, start: Vpn, end: Vpn): Result<void, Refusal> {
  const index = mm.tree.find(start);
  const vma = mm.tree.at(index);
  if (vma === undefined || vma.start >= start) return ok(undefined);
  if (end < vma.end && mm.mapCount >= mm.system.maxMapCount) {
    return overLimit('ENOMEM', 'a hole inside one VMA would exceed vm.max_map_count', vmaAt(mm, index));
  }
  const allowed = canModifyVma(mm, vma);
  if (!allowed.ok) return allowed;
  return splitVma(mm, index, start);
}
