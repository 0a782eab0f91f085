import type { KernelVersion } from '../../src/mm/kernel_rules';
import type { SnapshotInput } from '../../src/replay/replay_types';
import { replayTrace } from '../../src/replay/replayer';
import { readTrace } from '../../src/trace/read_trace';
import type { TraceInput } from '../../src/present/trace_group';

/** A parent names memory and forks; the child renames a part; the parent seals a page and is refused. */
export const SMALL_TRACE = [
  '100 execve("/usr/bin/demo", ["demo"], 0x7ffd /* 1 var */) = 0',
  '100 mmap(NULL, 65536, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40000000',
  '100 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x40000000, 65536, "cache") = 0',
  '100 fork() = 101',
  '101 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x40000000, 32768, "own") = 0',
  '100 mseal(0x40000000, 4096, 0) = 0',
  '100 munmap(0x40000000, 4096) = -1 EPERM (Operation not permitted)',
  '101 exit_group(0) = ?',
  '101 +++ exited with 0 +++',
  'this is no line of strace',
  '100 munmap(0x40008000, 32768) = 0',
  '100 exit_group(0) = ?',
  '100 +++ exited with 0 +++',
  '',
].join('\n');

/** The small trace, or another one, replayed and standing at the last step of `line`. */
export function replayedAt(
  line: number,
  options: {
    readonly kernel?: KernelVersion;
    readonly snapshots?: readonly SnapshotInput[];
    readonly text?: string;
  } = {},
): TraceInput {
  const trace = readTrace(options.text ?? SMALL_TRACE);
  const replay = replayTrace(trace, {
    kernel: options.kernel ?? '7.3',
    snapshots: options.snapshots ?? [],
    validate: true,
  });
  const position = replay.stepAtLine(line);
  return {
    traceId: 'trace x',
    label: 'small.strace',
    location: '/traces/small.strace',
    trace,
    replay,
    position,
    lifeId: replay.steps[position]?.lifeId,
    isCurrent: true,
  };
}
