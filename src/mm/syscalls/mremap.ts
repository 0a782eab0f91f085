import { ok, type Result } from '../../base/result';
import {
  bytesOfVpn,
  pageAligned,
  pageAlignUp,
  TASK_SIZE_PAGES,
  VPN_END,
  vpn,
  vpnAdd,
  vpnOf,
  type U64,
} from '../addr';
import { populate } from '../fault';
import { hugeAligned } from '../hugetlb';
import { enoughMemory, mayExpandVm, mlockFutureOk } from '../limits';
import { inTaskSize, type Mm } from '../mm';
import { overLimit, refuse, type Prediction, type Refusal } from '../refusal';
import { canModifyMm, canModifyVma } from '../seal';
import { hugePageOf, type Vma } from '../vma';
import {
  hasAny,
  unionOf,
  VM_ACCOUNT,
  VM_DONTEXPAND,
  VM_LOCKED,
  VM_MAYSHARE,
  VM_PFNMAP,
  VM_SHARED,
} from '../vm_flags';
import { checkMovable, expandInPlace, moveVma } from './mremap_move';
import { hintFits } from './mmap';
import type { Remap } from './remap';
import { doMunmap, unmapRange } from './munmap';

export const MREMAP_MAYMOVE = 1;
export const MREMAP_FIXED = 2;
export const MREMAP_DONTUNMAP = 4;

export interface MremapArgs {
  readonly oldAddr: U64;
  readonly oldLength: U64;
  readonly newLength: U64;
  readonly flags: number;
  readonly newAddr: U64;
  /** Where the record says that it went; decides the place, never the outcome. */
  readonly placedAt: U64 | undefined;
}

/** mremap: mm/mremap.c. Returns the new address, or `anywhere` if the kernel is free to choose. */
export function sysMremap(mm: Mm, args: MremapArgs): Prediction {
  const remap: Remap = {
    old: vpnOf(args.oldAddr),
    oldPages: pageAlignUp(args.oldLength),
    newPages: pageAlignUp(args.newLength),
    to: vpnOf(args.newAddr),
    fixed: (args.flags & MREMAP_FIXED) !== 0,
    dontUnmap: (args.flags & MREMAP_DONTUNMAP) !== 0,
    mayMove: (args.flags & MREMAP_MAYMOVE) !== 0,
    placedAt: args.placedAt === undefined ? undefined : vpnOf(args.placedAt),
  };
  const checked = checkArguments(mm, args, remap);
  if (!checked.ok) return checked;
  if (mm.rules.mremapMovesManyVmas && remap.fixed && remap.oldPages === remap.newPages)
    return moveMany(mm, remap);

  const vma = mm.tree.lookup(remap.old);
  if (vma === undefined) return refuse('EFAULT', 'nothing is mapped at the old address');
  const allowed = canModifyVma(mm, vma);
  if (!allowed.ok) return allowed;
  const aligned = alignHugetlb(vma, remap, args.newAddr);
  if (!aligned.ok) return aligned;
  if (mm.rules.mremapChecksSourceFirst) {
    const source = checkSource(mm, aligned.value, vma);
    if (!source.ok) return source;
  }
  if (remap.fixed || remap.dontUnmap) return remapTo(mm, aligned.value, args.newAddr);
  return remapAt(mm, aligned.value);
}

/** align_hugetlb: lengths become whole huge pages; the new address is looked at even where it is not used. */
function alignHugetlb({ file }: Vma, remap: Remap, newAddr: U64): Result<Remap, Refusal> {
  const hugePage = hugePageOf(file);
  if (hugePage === 1) return ok(remap);
  if (remap.old % hugePage !== 0 || !hugeAligned(file, newAddr))
    return refuse('EINVAL', 'an address is not aligned to the huge pages of the mapping (align_hugetlb)');
  const oldPages = Math.ceil(remap.oldPages / hugePage) * hugePage;
  const newPages = Math.ceil(remap.newPages / hugePage) * hugePage;
  if (newPages > oldPages)
    return refuse('EINVAL', 'memory of huge pages cannot be made longer (align_hugetlb)');
  return ok({ ...remap, oldPages, newPages });
}

