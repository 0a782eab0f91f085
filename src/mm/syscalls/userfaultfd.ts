import { ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpn, vpnAdd, vpnOf, type U64 } from '../addr';
import type { Mm } from '../mm';
import type { PageRange } from '../page_ranges';
import { DONE, refuse, type Prediction, type Refusal } from '../refusal';
import { vmaIsAnonymous, vmaIsAnonShmem, type Vma } from '../vma';
import { modifyVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import {
  hasAll,
  hasAny,
  union,
  VM_MAYWRITE,
  VM_NONE,
  VM_UFFD_FLAGS,
  VM_UFFD_MINOR,
  VM_UFFD_MISSING,
  VM_UFFD_WP,
  without,
  type VmFlags,
} from '../vm_flags';

const MODE_MISSING = 1;
const MODE_WP = 2;
const MODE_MINOR = 4;

/** UFFDIO_REGISTER on the context `uffd`: userfaultfd_register. The whole range is checked before any change. */
export function sysUffdRegister(mm: Mm, uffd: number, addr: U64, length: U64, mode: number): Prediction {
  if (mode === 0 || (mode & ~(MODE_MISSING | MODE_WP | MODE_MINOR)) !== 0)
    return refuse('EINVAL', 'userfaultfd needs a mode and knows no other than missing, wp and minor');
  const flags = flagsOf(mode);
  const span = spanOf(mm, addr, length);
  if (!span.ok) return span;
  for (const vma of mm.vmasIn(span.value.start, span.value.end)) {
    if (!canUserfault(vma, flags))
      return refuse('EINVAL', 'this memory cannot be watched in that mode (vma_can_userfault)', vma);
    if (!hasAny(vma.flags, VM_MAYWRITE))
      return refuse('EPERM', 'memory that can never be written cannot be watched', vma);
    if (vma.uffd !== null && vma.uffd !== uffd)
      return refuse('EBUSY', 'another userfaultfd watches this memory', vma);
  }
  return arm(mm, span.value, (vma) =>
    vma.uffd === uffd && hasAll(vma.flags, flags) ? undefined : { uffd, flags },
  );
}

/** UFFDIO_UNREGISTER through `uffd`: userfaultfd_unregister. */
export function sysUffdUnregister(mm: Mm, uffd: number, addr: U64, length: U64): Prediction {
  const span = spanOf(mm, addr, length);
  if (!span.ok) return span;
  for (const vma of mm.vmasIn(span.value.start, span.value.end)) {
    if (mm.rules.uffdUnregistersOnlyItsOwn && vma.uffd !== null && vma.uffd !== uffd)
      return refuse('EINVAL', 'another userfaultfd watches this memory', vma);
    if (!canUserfault(vma, vma.flags))
      return refuse('EINVAL', 'this memory cannot be watched (vma_can_userfault)', vma);
  }
  return arm(mm, span.value, (vma) => (vma.uffd === null ? undefined : { uffd: null, flags: VM_NONE }));
}

/** The last close of `uffd`: userfaultfd_release. Its memory is watched no more and joins what then fits. */
export function releaseUffd(mm: Mm, uffd: number): void {
  const everything = { start: vpn(0), end: vpn(VPN_END) };
  arm(mm, everything, (vma) => (vma.uffd === uffd ? { uffd: null, flags: VM_NONE } : undefined));
}

function flagsOf(mode: number): VmFlags {
  let flags = VM_NONE;
  if ((mode & MODE_MISSING) !== 0) flags = union(flags, VM_UFFD_MISSING);
  if ((mode & MODE_WP) !== 0) flags = union(flags, VM_UFFD_WP);
  if ((mode & MODE_MINOR) !== 0) flags = union(flags, VM_UFFD_MINOR);
  return flags;
}

/** validate_range, and that there is any VMA at all; holes in between are passed over. */
function spanOf(mm: Mm, addr: U64, length: U64): Result<PageRange, Refusal> {
  if (!pageAligned(addr) || !pageAligned(length) || length === 0)
    return refuse('EINVAL', 'userfaultfd takes whole pages (validate_range)');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pageAlignUp(length));
  if (mm.firstIn(start, end) === undefined) return refuse('EINVAL', 'no memory is mapped there');
  return ok({ start, end });
}

/** vma_can_userfault: anonymous memory, shmem and hugetlb; minor faults need a page cache. */
function canUserfault(vma: Vma, flags: VmFlags): boolean {
  const shmem = vmaIsAnonShmem(vma) || vma.file?.ops === 'hugetlb';
  return hasAny(flags, VM_UFFD_MINOR) ? shmem : shmem || vmaIsAnonymous(vma);
}

/** Gives what `wanted` says to each VMA of the range that it does not pass over (undefined). */
function arm(
  mm: Mm,
  { start, end }: PageRange,
  wanted: (vma: Vma) => { readonly uffd: number | null; readonly flags: VmFlags } | undefined,
): Prediction {
  const walked = visitVmas(mm, start, end, 'pass', (index, from, until) => {
    const vma = vmaAt(mm, index);
    const change = wanted(vma);
    if (change === undefined) return ok(undefined);
    const flags = union(without(vma.flags, VM_UFFD_FLAGS), change.flags);
    return modifyVma(mm, index, from, until, { uffd: change.uffd, flags });
  });
  return walked.ok ? DONE : walked;
}
