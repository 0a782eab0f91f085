import { ok, type Result } from '../base/result';
import { bytesOfVpn, offsetInPage, VPN_END, vpn, vpnOf, type U64, type Vpn } from './addr';
import type { Mm } from './mm';
import { refuse, type Refusal } from './refusal';
import { hugePageOf, type VmFile } from './vma';

/**
 * Huge pages set aside by the administrator (hugetlb). The size of its pages belongs to a file ({@link hugePageOf}); memory
 * of it begins, ends and splits at borders of such pages. How many are free, no trace shows.
 */

/** Where the binary logarithm of the page size stands in the flags of mmap, memfd_create and shmget. */
export const HUGE_SHIFT = 26;

/** That logarithm; 0 where none is given. */
export function hugeLogOf(flags: number): number {
  return (flags >>> HUGE_SHIFT) & 63;
}

/** Pages of 4 KiB in a huge page: 2 MiB, the size where none is asked for (default_hugepagesz may say otherwise). */
export const DEFAULT_HUGE_PAGE = 512;

/** 1 GiB, which not every processor has. */
export const GIGANTIC_PAGE = 262144;

/** By the binary logarithm of their bytes; 0 where no size is given. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [0, DEFAULT_HUGE_PAGE],
  [21, DEFAULT_HUGE_PAGE],
  [30, GIGANTIC_PAGE],
]);

/** hstate_sizelog: pages of 4 KiB in a huge page of 2^log bytes (0: the usual ones); undefined for no size of x86-64. */
export function hugePageOfLog(log: number): number | undefined {
  return SIZES.get(log);
}

/** The same as far as this kernel and its processor have such pages. */
export function hugePageHere(mm: Mm, log: number): number | undefined {
  const there = mm.has('hugetlb') && (hugePageOfLog(log) !== GIGANTIC_PAGE || mm.has('hugetlb-1g'));
  return there ? hugePageOfLog(log) : undefined;
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
