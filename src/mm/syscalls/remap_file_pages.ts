import { ok } from '../../base/result';
import { bytesOfVpn, vpnAdd, vpnOf, VPN_END, type U64, type Vpn } from '../addr';
import type { Mm } from '../mm';
import { refuse, type Prediction } from '../refusal';
import { sameFile, type Vma } from '../vma';
import { hasAny, VM_EXEC, VM_LOCKED, VM_READ, VM_SHARED, VM_WRITE } from '../vm_flags';
import {
  MAP_FIXED,
  MAP_LOCKED,
  MAP_NONBLOCK,
  MAP_POPULATE,
  MAP_SHARED,
  PROT_EXEC,
  PROT_READ,
  PROT_WRITE,
  doMmap,
} from './mmap';

export interface RemapFilePagesArgs {
  readonly addr: U64;
  readonly size: U64;
  readonly prot: number;
  readonly pgoff: U64;
  readonly flags: number;
}

/**
 * remap_file_pages: mm/mmap.c. An mmap(MAP_FIXED|MAP_SHARED) of the same file at another offset with the protection that
 * is there. Address and size are rounded down.
 */
export function sysRemapFilePages(mm: Mm, args: RemapFilePagesArgs): Prediction {
  if (args.prot !== 0) return refuse('EINVAL', 'remap_file_pages takes no protection');
  const start = vpnOf(args.addr);
  const pages = vpnOf(args.size);
  if (pages === 0 || start + pages > VPN_END) return refuse('EINVAL', 'the range is empty or wraps around');
  const pgoff = BigInt(args.pgoff);
  if (pgoff + BigInt(pages) >= 1n << 64n) return refuse('EINVAL', 'the offset wraps around');
  const vma = mm.tree.lookup(start);
  if (vma?.file == null || !hasAny(vma.flags, VM_SHARED)) {
    return refuse('EINVAL', 'remap_file_pages needs a shared file mapping', vma ?? null);
  }
  if (!continues(mm, vma, vpnAdd(start, pages))) {
    return refuse('EINVAL', 'the range holds something else than this file with these flags', vma);
  }
  const prot =
    (hasAny(vma.flags, VM_READ) ? PROT_READ : 0) |
    (hasAny(vma.flags, VM_WRITE) ? PROT_WRITE : 0) |
    (hasAny(vma.flags, VM_EXEC) ? PROT_EXEC : 0);
  const locked = hasAny(vma.flags, VM_LOCKED) ? MAP_LOCKED : 0;
  const mapped = doMmap(mm, {
    addr: bytesOfVpn(start),
    length: bytesOfVpn(pages),
    prot,
    flags: MAP_SHARED | MAP_FIXED | MAP_POPULATE | (args.flags & MAP_NONBLOCK) | locked,
    file: vma.file,
    // An offset that has no place in 64 bits is past the end of every file.
    offset: bytesOfVpn(pgoff < VPN_END ? Number(pgoff) : VPN_END - 1),
    placedAt: undefined,
  });
  return mapped.ok ? ok(0) : mapped;
}

/** Is [first.start, end) one file with one set of flags, without holes? */
function continues(mm: Mm, first: Vma, end: Vpn): boolean {
  let at = first.end;
  for (const vma of mm.vmasIn(first.end, end)) {
    if (vma.start !== at || !sameFile(vma.file, first.file) || vma.flags !== first.flags) return false;
    at = vma.end;
  }
  return at >= end;
}
