import { ok, type Result } from '../../base/result';
import { offsetInPage, pageAlignUp, u64, VPN_END, vpn, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import { populate } from '../fault';
import { canDoMlock, mayLock, mayLockAll, pagesIn } from '../limits';
import type { Mm } from '../mm';
import { DONE, overLimit, refuse, type Prediction, type Refusal } from '../refusal';
import { modifyVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import {
  hasAny,
  union,
  unionOf,
  VM_DROPPABLE,
  VM_HUGETLB,
  VM_LOCKED,
  VM_LOCKED_MASK,
  VM_LOCKONFAULT,
  VM_NONE,
  VM_SPECIAL,
  without,
  type VmFlags,
} from '../vm_flags';

const MLOCK_ONFAULT = 1;
const MCL_CURRENT = 1;
const MCL_FUTURE = 2;
const MCL_ONFAULT = 4;

/** mlock(addr, length): do_mlock in mm/mlock.c. */
export function sysMlock(mm: Mm, addr: U64, length: U64): Prediction {
  return lockRange(mm, addr, length, VM_LOCKED);
}

/** mlock2(addr, length, flags) */
export function sysMlock2(mm: Mm, addr: U64, length: U64, flags: number): Prediction {
  if ((flags & ~MLOCK_ONFAULT) !== 0) return refuse('EINVAL', 'unknown mlock2 flags');
  return lockRange(mm, addr, length, (flags & MLOCK_ONFAULT) !== 0 ? VM_LOCKED_MASK : VM_LOCKED);
}

/** munlock(addr, length) */
export function sysMunlock(mm: Mm, addr: U64, length: U64): Prediction {
  const range = lockedRange(addr, length);
  return applyLock(mm, range.start, range.pages, VM_NONE);
}

/** mlockall(flags): only MCL_FUTURE (def_flags) and MCL_CURRENT are remembered. */
export function sysMlockall(mm: Mm, flags: number): Prediction {
  if (flags === 0 || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) !== 0 || flags === MCL_ONFAULT) {
    return refuse('EINVAL', 'mlockall needs MCL_CURRENT or MCL_FUTURE and no unknown flag');
  }
  const allowed = canDoMlock(mm);
  if (!allowed.ok) return allowed;
  if ((flags & MCL_CURRENT) !== 0 && !mayLockAll(mm))
    return overLimit('ENOMEM', 'the address space exceeds RLIMIT_MEMLOCK');
  const lock = (flags & MCL_ONFAULT) !== 0 ? VM_LOCKED_MASK : VM_LOCKED;
  setDefLock(mm, (flags & MCL_FUTURE) !== 0 ? lock : VM_NONE);
  if ((flags & MCL_CURRENT) !== 0) lockAll(mm, lock);
  return DONE;
}

/** munlockall() */
export function sysMunlockall(mm: Mm): Prediction {
  setDefLock(mm, VM_NONE);
  lockAll(mm, VM_NONE);
  return DONE;
}

function setDefLock(mm: Mm, lock: VmFlags): void {
  mm.scalars = { ...mm.scalars, defFlags: union(without(mm.scalars.defFlags, VM_LOCKED_MASK), lock) };
}

/** apply_mlockall_flags: errors of single VMAs are passed over. */
function lockAll(mm: Mm, lock: VmFlags): void {
  const last = mm.tree.at(mm.tree.count - 1);
  if (last === undefined) return;
  let at = vpn(0);
  while (at < last.end) {
    const index = mm.tree.find(at);
    const vma = mm.tree.at(index);
    if (vma === undefined) break;
    at = vma.end;
    lockVma(mm, index, vma.start, vma.end, lock);
  }
  if (lock !== VM_NONE) populate(mm, vpn(0), last.end, 'mmap');
}

/** Rounds as the calls do: the start down, the length up. */
function lockedRange(addr: U64, length: U64): { start: Vpn; pages: number } {
  const shifted = u64(BigInt(length) + BigInt(offsetInPage(addr)));
  return { start: vpnOf(addr), pages: pageAlignUp(shifted) };
}

function lockRange(mm: Mm, addr: U64, length: U64, lock: VmFlags): Prediction {
  const allowed = canDoMlock(mm);
  if (!allowed.ok) return allowed;
  const { start, pages } = lockedRange(addr, length);
  if (!mayLock(mm, pages, pagesIn(mm, start, vpnAdd(start, pages), VM_LOCKED)))
    return overLimit('ENOMEM', 'locked memory would exceed RLIMIT_MEMLOCK; nothing was changed');
  const applied = applyLock(mm, start, pages, lock);
  if (!applied.ok || pages === 0) return applied;
  if (!populate(mm, start, vpnAdd(start, pages), 'mlock')) {
    return refuse(
      'ENOMEM',
      'memory without any access, a guard region or what lies beyond the end of a file cannot be brought in; ' +
        'the range is locked all the same',
    );
  }
  return DONE;
}

/** apply_vma_lock_flags: VMA after VMA; a hole stops it and earlier VMAs stay changed. */
function applyLock(mm: Mm, start: Vpn, pages: number, lock: VmFlags): Prediction {
  const end = vpnAdd(start, pages);
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  const walked = visitVmas(mm, start, end, 'stop', (index, from, until) =>
    lockVma(mm, index, from, until, lock),
  );
  if (!walked.ok) return walked;
  return walked.value.gap
    ? refuse('ENOMEM', 'the range runs into a hole; what lies before it was changed')
    : DONE;
}

/** mlock_fixup: special, huge and droppable memory is passed over without a word. */
function lockVma(mm: Mm, index: number, start: Vpn, end: Vpn, lock: VmFlags): Result<void, Refusal> {
  const vma = vmaAt(mm, index);
  const flags = union(without(vma.flags, unionOf(VM_LOCKED, VM_LOCKONFAULT)), lock);
  if (flags === vma.flags || vma.special !== null) return ok(undefined);
  if (hasAny(vma.flags, unionOf(VM_SPECIAL, VM_HUGETLB, VM_DROPPABLE))) return ok(undefined);
  const modified = modifyVma(mm, index, start, end, { flags });
  return modified.ok ? ok(undefined) : modified;
}
