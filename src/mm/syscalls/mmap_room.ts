import { err, ok, type Result } from '../../base/result';
import type { Vpn } from '../addr';
import { accountable, enoughMemory, mayExpandVm, pagesIn } from '../limits';
import type { Mm } from '../mm';
import type { Refusal } from '../refusal';
import type { VmFile } from '../vma';
import { hasAny, VM_ACCOUNT, VM_MAYSHARE, VM_NONE, VM_NORESERVE, VM_SHARED, type VmFlags } from '../vm_flags';
import { gatherRange } from './munmap';

/**
 * mmap_region before the mapping itself: the limits, the memory that is charged, and what lies there goes. Until 6.11
 * that is gone when there is not enough memory; since 6.12 the borders drawn for it stay when any of this refuses.
 */
export function makeRoom(mm: Mm, start: Vpn, end: Vpn, flags: VmFlags): Result<void, Refusal> {
  const pages = end - start;
  const early = mm.rules.fixedUnmapsFirst;
  const allowed = mayExpandVm(mm, flags, pages - pagesIn(mm, start, end, VM_NONE));
  const charged = accountable(flags) ? pages - (early ? 0 : pagesIn(mm, start, end, VM_ACCOUNT)) : 0;
  if (early && !allowed.ok) return allowed;
  const gathered = gatherRange(mm, start, end);
  if (!gathered.ok) return err(reportUnmap(mm, gathered.error));
  if (!allowed.ok) return allowed;
  const enough = charged > 0 ? enoughMemory(mm, charged) : ok(undefined);
  if (enough.ok || early) mm.replace(gathered.value.from, gathered.value.count, []);
  return enough;
}

/** The same where nothing lies yet, wherever that will be. */
export function mayMapNew(mm: Mm, flags: VmFlags, pages: number): Result<void, Refusal> {
  const allowed = mayExpandVm(mm, flags, pages);
  if (!allowed.ok) return allowed;
  return accountable(flags) ? enoughMemory(mm, pages) : ok(undefined);
}

/** shmem_acct_size: the file behind shared anonymous memory is charged when what was there is gone already. */
export function shmemEnough(mm: Mm, flags: VmFlags, pages: number): Result<void, Refusal> {
  if (!hasAny(flags, VM_SHARED) || hasAny(flags, VM_NORESERVE)) return ok(undefined);
  return enoughMemory(mm, pages);
}

/** What mmap says where unmapping is refused. */
function reportUnmap(mm: Mm, refusal: Refusal): Refusal {
  const style = mm.rules.fixedUnmapErrno;
  const real = style === 'real' || (style === 'EPERM-or-ENOMEM' && refusal.errno === 'EPERM');
  return real ? refusal : { ...refusal, errno: 'ENOMEM' };
}

/**
 * The hidden shmem file behind MAP_SHARED|MAP_ANONYMOUS and a shared map of /dev/zero (shmem_zero_setup). It is as long as
 * the mapping, whatever the offset. A shared map of /dev/zero that was opened for reading only lacks VM_SHARED: up to
 * 6.18 it is anonymous memory, as a private one is (mmap_zero).
 */
export function sharedZeroFile(
  mm: Mm,
  anonymous: boolean,
  flags: VmFlags,
  file: VmFile | null,
  pages: number,
): VmFile | null {
  const shared = mm.rules.readOnlySharedZero === 'shmem' ? VM_MAYSHARE : VM_SHARED;
  if (!hasAny(flags, shared) || !(anonymous || file?.ops === 'dev-zero')) return null;
  const id = mm.system.ids.file++;
  return {
    id,
    path: '/dev/zero',
    deleted: true,
    dev: '00:01',
    inode: '0',
    ops: 'anon-shmem',
    writable: true,
    pages,
  };
}
