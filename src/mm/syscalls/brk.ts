import { ok } from '../../base/result';
import { bytesOfVpn, pageAlignUp, vpn, type U64, type Vpn } from '../addr';
import { populate } from '../fault';
import { enoughMemory, mayExpandVm, mlockFutureOk } from '../limits';
import { inTaskSize, type Mm } from '../mm';
import type { Prediction } from '../refusal';
import type { Vma } from '../vma';
import { growsPrevious, type MergeRange } from '../vma_merge';
import {
  hasAny,
  union,
  unionOf,
  VM_ACCOUNT,
  VM_EXEC,
  VM_GROWSDOWN,
  VM_LOCKED,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYWRITE,
  VM_MERGEABLE,
  VM_READ,
  VM_SOFTDIRTY,
  VM_WRITE,
  type VmFlags,
} from '../vm_flags';
import { STACK_GUARD_PAGES } from '../stack_growth';
import { unmapRange } from './munmap';

/**
 * brk(addr): mm/mmap.c. Never fails with an errno: the result is the break afterwards, the old one if refused.
 * `anywhere` while the break is not known.
 */
export function sysBrk(mm: Mm, addr: U64): Prediction {
  const { startBrk, brk } = mm.scalars;
  if (startBrk === null || brk === null) return ok('anywhere');
  if (addr < startBrk) return ok(brk);
  // check_data_rlimit, which shrinking has to pass too. It adds the data segment of the program, which is not shown.
  if (Number(addr) - Number(startBrk) > (mm.limits.data?.cur ?? Infinity)) return ok(brk);
  const oldEnd = vpn(pageAlignUp(brk));
  const newEnd = vpn(pageAlignUp(addr));
  const changed =
    oldEnd === newEnd || (newEnd < oldEnd ? shrink(mm, newEnd, oldEnd) : grow(mm, oldEnd, newEnd));
  if (!changed) return ok(brk);
  mm.scalars = { ...mm.scalars, brk: addr };
  return ok(addr);
}

/** A seal in the way leaves everything as it was, but for a first VMA split at the new end (6.12). */
function shrink(mm: Mm, newEnd: Vpn, oldEnd: Vpn): boolean {
  const vma = mm.firstIn(newEnd, oldEnd);
  return vma !== undefined && unmapRange(mm, newEnd, oldEnd).ok;
}

/** do_brk_flags: the new part joins the VMA that ends there or becomes one; it never joins what lies behind. */
function grow(mm: Mm, oldEnd: Vpn, newEnd: Vpn): boolean {
  if (!inTaskSize(oldEnd, newEnd - oldEnd) || mm.mapCount > mm.system.maxMapCount) return false;
  const next = mm.tree.at(mm.tree.find(oldEnd));
  if (next !== undefined) {
    const guard = hasAny(next.flags, VM_GROWSDOWN) ? STACK_GUARD_PAGES : 0;
    if (newEnd + 1 > next.start - guard) return false;
  }
  const pages = newEnd - oldEnd;
  const flags = heapFlags(mm);
  if (!mlockFutureOk(mm, flags, pages)) return false;
  if (!mayExpandVm(mm, flags, pages).ok || !enoughMemory(mm, pages).ok) return false;
  placeHeap(mm, oldEnd, newEnd);
  return true;
}

function heapFlags(mm: Mm): VmFlags {
  const flags = unionOf(
    VM_READ,
    VM_WRITE,
    VM_MAYREAD,
    VM_MAYWRITE,
    VM_MAYEXEC,
    VM_ACCOUNT,
    mm.scalars.defFlags,
  );
  return mm.rules.heapExecutable || mm.scalars.heapExecutable ? union(flags, VM_EXEC) : flags;
}

function placeHeap(mm: Mm, start: Vpn, end: Vpn): void {
  let flags = heapFlags(mm);
  if (mm.has('soft-dirty')) flags = union(flags, VM_SOFTDIRTY);
  const marked = mm.scalars.ksmAny ? union(flags, VM_MERGEABLE) : flags;
  if (mm.rules.ksmAnyBeforeMerge) flags = marked;
  const range: MergeRange = {
    start,
    end,
    flags,
    pgoff: start,
    anonPgoff: start,
    file: null,
    name: null,
    uffd: null,
    policy: null,
    anonVma: 0,
    forkChild: false,
    untouched: 'sure',
    inferred: false,
  };
  const index = mm.tree.find(start) - 1;
  const prev = mm.tree.at(index);
  if (prev !== undefined && reachesHeap(mm, prev) && growsPrevious(mm, range)) {
    mm.replace(index, 1, [
      { ...prev, end, flags: union(prev.flags, mm.has('soft-dirty') ? VM_SOFTDIRTY : prev.flags) },
    ]);
  } else {
    mm.replace(mm.tree.find(start), 0, [{ ...range, flags: marked, special: null }]);
  }
  if (hasAny(flags, VM_LOCKED)) populate(mm, start, end, 'mmap');
}

/** What ends at or below the start of the heap is never made part of it (vma_prev_limit). */
function reachesHeap(mm: Mm, prev: Vma): boolean {
  const { startBrk } = mm.scalars;
  return startBrk === null || bytesOfVpn(prev.end) > startBrk;
}

/**
 * What a break tells when nothing was known: the first one a process asks for is the start of its heap.
 * `value` is the recorded result.
 */
export function learnBrk(mm: Mm, value: U64): void {
  if (mm.scalars.brk !== null) return;
  mm.scalars = { ...mm.scalars, startBrk: value, brk: value };
}

/** Takes a recorded break over that the rules did not predict. */
export function forceBrk(mm: Mm, value: U64): void {
  const before = mm.scalars.brk;
  if (before === null) {
    learnBrk(mm, value);
    return;
  }
  const oldEnd = vpn(pageAlignUp(before));
  const newEnd = vpn(pageAlignUp(value));
  if (newEnd < oldEnd) unmapRange(mm, newEnd, oldEnd);
  if (newEnd > oldEnd && mm.firstIn(oldEnd, newEnd) === undefined) placeHeap(mm, oldEnd, newEnd);
  mm.scalars = { ...mm.scalars, brk: value };
}
