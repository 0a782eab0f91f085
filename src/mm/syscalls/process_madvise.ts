import { err, ok, type Result } from '../../base/result';
import { TASK_SIZE_PAGES, type U64 } from '../addr';
import * as madv from '../advice';
import type { Mm } from '../mm';
import { refuse, type Prediction, type Refusal } from '../refusal';
import { sysMadvise } from './madvise';

export interface AdvisedRange {
  readonly addr: U64;
  readonly length: U64;
}

/** End of the addresses that a program can pass (access_ok). */
const USER_END = BigInt(TASK_SIZE_PAGES) * 4096n;

/** Advice that never changes what memory holds: all that another process may give. */
const REMOTE_ADVICE: ReadonlySet<number> = new Set([
  madv.MADV_COLD,
  madv.MADV_PAGEOUT,
  madv.MADV_WILLNEED,
  madv.MADV_COLLAPSE,
]);

/** What process_madvise looks at before it asks whose memory the descriptor names. */
export function checkProcessMadvise(ranges: readonly AdvisedRange[], flags: number): Result<void, Refusal> {
  if (flags !== 0) return refuse('EINVAL', 'process_madvise takes no flags');
  if (ranges.some(({ length }) => BigInt(length) >= 1n << 63n)) {
    return refuse('EINVAL', 'the length of a range is negative (import_iovec)');
  }
  if (ranges.some(({ addr, length }) => BigInt(addr) + BigInt(length) > USER_END)) {
    return refuse('EFAULT', 'a range leaves the address space (import_iovec)');
  }
  return ok(undefined);
}

/**
 * process_madvise(pidfd, ranges, advice, flags) on the process of `mm`; `self` says that it is the caller's own. Returns
 * the bytes of the ranges that were advised, or why the first one was not.
 */
export function sysProcessMadvise(
  mm: Mm,
  ranges: readonly AdvisedRange[],
  advice: number,
  flags: number,
  self: boolean,
): Prediction {
  const checked = checkProcessMadvise(ranges, flags);
  if (!checked.ok) return checked;
  if (!(self && mm.rules.processMadviseSelfAny) && !REMOTE_ADVICE.has(advice)) {
    return refuse('EINVAL', 'this advice cannot be given through a pidfd (process_madvise_remote_valid)');
  }
  let done = 0;
  let refused: Refusal | undefined;
  const total = ranges.reduce((sum, { length }) => sum + Number(length), 0);
  for (const { addr, length } of advisedInTurn(ranges)) {
    if (done >= total) break;
    const advised = sysMadvise(mm, addr, length, advice);
    if (!advised.ok) {
      refused = advised.error;
      break;
    }
    if (advised.value === 'pages-decide') return advised;
    done += Number(length);
  }
  if (done === 0 && refused !== undefined) return err(refused);
  return ok(done);
}

/** iov_iter_advance steps over empty ranges, but for one at the beginning. */
function advisedInTurn(ranges: readonly AdvisedRange[]): readonly AdvisedRange[] {
  return ranges.filter(({ length }, index) => index === 0 || length !== 0);
}