function impliesNewAddr(remap: Remap): boolean {
  return remap.fixed || remap.dontUnmap;
}

function checkArguments(mm: Mm, args: MremapArgs, remap: Remap): Result<void, Refusal> {
  const known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if ((args.flags & ~known) !== 0) return refuse('EINVAL', 'unknown mremap flags');
  if (impliesNewAddr(remap) && !remap.mayMove) {
    return refuse('EINVAL', 'MREMAP_FIXED and MREMAP_DONTUNMAP need MREMAP_MAYMOVE');
  }
  const first = mm.rules.mremapArgumentsFirst;
  const lengthsEqual = first ? remap.oldPages === remap.newPages : args.oldLength === args.newLength;
  if (remap.dontUnmap && !lengthsEqual) return refuse('EINVAL', 'MREMAP_DONTUNMAP cannot change the length');
  if (!pageAligned(args.oldAddr)) return refuse('EINVAL', 'the old address is not page aligned');
  if (remap.newPages === 0) return refuse('EINVAL', 'the new length is 0');
  if (!first) return ok(undefined);
  if (remap.newPages > TASK_SIZE_PAGES) return refuse('EINVAL', 'the new length exceeds the address space');
  const target = impliesNewAddr(remap) ? checkTarget(mm, args.newAddr, remap) : ok(undefined);
  if (!target.ok || !mm.rules.mremapCountCheckAlways) return target;
  // Early headroom check of 7.3: four more VMAs must fit, one more with DONTUNMAP.
  const needed = remap.dontUnmap ? 5 : 4;
  return mm.mapCount + needed > mm.system.maxMapCount ? tooManyVmas() : ok(undefined);
}

/** The new address: aligned, inside the address space, apart from the old range, and headroom in the map count. */
function checkTarget(mm: Mm, newAddr: U64, remap: Remap): Result<void, Refusal> {
  if (!pageAligned(newAddr)) return refuse('EINVAL', 'the new address is not page aligned');
  if (!inTaskSize(remap.to, remap.newPages))
    return refuse('EINVAL', 'the new range leaves the address space');
  // An end past 2^64 comes round to the beginning, and then overlaps nothing.
  const oldEnd = (remap.old + remap.oldPages) % VPN_END;
  if (oldEnd > remap.to && remap.to + remap.newPages > remap.old) {
    return refuse('EINVAL', 'the old and the new range overlap');
  }
  if (!mm.rules.mremapCountCheckAlways && mm.mapCount + 2 >= mm.system.maxMapCount - 3) return tooManyVmas();
  return ok(undefined);
}

function tooManyVmas(): Result<never, Refusal> {
  return overLimit('ENOMEM', 'too close to vm.max_map_count for a move');
}

/** check_prep_vma, before 6.17 vma_to_resize: may this VMA be resized or moved so? */
function checkSource(mm: Mm, remap: Remap, vma: Vma): Result<void, Refusal> {
  const shrinks = remap.oldPages > remap.newPages;
  if (shrinks && !impliesNewAddr(remap)) return ok(undefined);
  if (remap.oldPages === remap.newPages && !impliesNewAddr(remap)) return ok(undefined);
  if (remap.oldPages === 0 && !hasAny(vma.flags, unionOf(VM_SHARED, VM_MAYSHARE))) {
    return refuse('EINVAL', 'an old length of 0 duplicates shared memory only', vma);
  }
  if (remap.dontUnmap && hasAny(vma.flags, unionOf(VM_DONTEXPAND, VM_PFNMAP))) {
    return refuse('EINVAL', 'MREMAP_DONTUNMAP is not possible on special memory', vma);
  }
  // A shrinking move needs only the kept part inside one VMA.
  const kept = Math.min(remap.oldPages, remap.newPages);
  if ((shrinks ? kept : remap.oldPages) > vma.end - remap.old) {
    return refuse('EFAULT', 'the old range reaches past the end of its VMA', vma);
  }
  if (remap.newPages <= remap.oldPages) return ok(undefined);
  if (hasAny(vma.flags, unionOf(VM_DONTEXPAND, VM_PFNMAP))) {
    return refuse('EFAULT', 'special memory cannot grow', vma);
  }
  const growth = remap.newPages - remap.oldPages;
  if (!mlockFutureOk(mm, vma.flags, growth))
    return overLimit('EAGAIN', 'locked memory would exceed RLIMIT_MEMLOCK', vma);
  return mayExpandVm(mm, vma.flags, growth);
}

