import type { SyscallEvent } from '../trace/event';
import { readFd } from '../trace/strace/fd';
import type { StepWords } from './step_title';
import type { Life, World } from './world';

/** What the kernel reads of a text that is written to clear_refs. */
const MOST_BYTES = 12;

/** A write that clears soft-dirty: whose, in words, and what the kernel answers. */
export interface SoftDirtyCleared {
  readonly target: Life;
  readonly words: StepWords;
  readonly predicted: string;
}

/**
 * A successful write of 4 to /proc/PID/clear_refs; undefined for every other call. The other values (1, 2, 3: referenced
 * bits of pages, 5: peak of resident memory) change no VMA.
 */
export function softDirtyCleared(
  world: World,
  life: Life,
  { call, result }: SyscallEvent,
): SoftDirtyCleared | undefined {
  if (call.name !== 'other' || result.kind !== 'value' || result.injected) return undefined;
  if (call.syscall !== 'write' && call.syscall !== 'pwrite64') return undefined;
  const [first = '', text = '', count = ''] = call.args;
  const fd = isFour(text) ? readFd(first, 0, first.length) : undefined;
  const path = fd === undefined ? undefined : life.files.fileOf(fd)?.path;
  const pid = /^\/proc\/(?:\d+\/task\/)?(\d+)\/clear_refs$/.exec(path ?? '')?.[1];
  const target = pid === undefined ? undefined : world.lifeOf(Number(pid));
  if (pid === undefined || target === undefined) return undefined;
  const what = `4 to clear_refs of ${pid}: nothing is soft-dirty`;
  return {
    target,
    words: { title: `${call.syscall}(${what})`, what },
    predicted: String(Math.min(Number(count), MOST_BYTES)),
  };
}

/**
 * `/proc/self/clear_refs` and the like by number: whoever inherits the descriptor still works on the process that opened it.
 */
export function withoutSelf(path: string, pid: number): string {
  return path.replace(/^\/proc\/(?:self|thread-self)(?=\/clear_refs$)/, `/proc/${pid}`);
}

/** kstrtoint of the stripped text; behind a 4 that strace cut off only blanks can follow, or the write had failed. */
function isFour(text: string): boolean {
  return /^"(?:\\[ntvfr]| )*\+?0*4(?:(?:\\[ntvfr]| )*"|"\.\.\.)/.test(text);
}
