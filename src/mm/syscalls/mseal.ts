import { ok } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import type { Mm } from '../mm';
import { DONE, refuse, type Prediction } from '../refusal';
import { isSealed } from '../seal';
import { modifyVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import { union, VM_SEALED } from '../vm_flags';

/** mseal(addr, length, flags): do_mseal in mm/mseal.c. */
export function sysMseal(mm: Mm, addr: U64, length: U64, flags: U64): Prediction {
  if (mm.rules.sealCheck === 'none') return refuse('ENOSYS', 'this kernel has no mseal');
  if (flags !== 0) return refuse('EINVAL', 'mseal takes no flags');
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  const pages = pageAlignUp(length);
  if (length !== 0 && pages === 0) return refuse('EINVAL', 'the length wraps around');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pages);
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  if (pages === 0) return DONE;
  if (!coversRange(mm, start, end))
    return refuse('ENOMEM', 'part of the range is not mapped; nothing was sealed');
  return sealRange(mm, start, end);
}

/** check_mm_seal: is every page of [start, end) mapped? */
export function coversRange(mm: Mm, start: Vpn, end: Vpn): boolean {
  let at: number = start;
  for (const vma of mm.vmasIn(start, end)) {
    if (vma.start > at) return false;
    at = vma.end;
  }
  return at >= end;
}

/** apply_mm_seal: a refused split leaves what was sealed before it. */
function sealRange(mm: Mm, start: Vpn, end: Vpn): Prediction {
  const walked = visitVmas(mm, start, end, 'pass', (index, from, until) => {
    const vma = vmaAt(mm, index);
    if (isSealed(vma)) return ok(undefined);
    return modifyVma(mm, index, from, until, { flags: union(vma.flags, VM_SEALED) });
  });
  return walked.ok ? DONE : walked;
}
