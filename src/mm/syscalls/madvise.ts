import { err, ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import * as madv from '../advice';
import { anonVmaPrepare, canPopulate, faultIn } from '../fault';
import type { Mm } from '../mm';
import { withoutPages, withPages } from '../page_ranges';
import { DONE, refuse, type Prediction, type Refusal } from '../refusal';
import { writeSeals } from '../memfd_seal';
import { canModifyMmMadv, canModifyVmaMadv } from '../seal';
import { hugePageOf, pgoffAt, vmaIsAnonymous, type Vma } from '../vma';
import { modifyVma, setVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import {
  hasAll,
  hasAny,
  union,
  unionOf,
  VM_DONTCOPY,
  VM_DONTDUMP,
  VM_DONTEXPAND,
  VM_DROPPABLE,
  VM_HUGEPAGE,
  VM_HUGETLB,
  VM_IO,
  VM_LOCKED,
  VM_MAYBE_GUARD,
  VM_MAYSHARE,
  VM_MAYWRITE,
  VM_MERGEABLE,
  VM_MIXEDMAP,
  VM_NOHUGEPAGE,
  VM_PFNMAP,
  VM_PKEY_MASK,
  VM_RAND_READ,
  VM_SEALED,
  VM_SEQ_READ,
  VM_SHARED,
  VM_SPECIAL,
  VM_UFFD_MINOR,
  VM_WIPEONFORK,
  without,
  type VmFlags,
} from '../vm_flags';

/** Pages in a huge page of the page middle directory: 2 MiB. */
const PMD_PAGES = 512;

/** Page offset whose bytes are negative as a signed number. */
const NEGATIVE_OFFSET = 2 ** 51;

/** madvise(addr, length, advice): do_madvise in mm/madvise.c. */
export function sysMadvise(mm: Mm, addr: U64, length: U64, advice: number): Prediction {
  if (!adviceKnown(mm, advice)) return refuse('EINVAL', 'this kernel does not know the advice');
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  const pages = pageAlignUp(length);
  if (length !== 0 && pages === 0) return refuse('EINVAL', 'the length wraps around');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pages);
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  if (pages === 0) return DONE;
  if (advice === madv.MADV_HWPOISON || advice === madv.MADV_SOFT_OFFLINE) {
    return refuse('EPERM', 'poisoning pages needs CAP_SYS_ADMIN');
  }
  const walked = canModifyMmMadv(mm, start, end, advice);
  if (!walked.ok) return walked;
  if (isPopulate(advice) && mm.rules.populateStopsAtGap) return populateRange(mm, start, end, advice);
  const done = walkVmas(mm, start, end, (index, from, to) => adviseVma(mm, index, from, to, advice));
  // Pages that are shared, pinned or not there, and what the file and the settings of THP allow, also before a gap.
  const passed = done.ok || (done.error.errno === 'ENOMEM' && mm.firstIn(start, end) !== undefined);
  return passed && advice === madv.MADV_COLLAPSE ? ok('pages-decide') : done;
}

/**
 * madvise_walk_vmas, shared with naming: every VMA in the range in order. Gaps do not stop it and give ENOMEM in the
 * end; the first error of `visit` stops it and earlier VMAs stay changed.
 */
export function walkVmas(
  mm: Mm,
  start: Vpn,
  end: Vpn,
  visit: (index: number, start: Vpn, end: Vpn) => Result<unknown, Refusal>,
): Prediction {
  const walked = visitVmas(mm, start, end, 'pass', visit);
  if (!walked.ok) return walked;
  return walked.value.gap
    ? refuse('ENOMEM', 'part of the range is not mapped; what is mapped was changed all the same')
    : DONE;
}

/** A split that would exceed vm.max_map_count is reported as EAGAIN by madvise and by naming. */
export function splitRefusal(refusal: Refusal): Refusal {
  return refusal.errno === 'ENOMEM' ? { ...refusal, errno: 'EAGAIN' } : refusal;
}

function adviceKnown(mm: Mm, advice: number): boolean {
  switch (advice) {
    case madv.MADV_MERGEABLE:
    case madv.MADV_UNMERGEABLE:
      return mm.has('ksm');
    case madv.MADV_HUGEPAGE:
    case madv.MADV_NOHUGEPAGE:
    case madv.MADV_COLLAPSE:
      return mm.has('thp');
    case madv.MADV_GUARD_INSTALL:
    case madv.MADV_GUARD_REMOVE:
      return mm.rules.guardRegions;
    case madv.MADV_HWPOISON:
    case madv.MADV_SOFT_OFFLINE:
      return true;
    default:
      return (advice >= 0 && advice <= 4) || (advice >= 8 && advice <= 24);
  }
}

function isPopulate(advice: number): boolean {
  return advice === madv.MADV_POPULATE_READ || advice === madv.MADV_POPULATE_WRITE;
}

/** madvise_populate: page after page, stopping at the first that cannot be. */
function populateRange(mm: Mm, start: Vpn, end: Vpn, advice: number): Prediction {
  const walked = visitVmas(mm, start, end, 'stop', (index, from, until) =>
    populateVma(mm, index, from, until, advice),
  );
  if (!walked.ok) return walked;
  return walked.value.gap ? refuse('ENOMEM', 'part of the range is not mapped') : DONE;
}

function populateVma(mm: Mm, index: number, start: Vpn, end: Vpn, advice: number): Result<void, Refusal> {
  const vma = vmaAt(mm, index);
  const write = advice === madv.MADV_POPULATE_WRITE;
  if (!canPopulate(vma, write))
    return refuse('EINVAL', `the memory is not ${write ? 'writable' : 'readable'}`, vma);
  return faultIn(mm, index, start, end, write)
    ? ok(undefined)
    : refuse('EFAULT', 'a guard region, or pages beyond the end of the file: they cannot be faulted in', vma);
}

/** madvise_vma_behavior */
function adviseVma(mm: Mm, index: number, start: Vpn, end: Vpn, advice: number): Result<unknown, Refusal> {
  const vma = vmaAt(mm, index);
  const allowed = canModifyVmaMadv(mm, vma, advice);
  if (!allowed.ok) return allowed;
  if (isPopulate(advice)) return populateVma(mm, index, start, end, advice);
  if (advice === madv.MADV_GUARD_INSTALL) return installGuard(mm, index, start, end);
  if (advice === madv.MADV_GUARD_REMOVE) return removeGuard(mm, vma, start, end);
  const flags = advisedFlags(mm, vma, start, advice);
  if (!flags.ok) return flags;
  const inFile = advice === madv.MADV_REMOVE ? checkHole(mm, vma, start, end) : flags;
  if (!inFile.ok) return inFile;
  if (flags.value === vma.flags) return ok(undefined);
  const modified = modifyVma(mm, index, start, end, { flags: flags.value });
  return modified.ok ? modified : err(splitRefusal(modified.error));
}

/** vfs_fallocate: offsets are signed, and a hole lies inside the largest file. */
function checkHole(mm: Mm, vma: Vma, start: Vpn, end: Vpn): Result<void, Refusal> {
  if (pgoffAt(vma, start) >= NEGATIVE_OFFSET) return refuse('EINVAL', 'the offset is negative', vma);
  if (pgoffAt(vma, end) >= NEGATIVE_OFFSET)
    return refuse('EFBIG', 'the range ends past the largest size of a file', vma);
  return writeSeals(mm, vma.file) === 0
    ? ok(undefined)
    : refuse('EPERM', 'a seal of the memfd forbids changing what it holds', vma);
}

/** madvise_guard_install */
function installGuard(mm: Mm, index: number, start: Vpn, end: Vpn): Result<void, Refusal> {
  const vma = vmaAt(mm, index);
  if (hasAny(vma.flags, unionOf(VM_SPECIAL, VM_HUGETLB, VM_LOCKED))) {
    return refuse('EINVAL', 'guard regions are not possible in special, huge or locked memory', vma);
  }
  // Markers live in page tables: the VMA is flagged as a whole, not split.
  if (vmaIsAnonymous(vma)) anonVmaPrepare(mm, index);
  setVma(mm, index, { flags: union(vmaAt(mm, index).flags, VM_MAYBE_GUARD) });
  mm.scalars = { ...mm.scalars, guards: withPages(mm.scalars.guards, start, end) };
  return ok(undefined);
}

/** madvise_guard_remove: the flag stays. */
function removeGuard(mm: Mm, vma: Vma, start: Vpn, end: Vpn): Result<void, Refusal> {
  if (hasAny(vma.flags, unionOf(VM_SPECIAL, VM_HUGETLB))) {
    return refuse('EINVAL', 'no guard regions in special memory', vma);
  }
  mm.scalars = { ...mm.scalars, guards: withoutPages(mm.scalars.guards, start, end) };
  return ok(undefined);
}

/** The VMA's flags after the advice (equal where it changes none), or why it is refused. */
function advisedFlags(mm: Mm, vma: Vma, start: Vpn, advice: number): Result<VmFlags, Refusal> {
  const flags = vma.flags;
  switch (advice) {
    case madv.MADV_NORMAL:
      return ok(without(flags, unionOf(VM_RAND_READ, VM_SEQ_READ)));
    case madv.MADV_RANDOM:
      return ok(union(without(flags, VM_SEQ_READ), VM_RAND_READ));
    case madv.MADV_SEQUENTIAL:
      return ok(union(without(flags, VM_RAND_READ), VM_SEQ_READ));
    case madv.MADV_DONTFORK:
      return ok(union(flags, VM_DONTCOPY));
    case madv.MADV_DOFORK:
      if (hasAny(flags, VM_IO)) return refuse('EINVAL', 'I/O memory is never copied', vma);
      return ok(without(flags, VM_DONTCOPY));
    case madv.MADV_WIPEONFORK:
      if (vma.file !== null || hasAny(flags, VM_SHARED)) {
        return refuse('EINVAL', 'only private anonymous memory can be wiped on fork', vma);
      }
      return ok(union(flags, VM_WIPEONFORK));
    case madv.MADV_KEEPONFORK:
      if (hasAny(flags, VM_DROPPABLE))
        return refuse('EINVAL', 'droppable memory is always wiped on fork', vma);
      return ok(without(flags, VM_WIPEONFORK));
    case madv.MADV_DONTDUMP:
      return ok(union(flags, VM_DONTDUMP));
    case madv.MADV_DODUMP:
      if ((!hasAny(flags, VM_HUGETLB) && hasAny(flags, VM_SPECIAL)) || hasAny(flags, VM_DROPPABLE)) {
        return refuse('EINVAL', 'special and droppable memory is never dumped', vma);
      }
      return ok(without(flags, VM_DONTDUMP));
    case madv.MADV_MERGEABLE:
    case madv.MADV_UNMERGEABLE:
      return ok(ksmFlags(mm, flags, advice));
    case madv.MADV_HUGEPAGE:
    case madv.MADV_NOHUGEPAGE:
      return ok(hugepageFlags(vma, advice));
    default:
      return pagesOnly(vma, start, advice, mm.has('swap'));
  }
}

/** Memory in which KSM never looks for equal pages (vma_ksm_compatible). */
const NEVER_MERGED = unionOf(
  VM_SHARED,
  VM_MAYSHARE,
  VM_PFNMAP,
  VM_IO,
  VM_DONTEXPAND,
  VM_HUGETLB,
  VM_MIXEDMAP,
  VM_DROPPABLE,
);

export function ksmCompatible(flags: VmFlags): boolean {
  return !hasAny(flags, NEVER_MERGED);
}

/** ksm_madvise: silently nothing on shared and special memory. */
function ksmFlags(mm: Mm, flags: VmFlags, advice: number): VmFlags {
  if (advice === madv.MADV_MERGEABLE) return ksmCompatible(flags) ? union(flags, VM_MERGEABLE) : flags;
  if (!hasAny(flags, VM_MERGEABLE)) return flags;
  // 6.10 and 6.11 also cleared every flag from bit 32 up, the seal among them.
  const high = unionOf(VM_SEALED, VM_PKEY_MASK, VM_UFFD_MINOR, VM_DROPPABLE);
  return without(flags, mm.rules.unmergeableClearsHighFlags ? union(VM_MERGEABLE, high) : VM_MERGEABLE);
}

function hugepageFlags({ flags }: Vma, advice: number): VmFlags {
  return advice === madv.MADV_HUGEPAGE
    ? union(without(flags, VM_NOHUGEPAGE), VM_HUGEPAGE)
    : union(without(flags, VM_HUGEPAGE), VM_NOHUGEPAGE);
}

/** thp_vma_allowable_order: an aligned range of PMD size lies inside the VMA. */
function holdsHugePage(vma: Vma): boolean {
  return Math.ceil(vma.start / PMD_PAGES) * PMD_PAGES + PMD_PAGES <= vma.end;
}

/** Advice that touches pages and no flag. */
function pagesOnly(vma: Vma, start: Vpn, advice: number, swap: boolean): Result<VmFlags, Refusal> {
  const flags = vma.flags;
  switch (advice) {
    case madv.MADV_DONTNEED:
    case madv.MADV_DONTNEED_LOCKED:
    case madv.MADV_FREE: {
      const forbidden = advice === madv.MADV_DONTNEED_LOCKED ? VM_PFNMAP : union(VM_PFNMAP, VM_LOCKED);
      if (hasAny(flags, forbidden))
        return refuse('EINVAL', 'pages of locked or page-frame memory are not thrown away', vma);
      if (advice === madv.MADV_FREE && !vmaIsAnonymous(vma))
        return refuse('EINVAL', 'MADV_FREE needs anonymous memory', vma);
      // The end is rounded down to whole huge pages, which may leave nothing to do.
      if (start % hugePageOf(vma.file) !== 0)
        return refuse('EINVAL', 'the start is not aligned to the huge pages of the mapping', vma);
      return ok(flags);
    }
    case madv.MADV_REMOVE: {
      if (hasAny(flags, VM_LOCKED)) return refuse('EINVAL', 'the memory is locked', vma);
      if (vma.file === null) return refuse('EINVAL', 'MADV_REMOVE needs a file', vma);
      return hasAll(flags, unionOf(VM_SHARED, VM_MAYWRITE))
        ? ok(flags)
        : refuse('EACCES', 'MADV_REMOVE needs a shared writable mapping', vma);
    }
    case madv.MADV_COLD:
    case madv.MADV_PAGEOUT:
      if (hasAny(flags, unionOf(VM_LOCKED, VM_PFNMAP, VM_HUGETLB)))
        return refuse('EINVAL', 'the memory is locked or special', vma);
      return ok(flags);
    case madv.MADV_WILLNEED:
      return vma.file === null && !swap
        ? refuse('EBADF', 'without swap there is nothing to read anonymous memory ahead from', vma)
        : ok(flags);
    case madv.MADV_COLLAPSE:
      return holdsHugePage(vma) && !hasAny(flags, union(VM_SPECIAL, VM_HUGETLB))
        ? ok(flags)
        : refuse(
            'EINVAL',
            'no aligned 2 MiB lie inside the mapping, or it is special or of huge pages already',
            vma,
          );
    default:
      return ok(flags);
  }
}
