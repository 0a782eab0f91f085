import type { Mm } from '../mm/mm';
import type { Prediction } from '../mm/refusal';
import { MAP_ANONYMOUS, PROT_EXEC } from '../mm/syscalls/mmap';
import { coversRange } from '../mm/syscalls/mseal';
import { sameFile, untouchedOf } from '../mm/vma';
import type { Syscall, SyscallEvent } from '../trace/event';
import { touchedRange, workRange } from './call_ranges';
import type { Mismatch } from './replay_types';
import { onHugePages } from './settle';

/**
 * Why prediction and record differ. A reason is given only where the trace itself shows that something is missing which
 * could make the difference; all else is unexplained, and may be an error of ours.
 */

/** What a driver's own mmap or mprotect, a file system, or a security module answers. */
const DRIVER_ERRORS: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EINVAL',
  'ENODEV',
  'ENXIO',
  'EOPNOTSUPP',
  'ETXTBSY',
  'EBADF',
  'EIO',
]);

const DRIVER_CALLS: ReadonlySet<string> = new Set(['mprotect', 'pkey_mprotect', 'madvise', 'mremap']);

/**
 * The reason for a result that the rules do not predict.
 * @param others asks whether calls of other threads on the same memory stand close to this one in the trace
 */
export function reasonFor(
  mm: Mm,
  { call }: Pick<SyscallEvent, 'call'>,
  prediction: Prediction | undefined,
  recorded: string,
  others: () => boolean,
): Mismatch {
  const predicted = prediction?.ok === false ? prediction.error : undefined;
  const refused = /^E[A-Z0-9]+$/.test(recorded);
  // A new mapping asks the memory that it replaces for seals only.
  const asksMemory = call.name !== 'mmap' || recorded === 'EPERM';
  if (!mm.scalars.complete && asksMemory && hasGap(mm, call)) {
    const text = `the record says ${recorded}: the call concerns memory that the trace does not show`;
    return { code: 'unseen-memory', text };
  }
  if (others()) {
    const text = `the record says ${recorded}: calls of other threads on the same memory stand close to this one, and the order of lines need not be the order in which the kernel acted`;
    return { code: 'order', text };
  }
  if (call.name === 'mremap' && dependsOnFaults(mm, call, refused ? recorded : predicted?.errno)) {
    const text = `the record says ${recorded}: where one mapping ends and the next begins depends on which memory had been written to, which the trace does not show`;
    return { code: 'unseen-fault', text };
  }
  if (predicted === undefined && (recorded === 'ENOMEM' || recorded === 'EAGAIN')) {
    const text = `${recorded}: a limit that the trace does not show (RLIMIT_*, vm.max_map_count, memory, free huge pages)`;
    return { code: 'limit-unknown', text };
  }
  if (!refused && predicted?.limit === true) {
    const text = `the rules predict ${predicted.errno}, by a limit that was another one: ${predicted.why}`;
    return { code: 'limit-unknown', text };
  }
  if (call.name === 'madvise' && recorded === 'EFAULT' && predicted === undefined && onHugePages(mm, call)) {
    const text = 'EFAULT: no huge page was free; how many there are, the trace does not show';
    return { code: 'limit-unknown', text };
  }
  if (call.name === 'mbind' && (recorded === 'EINVAL' || recorded === 'EIO' || recorded === 'EPERM')) {
    const text = `${recorded}: which memory nodes there are, where pages lie and what the process may do is not shown`;
    return { code: 'limit-unknown', text };
  }
  if (recorded === 'ENOSYS') {
    const text = 'ENOSYS: the kernel is without this call, or a seccomp filter refuses it';
    return { code: 'driver-or-lsm', text };
  }
  if (refused && DRIVER_ERRORS.has(recorded) && asksOthers(mm, call)) {
    const text = `${recorded}: a driver, a file system or a security module refuses what the kernel's memory code allows`;
    return { code: 'driver-or-lsm', text };
  }
  const words =
    predicted === undefined
      ? 'the rules predict success; nothing was changed'
      : `the rules predict ${predicted.errno}: ${predicted.why}`;
  return { code: 'unexplained', text: `the record says ${recorded}, ${words}` };
}

function hasGap(mm: Mm, call: Syscall): boolean {
  const range = workRange(call);
  return range !== undefined && !coversRange(mm, range.start, range.end);
}

/** mremap wants one VMA (EFAULT): is it open whether the memory there is one? */
function dependsOnFaults(mm: Mm, call: Syscall, errno: string | undefined): boolean {
  const range = errno === 'EFAULT' ? touchedRange(call) : undefined;
  if (range === undefined) return false;
  const vmas = mm.vmasIn(range.start, range.end);
  const [first] = vmas;
  if (first === undefined) return false;
  const alike = vmas.every(
    (vma) => vma.flags === first.flags && sameFile(vma.file, first.file) && vma.name === first.name,
  );
  return alike && vmas.some((vma) => untouchedOf(vma) !== 'sure');
}

/** Does the kernel ask a driver, a file system or a security module about this call? */
function asksOthers(mm: Mm, call: Syscall): boolean {
  if (call.name === 'mmap' && (call.flags & MAP_ANONYMOUS) === 0) return true;
  if (call.name === 'mmap' || call.name === 'mprotect' || call.name === 'pkey_mprotect') {
    if ((call.prot & PROT_EXEC) !== 0) return true;
  }
  // Of what works on memory that is there, mprotect, madvise and mremap ask the driver.
  const range = DRIVER_CALLS.has(call.name) ? touchedRange(call) : undefined;
  if (range === undefined) return false;
  return mm.vmasIn(range.start, range.end).some((vma) => vma.file?.ops === 'file' || vma.special !== null);
}
