import { ok, type Result } from '../base/result';
import type { Vpn } from './addr';
import { anonVmaPrepare } from './fault';
import { enoughMemory, mayExpandVm, mlockFutureOk } from './limits';
import type { Mm } from './mm';
import { overLimit, refuse, type Refusal } from './refusal';
import { vmaResized, type Vma } from './vma';
import { vmaAt } from './vma_modify';
import { hasAny, VM_ACCESS_FLAGS, VM_GROWSDOWN } from './vm_flags';

/** stack_guard_gap: pages that memory which grows down keeps free below it. */
export const STACK_GUARD_PAGES = 256;

/**
 * A page fault at `page`, as far as it makes memory grow: nothing to do where something is mapped, else the VMA above
 * grows down to it (expand_stack, expand_downwards). A refusal is what the process gets as SIGSEGV. Growth needs no access
 * right, joins nothing, and minds no seal.
 */
export function expandStack(mm: Mm, page: Vpn): Result<void, Refusal> {
  const index = mm.tree.find(page);
  const vma = mm.tree.at(index);
  if (vma === undefined) return refuse('ENOMEM', 'nothing is mapped there or above');
  if (vma.start <= page) return ok(undefined);
  if (!hasAny(vma.flags, VM_GROWSDOWN)) return refuse('ENOMEM', 'the memory above does not grow down', vma);
  const prev = mm.tree.at(index - 1);
  if (prev !== undefined && keepsDistance(prev) && page - prev.end < STACK_GUARD_PAGES)
    return refuse('ENOMEM', 'accessible memory lies within the guard gap (stack_guard_gap)', prev);
  const allowed = acctStackGrowth(mm, vma, page);
  if (!allowed.ok) return allowed;
  growDown(mm, index, page);
  return ok(undefined);
}

/** Memory without access and other memory that grows down may be grown up to. */
function keepsDistance(prev: Vma): boolean {
  return !hasAny(prev.flags, VM_GROWSDOWN) && hasAny(prev.flags, VM_ACCESS_FLAGS);
}

/** acct_stack_growth, and that the page offset does not fall below 0. */
function acctStackGrowth(mm: Mm, vma: Vma, page: Vpn): Result<void, Refusal> {
  const grow = vma.start - page;
  if (grow > vma.pgoff) return refuse('ENOMEM', 'its page offset cannot become negative', vma);
  const expands = mayExpandVm(mm, vma.flags, grow);
  if (!expands.ok) return expands;
  const { stack } = mm.limits;
  if (stack !== undefined && (vma.end - page) * 4096 > stack.cur)
    return overLimit('ENOMEM', 'the stack would exceed RLIMIT_STACK (acct_stack_growth)', vma);
  if (!mlockFutureOk(mm, vma.flags, grow))
    return overLimit('ENOMEM', 'locked memory would exceed RLIMIT_MEMLOCK', vma);
  return enoughMemory(mm, grow);
}

/** The growth itself, whatever allowed it: the VMA at `index` begins at `start` from now on. */
export function growDown(mm: Mm, index: number, start: Vpn): void {
  anonVmaPrepare(mm, index);
  const vma = vmaAt(mm, index);
  mm.replace(index, 1, [vmaResized(vma, start, vma.end)]);
}
