import { ok, type Result } from '../base/result';
import { bytesOfVpn, offsetInPage, VPN_END, vpn, vpnOf, type U64, type Vpn } from './addr';
import type { Mm } from './mm';
import { refuse, type Refusal } from './refusal';
import { hugePageOf, type VmFile } from './vma';

/**
 * Huge pages set aside by the administrator (hugetlb). The size of its pages belongs to a file ({@link hugePageOf}); memory
 * of it begins, ends and splits at borders of such pages. How many are free, no trace shows.
 */

/** Pages of 4 KiB in the huge pages of x86-64, by the binary logarithm of their bytes. 2 MiB is what no size means. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [0, 512],
  [21, 512],
  [30, 262144],
]);

/** Where the binary logarithm of the page size stands in the flags of mmap, memfd_create and shmget. */
export const HUGE_SHIFT = 26;

/** That logarithm; 0 where none is given. */
export function hugeLogOf(flags: number): number {
  return (flags >>> HUGE_SHIFT) & 63;
}

/** Of MAP_HUGETLB, MFD_HUGETLB and SHM_HUGETLB where no size is given (default_hugepagesz may say otherwise). */
export const DEFAULT_HUGE_PAGE = 512;

/** hstate_sizelog: pages of 4 KiB in a huge page of 2^log bytes (0: the usual ones); undefined where there are none. */
export function hugePageOfLog(mm: Mm, log: number): number | undefined {
  if (!mm.has('hugetlb') || (log === 30 && !mm.has('hugetlb-1g'))) return undefined;
  return SIZES.get(log);
}

/** The file behind an anonymous mapping of huge pages (hugetlb_file_setup): each mapping has one of its own. */
export function hugeFile(mm: Mm, hugePage: number): VmFile {
  return {
    id: mm.system.ids.file++,
    path: '/anon_hugepage',
    deleted: true,
    dev: '00:00',
    inode: '0',
    ops: 'hugetlb',
    writable: true,
    readable: true,
    hugePage,
  };
}

/** Bytes rounded up to whole huge pages, as ALIGN does in 64 bits: past the end it wraps to 0. */
export function hugeAlignUp(bytes: U64, hugePage: number): U64 {
  const pages = vpnOf(bytes) + (offsetInPage(bytes) === 0 ? 0 : 1);
  return bytesOfVpn((Math.ceil(pages / hugePage) * hugePage) % VPN_END);
}

/** Is a byte address (or length, or offset) on a border of the pages of `file`? */
export function hugeAligned(file: VmFile | null, bytes: U64): boolean {
  return offsetInPage(bytes) === 0 && vpnOf(bytes) % hugePageOf(file) === 0;
}

/** hugetlb_get_unmapped_area: where a hint points to once it is brought to a border of the pages of `file`. */
export function hugeHint(mm: Mm, file: VmFile | null, hint: Vpn): Vpn {
  const pages = hint / hugePageOf(file);
  return vpn((mm.rules.hugetlbHintRounds === 'up' ? Math.ceil(pages) : Math.floor(pages)) * hugePageOf(file));
}

/** hugetlbfs_file_mmap, which is asked when what was mapped there is gone already. */
export function checkHugeOffset(file: VmFile | null, offset: U64): Result<void, Refusal> {
  if (hugeAligned(file, offset)) return ok(undefined);
  return refuse('EINVAL', 'the offset is not aligned to the huge pages of the file (hugetlbfs_file_mmap)');
}
