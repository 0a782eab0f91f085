import { offsetInPage, pageAlignUp, vpn, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import type { Mm } from '../mm';
import { DONE, refuse, type Prediction } from '../refusal';
import { sameFile, type Vma, type VmFile } from '../vma';
import { MAP_FIXED, MAP_SHARED, PROT_EXEC, PROT_READ, PROT_WRITE, doMmap } from './mmap';
import { unmapRange } from './munmap';

export const SHM_RDONLY = 0x1000;
const SHM_RND = 0x2000;
const SHM_REMAP = 0x4000;
const SHM_EXEC = 0x8000;

export interface ShmatArgs {
  readonly id: number;
  readonly addr: U64;
  readonly flags: number;
  /** The open file that this attach makes for itself, and the bytes of its segment. */
  readonly file: VmFile;
  readonly size: U64;
  /** Where the record says that the kernel put it. */
  readonly placedAt: U64 | undefined;
}

/** shmat: do_shmat in ipc/shm.c. Maps the whole segment. */
export function sysShmat(mm: Mm, { id, addr, flags, file, size, placedAt }: ShmatArgs): Prediction {
  if (id < 0) return refuse('EINVAL', 'no segment has a negative id');
  const rounds = (flags & SHM_RND) !== 0;
  const remap = (flags & SHM_REMAP) !== 0;
  const start = vpnOf(addr);
  if (addr !== 0 && offsetInPage(addr) !== 0 && !rounds) {
    return refuse('EINVAL', 'the address is not page aligned and SHM_RND is not set');
  }
  if (start === 0 && remap) return refuse('EINVAL', 'SHM_REMAP needs an address');
  const fixed = addr !== 0;
  const end = vpnAdd(start, pageAlignUp(size));
  const there = fixed && !remap ? mm.firstIn(start, end) : undefined;
  if (there !== undefined)
    return refuse('EINVAL', 'something is mapped there and SHM_REMAP is not set', there);
  const prot =
    PROT_READ | ((flags & SHM_RDONLY) !== 0 ? 0 : PROT_WRITE) | ((flags & SHM_EXEC) !== 0 ? PROT_EXEC : 0);
  return doMmap(mm, {
    addr: fixed ? start * 4096 : 0,
    length: size,
    prot,
    flags: MAP_SHARED | (fixed ? MAP_FIXED : 0),
    file,
    offset: 0,
    placedAt,
  });
}

/**
 * shmdt: ksys_shmdt. The first VMA at or behind the address that could be a piece of a segment attached there names the
 * segment; its other pieces, as far as the segment reaches, go too. What a seal keeps is passed over in silence.
 */
export function sysShmdt(mm: Mm, addr: U64): Prediction {
  if (offsetInPage(addr) !== 0) return refuse('EINVAL', 'the address is not page aligned');
  const at = vpnOf(addr);
  const piece = (vma: Vma): boolean => vma.file?.ops === 'sysv' && vma.start - at === vma.pgoff;
  const behind = mm.vmasIn(at, LAST);
  const first = behind.find(piece);
  if (first === undefined) return refuse('EINVAL', 'no SysV segment is attached there');
  unmapRange(mm, first.start, first.end);
  const pages = first.file?.pages ?? Infinity;
  for (const vma of behind.slice(behind.indexOf(first) + 1)) {
    if (vma.end - at > pages) break;
    if (piece(vma) && sameFile(vma.file, first.file)) unmapRange(mm, vma.start, vma.end);
  }
  return DONE;
}

/** Behind every address of a process. */
const LAST: Vpn = vpn(2 ** 52);

/** The file of one attach; the path shows the segment's key. */
export function segmentFile(file: VmFile, size: U64, readOnly: boolean): VmFile {
  return { ...file, writable: !readOnly, readable: true, pages: pageAlignUp(size) };
}
