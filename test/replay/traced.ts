import type { KernelVersion } from '../../src/mm/kernel_rules';
import { lastColumn } from '../../src/replay/maps_view';
import { replayTrace } from '../../src/replay/replayer';
import type { Instant, Replay, ReplayOptions, ReplayStep } from '../../src/replay/replay_types';
import { readTrace } from '../../src/trace/read_trace';

/** Replays of a few lines as strace prints them, and their outcome as short text. */

/** Page that addresses are counted from. */
const BASE = 0x7f1000000;

/** Address of a page as strace prints it. */
export function p(page: number): string {
  return `0x${(BASE + page).toString(16)}000`;
}

/** `mmap` of private anonymous memory at a fixed place, with its result. */
export function mapped(page: number, pages: number, prot = 'PROT_READ|PROT_WRITE', more = ''): string {
  return `mmap(${p(page)}, ${pages * 4096}, ${prot}, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS${more}, -1, 0) = ${p(page)}`;
}

/** A naming call that succeeded. */
export function named(page: number, pages: number, name: string | null): string {
  const text = name === null ? 'NULL' : `"${name}"`;
  return `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(page)}, ${pages * 4096}, ${text}) = 0`;
}

export function fork(child: number): string {
  return `clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f0000000a10) = ${child}`;
}

/** Lines of one process with its pid before each. */
export function by(pid: number, ...calls: readonly string[]): string[] {
  return calls.map((call) => `${pid} ${call}`);
}

/** Replays the lines, recounting after every step. */
export function replayed(
  lines: readonly string[],
  options: Partial<ReplayOptions> & { readonly kernel?: KernelVersion } = {},
): Replay {
  return replayTrace(readTrace(lines.map((line) => `${line}\n`).join('')), {
    kernel: '7.3',
    validate: true,
    ...options,
  });
}

/** The last instant. */
export function end(replay: Replay): Instant {
  return replay.at(replay.steps.length - 1);
}

/**
 * The map of a process: `0-1 rw-p [anon:x], 4-5 r--p /file +2`, pages from the base, offset in pages. Without a pid that of
 * the only process.
 */
export function maps(instant: Instant, pid?: number): string {
  return instant
    .entries(lifeId(instant, pid))
    .map((entry) => {
      const pages = `${entry.start - BASE}-${entry.end - BASE}`;
      const name = lastColumn(entry);
      const offset = entry.offset === 0 ? '' : ` +${Number(entry.offset) / 4096}`;
      return `${pages} ${entry.perms}${name === '' ? '' : ` ${name}`}${offset}`;
    })
    .join(', ');
}

/** The same with the flags that smaps would print instead of permissions and name. */
export function flags(instant: Instant, pid?: number): string {
  return instant
    .entries(lifeId(instant, pid))
    .map((entry) => `${entry.start - BASE}-${entry.end - BASE} ${entry.smaps?.vmFlags?.join(' ') ?? '?'}`)
    .join(', ');
}

/** The life of a pid at an instant. */
export function lifeId(instant: Instant, pid?: number): string {
  const found = instant.lives.filter((life) => pid === undefined || life.pid === pid);
  const [life] = found;
  if (life === undefined || found.length > 1) throw new Error(`${found.length} processes ${pid ?? ''}`);
  return life.id;
}

/** `line call recorded/predicted` of every step, with the reason where they differ. */
export function results(replay: Replay): string[] {
  return replay.steps.map(resultOf);
}

function resultOf({ line, call, recorded, predicted, mismatch }: ReplayStep): string {
  const values = recorded === predicted ? recorded : `${recorded}, predicted ${predicted}`;
  return `${line} ${call} ${values}${mismatch === undefined ? '' : ` (${mismatch.code})`}`;
}