/** mremap_to: FIXED, DONTUNMAP or both. */
function remapTo(mm: Mm, remap: Remap, newAddr: U64): Prediction {
  if (!mm.rules.mremapArgumentsFirst) {
    const target = checkTarget(mm, newAddr, remap);
    if (!target.ok) return target;
    const walked = canModifyMm(mm, remap.old, vpnAdd(remap.old, remap.oldPages));
    if (!walked.ok) return walked;
  }
  if (remap.fixed) {
    const unmapped = unmapRange(mm, remap.to, vpnAdd(remap.to, remap.newPages));
    if (!unmapped.ok) return unmapped;
    if (mm.rules.mremapChecksSourceFirst && mm.tree.lookup(remap.old) === undefined) {
      return refuse('EFAULT', 'the source lay in the new range and went with it');
    }
  }
  let pages = remap.oldPages;
  if (pages > remap.newPages) {
    const tail = doMunmap(mm, vpnAdd(remap.old, remap.newPages), vpnAdd(remap.old, pages));
    if (!tail.ok) return tail;
    pages = remap.newPages;
  }
  const vma = mm.tree.lookup(remap.old);
  if (vma === undefined) return refuse('EFAULT', 'nothing is mapped at the old address any more');
  const moved = { ...remap, oldPages: pages };
  if (!mm.rules.mremapChecksSourceFirst) {
    const source = checkSource(mm, moved, vma);
    if (!source.ok) return source;
  }
  const copies = remap.dontUnmap ? mayExpandVm(mm, vma.flags, pages) : ok(undefined);
  if (!copies.ok) return copies;
  if (remap.fixed) return moveVma(mm, moved, remap.to);
  // MREMAP_DONTUNMAP alone takes the new address as a hint.
  const hinted = remap.to !== 0 && hintFits(mm, remap.to, remap.newPages);
  const done = moveSomewhere(mm, moved);
  return done.ok && hinted ? ok(bytesOfVpn(remap.to)) : done;
}

/** mremap_at: the same place if possible. */
function remapAt(mm: Mm, remap: Remap): Prediction {
  const end = vpnAdd(remap.old, remap.oldPages);
  const walked = canModifyMm(mm, remap.old, end);
  if (!walked.ok) return walked;
  if (remap.oldPages >= remap.newPages) {
    if (remap.oldPages > remap.newPages) {
      const tail = doMunmap(mm, vpnAdd(remap.old, remap.newPages), end);
      if (!tail.ok) return tail;
    }
    return ok(bytesOfVpn(remap.old));
  }
  const vma = mm.tree.lookup(remap.old);
  if (vma === undefined) return refuse('EFAULT', 'nothing is mapped at the old address');
  const source = checkSource(mm, remap, vma);
  if (!source.ok) return source;
  if (end === vma.end && roomBehind(mm, vma, remap)) {
    if (remap.placedAt !== undefined && remap.placedAt !== remap.old) return movedInstead(mm, remap);
    const enough = hasAny(vma.flags, VM_ACCOUNT)
      ? enoughMemory(mm, remap.newPages - remap.oldPages)
      : ok(undefined);
    if (!enough.ok) return enough;
    const grown = expandInPlace(mm, remap);
    if (!grown.ok) return grown;
    if (hasAny(vma.flags, VM_LOCKED)) populate(mm, end, vpnAdd(remap.old, remap.newPages), 'mmap');
    return ok(bytesOfVpn(remap.old));
  }
  if (!remap.mayMove) return refuse('ENOMEM', 'there is no room behind it and it may not move', vma);
  return moveSomewhere(mm, remap);
}

