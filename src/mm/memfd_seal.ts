import { ok, type Result } from '../base/result';
import type { Mm } from './mm';
import { refuse, type Refusal } from './refusal';
import type { VmFile } from './vma';
import { hasAll, unionOf, VM_SHARED, VM_WRITE, type VmFlags } from './vm_flags';

/** Seals of memfds, fcntl(F_ADD_SEALS), as far as they concern memory: mm/memfd.c. */

const F_SEAL_WRITE = 8;
const F_SEAL_FUTURE_WRITE = 16;

/** The bits of F_ADD_SEALS, as strace prints them, that forbid writing. */
export function writeSealBits(text: string): number {
  const names = text.split('|');
  const future = names.includes('F_SEAL_FUTURE_WRITE') ? F_SEAL_FUTURE_WRITE : 0;
  return (names.includes('F_SEAL_WRITE') ? F_SEAL_WRITE : 0) | future;
}

/** The seals of a file that forbid new shared writable maps; 0 without. */
export function writeSeals(mm: Mm, file: VmFile | null): number {
  return file === null ? 0 : (mm.system.memfdSeals.get(file.id) ?? 0);
}

/** memfd_check_seals_mmap; older kernels ask in the driver, when room has been made already. */
export function checkWriteSeal(
  mm: Mm,
  file: VmFile | null,
  flags: VmFlags,
  when: 'early' | 'late',
): Result<void, Refusal> {
  const seals = writeSeals(mm, file);
  if (seals === 0 || !hasAll(flags, unionOf(VM_SHARED, VM_WRITE))) return ok(undefined);
  const rule = mm.rules.memfdSealCheck;
  const early = rule === 'early' || (rule === 'write-early' && (seals & F_SEAL_WRITE) !== 0);
  if (early !== (when === 'early')) return ok(undefined);
  return refuse(
    'EPERM',
    'a seal of the memfd (F_SEAL_WRITE, F_SEAL_FUTURE_WRITE) forbids shared writable maps',
  );
}
