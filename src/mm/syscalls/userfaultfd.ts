import { ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpn, vpnAdd, vpnOf, type U64 } from '../addr';
import { anonVmaPrepare } from '../fault';
import { inTaskSize, type Mm, type UserfaultfdCtx } from '../mm';
import type { PageRange } from '../page_ranges';
import { DONE, refuse, type Prediction, type Refusal } from '../refusal';
import { watchedByOther } from '../userfaultfd_ctx';
import { hugePageOf, vmaIsAnonymous, vmaIsAnonShmem, type Vma } from '../vma';
import { modifyVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import {
  hasAll,
  hasAny,
  union,
  unionOf,
  VM_DROPPABLE,
  VM_HUGETLB,
  VM_MAYWRITE,
  VM_NONE,
  VM_SHARED,
  VM_SPECIAL,
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

/**
 * UFFDIO_REGISTER: userfaultfd_register on the memory of the context, not of the caller. The whole range is checked before
 * any change.
 */
export function sysUffdRegister(ctx: UserfaultfdCtx, addr: U64, length: U64, mode: number): Prediction {
  const { mm } = ctx;
  if (ctx.initialized === false) return notInitialized();
  if (mode === 0 || (mode & ~(MODE_MISSING | MODE_WP | MODE_MINOR)) !== 0)
    return refuse('EINVAL', 'userfaultfd needs a mode and knows no other than missing, wp and minor');
  if ((mode & MODE_WP) !== 0 && ctx.offers?.wp === false)
    return refuse('EINVAL', 'this kernel cannot write-protect through userfaultfd, as UFFDIO_API said');
  const flags = flagsOf(mode);
  const span = spanOf(mm, addr, length);
  if (!span.ok) return span;
  for (const vma of mm.vmasIn(span.value.start, span.value.end)) {
    if (!canUserfault(ctx, vma, flags))
      return refuse('EINVAL', 'this memory cannot be watched in that mode (vma_can_userfault)', vma);
    if (!hasAny(vma.flags, VM_MAYWRITE))
      return refuse('EPERM', 'memory that can never be written cannot be watched', vma);
    const huge = hugePageOf(vma.file);
    if (span.value.end <= vma.end && span.value.end % huge !== 0)
      return refuse('EINVAL', 'the end is not aligned to the huge pages there', vma);
    if (watchedByOther(vma, ctx)) return refuse('EBUSY', 'another userfaultfd watches this memory', vma);
  }
  return arm(mm, span.value, (vma) =>
    vma.uffd === ctx.id && hasAll(vma.flags, flags) ? undefined : { uffd: ctx.id, flags },
  );
}

/** UFFDIO_UNREGISTER: userfaultfd_unregister. */
export function sysUffdUnregister(ctx: UserfaultfdCtx, addr: U64, length: U64): Prediction {
  const { mm } = ctx;
  if (ctx.initialized === false) return notInitialized();
  const span = spanOf(mm, addr, length);
  if (!span.ok) return span;
  for (const vma of mm.vmasIn(span.value.start, span.value.end)) {
    if (mm.rules.uffdUnregistersOnlyItsOwn && watchedByOther(vma, ctx))
      return refuse('EINVAL', 'another userfaultfd watches this memory', vma);
    if (!canUserfault(ctx, vma, vma.flags))
      return refuse('EINVAL', 'this memory cannot be watched (vma_can_userfault)', vma);
  }
  return arm(mm, span.value, (vma) => (vma.uffd === null ? undefined : { uffd: null, flags: VM_NONE }));
}

/**
 * UFFDIO_COPY, _ZEROPAGE or _CONTINUE put pages into [addr, addr + length): private memory there has an anon_vma from now
 * on (uffd_mfill_lock), even if a page was there already (EEXIST).
 */
export function uffdFilled({ mm }: UserfaultfdCtx, addr: U64): void {
  const index = mm.tree.find(vpnOf(addr));
  const vma = mm.tree.at(index);
  if (vma !== undefined && vma.start <= vpnOf(addr) && !hasAny(vma.flags, VM_SHARED))
    anonVmaPrepare(mm, index);
}

/** The last close of a userfaultfd: userfaultfd_release. Its memory is watched no more and joins what then fits. */
export function releaseUffd({ mm, id }: UserfaultfdCtx): void {
  const everything = { start: vpn(0), end: vpn(VPN_END) };
  arm(mm, everything, (vma) => (vma.uffd === id ? { uffd: null, flags: VM_NONE } : undefined));
}

function notInitialized(): Prediction {
  return refuse('EINVAL', 'UFFDIO_API comes first (userfaultfd_is_initialized)');
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
  const pages = pageAlignUp(length);
  if (!inTaskSize(start, pages)) return refuse('EINVAL', 'the range leaves the address space');
  const end = vpnAdd(start, pages);
  if (mm.dead) return refuse('ENOMEM', 'the process whose memory this userfaultfd watches has ended');
  const first = mm.firstIn(start, end);
  if (first === undefined) return refuse('EINVAL', 'no memory is mapped there');
  if (start % hugePageOf(first.file) !== 0)
    return refuse('EINVAL', 'the start is not aligned to the huge pages there', first);
  return ok({ start, end });
}

/**
 * vma_can_userfault: anonymous memory, shmem and hugetlb; minor faults need a page cache. A file with a path may be on tmpfs,
 * which is shmem: no trace tells.
 */
function canUserfault({ mm, features, offers }: UserfaultfdCtx, vma: Vma, flags: VmFlags): boolean {
  if (hasAny(vma.flags, VM_DROPPABLE) && !mm.rules.uffdWatchesDroppable) return false;
  if (vma.special !== null || (!hasAny(vma.flags, VM_HUGETLB) && hasAny(vma.flags, VM_SPECIAL))) return false;
  const wp = hasAny(flags, VM_UFFD_WP);
  if (features.wpAsync && wp && !hasAny(flags, unionOf(VM_UFFD_MISSING, VM_UFFD_MINOR))) return true;
  if (vmaIsAnonymous(vma)) return !hasAny(flags, VM_UFFD_MINOR);
  if (wp && offers?.wpShmem === false) return false;
  if (hasAny(flags, VM_UFFD_MINOR) && offers?.minorShmem === false) return false;
  if (vma.file?.ops === 'file') mm.noteDecides('filesystem');
  return vma.file?.ops === 'file' || hasAny(vma.flags, VM_HUGETLB) || vmaIsAnonShmem(vma);
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
