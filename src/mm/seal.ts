import { ok, type Result } from '../base/result';
import type { Vpn } from './addr';
import * as madv from './advice';
import type { Mm } from './mm';
import { refuse, type Refusal } from './refusal';
import { vmaIsAnonymous, type Vma } from './vma';
import { hasAny, VM_SEALED, VM_SHARED, VM_WRITE } from './vm_flags';

/** Seal checks in both styles: a walk over the range before the work (6.10, 6.11) and a question a VMA (6.12). */

const WALK = 'a sealed VMA lies in the range, and this kernel looks at the whole range first (can_modify_mm)';
const IN_LOOP = 'the VMA is sealed (can_modify_vma)';
const DISCARD =
  'the VMA is sealed and anonymous memory that the caller cannot write, so throwing its pages away is refused';

export function isSealed(vma: Vma): boolean {
  return hasAny(vma.flags, VM_SEALED);
}

/** `can_modify_mm`: with the pre-pass rule, EPERM if any VMA in [start, end) is sealed. */
export function canModifyMm(mm: Mm, start: Vpn, end: Vpn): Result<void, Refusal> {
  if (mm.rules.sealCheck === 'none') return ok(undefined);
  const refused = mm.vmasIn(start, end).find((vma) => {
    mm.system.sealVisits.prePass++;
    return isSealed(vma);
  });
  if (refused !== undefined && mm.rules.sealCheck === 'pre-pass') return refuse('EPERM', WALK, refused);
  return ok(undefined);
}

/** `can_modify_vma`: with the in-loop rule, EPERM if this VMA is sealed. */
export function canModifyVma(mm: Mm, vma: Vma): Result<void, Refusal> {
  if (mm.rules.sealCheck === 'none') return ok(undefined);
  mm.system.sealVisits.inLoop++;
  if (mm.rules.sealCheck === 'in-loop' && isSealed(vma)) return refuse('EPERM', IN_LOOP, vma);
  return ok(undefined);
}

/** `can_modify_mm_madv` of the pre-pass kernels. */
export function canModifyMmMadv(mm: Mm, start: Vpn, end: Vpn, advice: number): Result<void, Refusal> {
  if (mm.rules.sealCheck === 'none' || !isDiscard(mm, advice)) return ok(undefined);
  const refused = mm.vmasIn(start, end).find((vma) => {
    mm.system.sealVisits.prePass++;
    return isSealed(vma) && isProtectedAnonymous(mm, vma);
  });
  if (refused !== undefined && mm.rules.sealCheck === 'pre-pass') return refuse('EPERM', DISCARD, refused);
  return ok(undefined);
}

/** `can_modify_vma_madv` of the in-loop kernels. */
export function canModifyVmaMadv(mm: Mm, vma: Vma, advice: number): Result<void, Refusal> {
  if (mm.rules.sealCheck === 'none' || !isDiscard(mm, advice)) return ok(undefined);
  mm.system.sealVisits.inLoop++;
  if (mm.rules.sealCheck !== 'in-loop') return ok(undefined);
  return isSealed(vma) && isProtectedAnonymous(mm, vma) ? refuse('EPERM', DISCARD, vma) : ok(undefined);
}

const DISCARD_ADVICE: ReadonlySet<number> = new Set([
  madv.MADV_DONTNEED,
  madv.MADV_FREE,
  madv.MADV_DONTNEED_LOCKED,
  madv.MADV_REMOVE,
  madv.MADV_DONTFORK,
  madv.MADV_WIPEONFORK,
]);

function isDiscard(mm: Mm, advice: number): boolean {
  // 6.10.0 to 6.10.6 masked the advice with the union of all discard values: any low bit was enough.
  if (mm.rules.sealDiscardTest === 'bit-mask') return (advice & 31) !== 0;
  return DISCARD_ADVICE.has(advice) || (advice === madv.MADV_GUARD_INSTALL && mm.rules.guardRegions);
}

/** Memory whose pages would come back as zeros although its owner cannot write it. */
function isProtectedAnonymous(mm: Mm, vma: Vma): boolean {
  if (hasAny(vma.flags, VM_WRITE)) return false;
  if (mm.rules.sealProtectsDevZero) return vmaIsAnonymous(vma);
  return vma.file === null && !hasAny(vma.flags, VM_SHARED);
}
