import { ok, type Result } from '../base/result';
import { TASK_SIZE_PAGES, vpn, type Vpn } from './addr';
import type { Mm } from './mm';
import type { Rlimit } from './process_limits';
import { overLimit, type Refusal } from './refusal';
import { vmaPages } from './vma';
import {
  hasAll,
  hasAny,
  intersect,
  unionOf,
  VM_GROWSDOWN,
  VM_HUGETLB,
  VM_LOCKED,
  VM_NONE,
  VM_NORESERVE,
  VM_SHARED,
  VM_WRITE,
  type VmFlags,
} from './vm_flags';

/**
 * Resource limits and what the kernel counts against them. A limit that nothing has shown refuses nothing, and counts
 * are of the memory that is known: what is not known can only add to them, so that no refusal is predicted wrongly.
 */

function pagesOf(limit: Rlimit | undefined): number {
  return limit === undefined ? Infinity : Math.floor(limit.cur / 4096);
}

/** mm->total_vm, as far as the address space is known. The page of [vsyscall] is no VMA. */
function totalVm(mm: Mm): number {
  return pagesIn(mm, vpn(0), vpn(TASK_SIZE_PAGES), VM_NONE);
}

/** Mapped pages in [start, end) that have all of `flags`. */
export function pagesIn(mm: Mm, start: Vpn, end: Vpn, flags: VmFlags): number {
  return mm
    .vmasIn(start, end)
    .filter((vma) => hasAll(vma.flags, flags))
    .reduce((sum, vma) => sum + Math.min(vma.end, end) - Math.max(vma.start, start), 0);
}

/** is_data_mapping: private, writable, no stack. */
function isData(flags: VmFlags): boolean {
  return intersect(flags, unionOf(VM_WRITE, VM_SHARED, VM_GROWSDOWN)) === VM_WRITE;
}

/** mm->data_vm */
function dataVm(mm: Mm): number {
  return mm.tree.all().reduce((sum, vma) => (isData(vma.flags) ? sum + vmaPages(vma) : sum), 0);
}

/** mm->locked_vm */
function lockedVm(mm: Mm): number {
  return pagesIn(mm, vpn(0), vpn(TASK_SIZE_PAGES), VM_LOCKED);
}

/** may_expand_vm: may `pages` more with these flags be mapped under RLIMIT_AS and RLIMIT_DATA? */
export function mayExpandVm(mm: Mm, flags: VmFlags, pages: number): Result<void, Refusal> {
  const { as, data } = mm.limits;
  const most = pagesOf(as);
  if (most !== Infinity && totalVm(mm) + pages > most)
    return overLimit('ENOMEM', 'the address space would exceed RLIMIT_AS (may_expand_vm)');
  if (data === undefined || data.cur === Infinity || !isData(flags)) return ok(undefined);
  const wanted = dataVm(mm) + pages;
  if (wanted <= pagesOf(data)) return ok(undefined);
  // A soft limit of 0 is passed over as long as the hard one holds: what valgrind sets.
  if (data.cur === 0 && wanted <= Math.floor(data.max / 4096)) return ok(undefined);
  return overLimit('ENOMEM', 'private writable memory would exceed RLIMIT_DATA (may_expand_vm)');
}

/** Is the process free of RLIMIT_MEMLOCK? Notes where that is not known and the answer decides. */
function freeOfMemlock(mm: Mm): boolean {
  if (mm.limits.ipcLock === undefined) mm.noteDecides('capability');
  return mm.limits.ipcLock !== false;
}

/** can_do_mlock */
export function canDoMlock(mm: Mm): Result<void, Refusal> {
  return mm.limits.memlock?.cur !== 0 || freeOfMemlock(mm)
    ? ok(undefined)
    : overLimit('EPERM', 'RLIMIT_MEMLOCK is 0 and the process lacks CAP_IPC_LOCK (can_do_mlock)');
}

/** mlock_future_ok: memory that is locked from the beginning. The errno is the caller's. */
export function mlockFutureOk(mm: Mm, flags: VmFlags, pages: number): boolean {
  const limit = pagesOf(mm.limits.memlock);
  if (limit === Infinity || !hasAny(flags, VM_LOCKED)) return true;
  return lockedVm(mm) + pages <= limit || freeOfMemlock(mm);
}

/** do_mlock: memory of the range that is locked already does not count twice. */
export function mayLock(mm: Mm, pages: number, lockedInRange: number): boolean {
  const limit = pagesOf(mm.limits.memlock);
  if (limit === Infinity) return true;
  return lockedVm(mm) + pages - lockedInRange <= limit || freeOfMemlock(mm);
}

/** mlockall(MCL_CURRENT): the whole address space counts. */
export function mayLockAll(mm: Mm): boolean {
  const limit = pagesOf(mm.limits.memlock);
  return limit === Infinity || totalVm(mm) <= limit || freeOfMemlock(mm);
}

/** accountable_mapping: memory that is charged against what there is. */
export function accountable(flags: VmFlags): boolean {
  return intersect(flags, unionOf(VM_NORESERVE, VM_SHARED, VM_WRITE, VM_HUGETLB)) === VM_WRITE;
}

/**
 * __vm_enough_memory for one request. Without overcommit (mode 2) what others use decides, which no trace shows; with
 * heuristics only a request of more than all memory and swap is refused.
 */
export function enoughMemory(mm: Mm, pages: number): Result<void, Refusal> {
  const { overcommit, commitPages } = mm.system;
  if (overcommit !== 'guess' || commitPages === undefined || pages <= commitPages) return ok(undefined);
  return overLimit('ENOMEM', 'the request alone exceeds memory and swap (vm.overcommit_memory is 0)');
}