/** vma_expandable: no guard gap is kept for growth in place. */
function roomBehind(mm: Mm, vma: Vma, remap: Remap): boolean {
  const end = vpnAdd(remap.old, remap.newPages);
  return inTaskSize(vma.start, end - vma.start) && mm.firstIn(vma.end, end) === undefined;
}

/** The record says that it moved although we see room: it goes where it went; the prediction stays. */
function movedInstead(mm: Mm, remap: Remap): Prediction {
  const moved = moveSomewhere(mm, remap);
  return moved.ok ? ok(bytesOfVpn(remap.old)) : moved;
}

/** A move to where the kernel likes: the record tells where. */
function moveSomewhere(mm: Mm, remap: Remap): Prediction {
  if (remap.newPages > TASK_SIZE_PAGES) return refuse('ENOMEM', 'the new length exceeds the address space');
  const movable = checkMovable(mm, remap);
  if (!movable.ok) return movable;
  if (remap.placedAt === undefined || !inTaskSize(remap.placedAt, remap.newPages)) return ok('anywhere');
  if (mm.firstIn(remap.placedAt, vpnAdd(remap.placedAt, remap.newPages)) !== undefined) return ok('anywhere');
  const moved = moveVma(mm, remap, remap.placedAt);
  return moved.ok ? ok('anywhere') : moved;
}

/**
 * vma_multi_allowed: not where userfaultfd must be told, nor where the driver chooses addresses itself
 * (get_unmapped_area), as /dev/zero and SysV segments of ordinary pages do.
 */
function movesAmongOthers(vma: Vma): boolean {
  if (vma.uffd !== null) return false;
  return hugePageOf(vma.file) > 1 || (vma.file?.ops !== 'dev-zero' && vma.file?.ops !== 'sysv');
}

/** remap_move (6.17): every VMA in the range in turn, gaps kept. An error leaves those before it moved. */
function moveMany(mm: Mm, remap: Remap): Prediction {
  const end = vpnAdd(remap.old, remap.oldPages);
  let from = remap.old;
  let seen = false;
  // Where the source goes on, in its own coordinates; merging must not make us lose the place.
  while (from < end) {
    const vma = mm.tree.at(mm.tree.find(from));
    if (vma === undefined || vma.start >= end) break;
    if (!seen && vma.start > remap.old) return refuse('EFAULT', 'nothing is mapped at the old address');
    const start = vpn(Math.max(vma.start, from));
    const until = vpn(Math.min(vma.end, end));
    const part: Remap = {
      ...remap,
      old: start,
      oldPages: until - start,
      newPages: until - start,
      to: vpnAdd(remap.to, start - remap.old),
    };
    if (!movesAmongOthers(vma) && (seen || vma.end < end)) {
      return refuse('EFAULT', 'memory of this driver moves alone only (vma_multi_allowed)', vma);
    }
    const allowed = canModifyVma(mm, vma);
    if (!allowed.ok) return allowed;
    const aligned = alignHugetlb(vma, part, bytesOfVpn(part.to));
    if (!aligned.ok) return aligned;
    const source = checkSource(mm, aligned.value, vma);
    if (!source.ok) return source;
    const moved = remapTo(mm, aligned.value, bytesOfVpn(part.to));
    if (!moved.ok) return moved;
    seen = true;
    from = until;
  }
  return seen ? ok(bytesOfVpn(remap.to)) : refuse('EFAULT', 'nothing is mapped at the old address');
}
