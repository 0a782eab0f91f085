import { ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpn, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import { populate } from '../fault';
import { enoughMemory, mayExpandVm } from '../limits';
import type { Mm } from '../mm';
import { pkeyAfterMprotect, pkeyFlags, pkeyIsAllocated } from '../pkeys';
import { DONE, refuse, type Prediction, type Refusal } from '../refusal';
import { canModifyMm, canModifyVma } from '../seal';
import { untouchedOf, vmaIsAnonymous, type Vma } from '../vma';
import { modifyVma, vmaAt } from '../vma_modify';
import {
  hasAll,
  hasAny,
  intersect,
  union,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_ACCOUNT,
  VM_EXEC,
  VM_GROWSDOWN,
  VM_HUGETLB,
  VM_LOCKED,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYWRITE,
  VM_NONE,
  VM_NORESERVE,
  VM_PKEY_MASK,
  VM_READ,
  VM_SHARED,
  VM_WRITE,
  without,
  type VmFlags,
} from '../vm_flags';
import { PROT_EXEC, protFlags } from './mmap';

const PROT_KNOWN = 0xf;
const PROT_GROWSDOWN = 0x01000000;
const PROT_GROWSUP = 0x02000000;

/** mprotect and pkey_mprotect (`pkey` -1 for the former): do_mprotect_pkey in mm/mprotect.c. */
export function sysMprotect(mm: Mm, addr: U64, length: U64, prot: number, pkey = -1): Prediction {
  const grows = prot & (PROT_GROWSDOWN | PROT_GROWSUP);
  if (grows === (PROT_GROWSDOWN | PROT_GROWSUP))
    return refuse('EINVAL', 'PROT_GROWSDOWN and PROT_GROWSUP exclude each other');
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  if (length === 0) return DONE;
  const pages = pageAlignUp(length);
  const end = vpnAdd(vpnOf(addr), pages);
  if (pages === 0 || end >= VPN_END) return refuse('ENOMEM', 'the range wraps around');
  if ((prot & ~(PROT_KNOWN | grows)) !== 0) return refuse('EINVAL', 'unknown protection bits');
  if (pkey !== -1) {
    const allocated = pkeyIsAllocated(mm, pkey);
    if (allocated === false) return refuse('EINVAL', 'this protection key is not allocated');
    if (allocated === undefined) mm.noteDecides('pkey');
  }

  const first = firstVma(mm, vpnOf(addr), end, grows);
  if (!first.ok) return first;
  const walked = canModifyMm(mm, first.value, end);
  if (!walked.ok) return walked;
  return protectRange(mm, first.value, end, prot & ~grows, pkey);
}

/**
 * Where the change starts: with PROT_GROWSDOWN at the start of the first VMA in the range, which may lie behind a gap or
 * begin before the range.
 */
function firstVma(mm: Mm, start: Vpn, end: Vpn, grows: number): Result<Vpn, Refusal> {
  const vma = mm.firstIn(start, end);
  if (vma === undefined) return refuse('ENOMEM', 'nothing is mapped at the start of the range');
  if ((grows & PROT_GROWSDOWN) !== 0) {
    if (!hasAny(vma.flags, VM_GROWSDOWN))
      return refuse('EINVAL', 'PROT_GROWSDOWN on memory that does not grow down', vma);
    return ok(vma.start);
  }
  if (vma.start > start) return refuse('ENOMEM', 'nothing is mapped at the start of the range');
  if ((grows & PROT_GROWSUP) !== 0) return refuse('EINVAL', 'no memory grows up on this architecture', vma);
  return ok(start);
}

/** VMA after VMA: an error leaves those before it changed. */
function protectRange(mm: Mm, from: Vpn, end: Vpn, prot: number, pkey: number): Prediction {
  let start = from;
  while (start < end) {
    const index = mm.tree.find(start);
    const vma = mm.tree.at(index);
    if (vma === undefined || vma.start > start) {
      return refuse('ENOMEM', 'the range runs into a hole; what lies before it was changed');
    }
    const until = vpn(Math.min(vma.end, end));
    const flags = newFlags(mm, vma, prot, pkey);
    if (!flags.ok) return flags;
    const fixed = protectVma(mm, index, start, until, flags.value);
    if (!fixed.ok) return fixed;
    start = until;
  }
  return DONE;
}

/** The VMA's flags with the new access bits, if its VM_MAY* bits allow them. */
function newFlags(mm: Mm, vma: Vma, prot: number, pkey: number): Result<VmFlags, Refusal> {
  const access = protFlags(prot);
  // Also a call that is refused next may have allocated the execute-only key.
  const key = pkeyAfterMprotect(mm, vma.flags, prot === PROT_EXEC, pkey);
  const may = unionOf(
    hasAny(vma.flags, VM_MAYREAD) ? VM_READ : VM_NONE,
    hasAny(vma.flags, VM_MAYWRITE) ? VM_WRITE : VM_NONE,
    hasAny(vma.flags, VM_MAYEXEC) ? VM_EXEC : VM_NONE,
  );
  if (!hasAll(may, access)) {
    return refuse(
      'EACCES',
      'the mapping may not be made so (a shared file that is not open for writing, or a noexec file)',
      vma,
    );
  }
  if (
    mm.scalars.mdwe &&
    hasAny(access, VM_EXEC) &&
    (hasAny(access, VM_WRITE) || !hasAny(vma.flags, VM_EXEC))
  ) {
    return refuse('EACCES', 'PR_SET_MDWE forbids making memory executable', vma);
  }
  return ok(unionOf(without(vma.flags, unionOf(VM_ACCESS_FLAGS, VM_PKEY_MASK)), access, pkeyFlags(key)));
}

/** mprotect_fixup */
function protectVma(mm: Mm, index: number, start: Vpn, end: Vpn, wanted: VmFlags): Result<void, Refusal> {
  const vma = vmaAt(mm, index);
  const old = vma.flags;
  // Refused also where nothing would change.
  const allowed = canModifyVma(mm, vma);
  if (!allowed.ok) return allowed;
  if (wanted === old) return ok(undefined);
  let flags = wanted;
  if (hasAny(flags, VM_WRITE)) {
    // Only what newly exceeds a limit is refused.
    const expands = mayExpandVm(mm, flags, end - start);
    if (!expands.ok && mayExpandVm(mm, old, end - start).ok) return expands;
    if (!hasAny(old, unionOf(VM_ACCOUNT, VM_WRITE, VM_HUGETLB, VM_SHARED, VM_NORESERVE))) {
      const enough = enoughMemory(mm, end - start);
      if (!enough.ok) return enough;
      flags = union(flags, VM_ACCOUNT);
    }
  } else if (mm.rules.accountDropped && hasAny(old, VM_ACCOUNT) && vmaIsAnonymous(vma) && vma.anonVma === 0) {
    flags = without(flags, VM_ACCOUNT);
    if (untouchedOf(vma) !== 'sure') mm.noteDecides('access');
  }
  const modified = modifyVma(mm, index, start, end, { flags, untouched: untouchedOf(vma) });
  if (!modified.ok) return modified;
  // Locked private memory that becomes writable gets its own pages at once.
  if (intersect(old, unionOf(VM_WRITE, VM_SHARED, VM_LOCKED)) === VM_LOCKED && hasAny(flags, VM_WRITE)) {
    populate(mm, start, end, 'mmap');
  }
  return ok(undefined);
}
