import { assert } from '../../src/base/assert';
import { vpn } from '../../src/mm/addr';
import {
  isKernelVersion,
  KERNEL_VERSIONS,
  type KernelVersion,
  type RuleOverrides,
} from '../../src/mm/kernel_rules';
import { statesLines, type StateLine } from '../../src/replay/states';
import { readTrace } from '../../src/trace/read_trace';
import type { Recording } from './recording';

/** Pages of the arena in which the recorder works (recorder.h). */
const ARENA = { start: vpn(0x2000000), end: vpn(0x2000200) };

/** One place where the replay and the kernel disagree. */
export interface Difference {
  /** Line of the trace, from 1, and what stands there. */
  readonly line: number;
  readonly text: string;
  readonly pid: number;
  readonly predicted: string;
  readonly recorded: string;
  /** The process before the call, by the kernel's word. */
  readonly before: readonly string[];
  /** VMAs of the replay that the kernel does not have, and the other way round. */
  readonly ours: readonly string[];
  readonly kernels: readonly string[];
}

export interface Comparison {
  readonly calls: number;
  /** Records whose VMAs, or whose result, differ. */
  readonly maps: number;
  readonly results: number;
  /** Results that are the kernel's free choice. */
  readonly free: number;
  /** The first difference of each sequence; what follows one in its sequence is no news. */
  readonly differences: readonly Difference[];
}

export interface CompareOptions {
  readonly kernel: KernelVersion;
  readonly rules?: RuleOverrides;
  /** Recount all references after every call. */
  readonly validate?: boolean;
}

/** Replays the trace of `recording` by the rules of a kernel and holds each call against what the kernel did. */
export function compareRecording(recording: Recording, options: CompareOptions): Comparison {
  const trace = readTrace(recording.trace);
  assert(
    trace.problems.length === 0,
    `line ${trace.problems[0]?.line ?? 0}: ${trace.problems[0]?.text ?? ''}`,
  );
  const count = { calls: 0, maps: 0, results: 0, free: 0 };
  const differences: Difference[] = [];
  const before = new Map<number, readonly string[]>();
  let differed = 0;
  const replay = {
    ...options,
    without: recording.without,
    snapshots: recording.snapshots,
    rules: { ...recording.rules, ...options.rules },
    ...(recording.mapRoom === undefined ? {} : { maxMapCount: recording.mapRoom }),
  };
  for (const state of statesLines(trace, replay, ARENA)) {
    const record = recording.records[count.calls++];
    assert(
      record?.line === state.line && record.pid === state.pid,
      `line ${state.line} of ${state.pid} has its record, not line ${record?.line ?? 0} of ${record?.pid ?? 0}`,
    );
    if (state.predicted === '?' && state.call !== 'clone') count.free++;
    const sameResult = resultFits(state);
    const ours = state.vmas.map(vmaText);
    const sameMap = sameList(ours, record.vmas);
    if (!sameResult) count.results++;
    if (!sameMap) count.maps++;
    if (!(sameResult && sameMap) && sequenceStart(recording, state.line) !== differed) {
      differed = sequenceStart(recording, state.line);
      differences.push({
        line: state.line,
        text: recording.lines[state.line - 1] ?? '',
        pid: state.pid,
        predicted: state.predicted,
        recorded: state.recorded,
        before: before.get(state.pid) ?? [],
        ours: ours.filter((vma) => !record.vmas.includes(vma)),
        kernels: record.vmas.filter((vma) => !ours.includes(vma)),
      });
    }
    before.set(state.pid, record.vmas);
  }
  assert(count.calls === recording.records.length, 'every record has its call');
  return { ...count, differences };
}

/**
 * Only an address may be the kernel's free choice, and what a capability decides that nothing has shown yet: there the
 * replay says itself whether the record is one of the two that can be.
 */
function resultFits(state: StateLine): boolean {
  if (state.predicted === state.recorded || state.call === 'clone') return true;
  return state.predicted === '?' && (/^0x/.test(state.recorded) || state.mismatch === undefined);
}

function vmaText(vma: StateLine['vmas'][number]): string {
  const flags = vma.flags.filter((flag) => flag !== 'sd').join(',');
  return `${vma.start}-${vma.end} ${vma.perms} ${vma.offset} ${flags} ${vma.name}`;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((vma, index) => vma === b[index]);
}

/** Does a sequence begin here? An execve within one has another argument. */
export function isSequenceStart(line: string): boolean {
  return line.includes(' execve(') && line.includes('["recorder"],');
}

/** Line of the execve with which the sequence of a line began. */
export function sequenceStart(recording: Recording, line: number): number {
  let start = line;
  while (start > 1 && !isSequenceStart(recording.lines[start - 1] ?? '')) start--;
  return start;
}

/** The rules nearest to a release: those of the newest version that is not newer, else the oldest. */
export function nearestRules(release: string): KernelVersion {
  const [major = 0, minor = 0] = release.split('.').map((part) => parseInt(part, 10));
  const own = `${major}.${minor}`;
  if (isKernelVersion(own)) return own;
  const older = KERNEL_VERSIONS.filter((version) => {
    const [a = 0, b = 0] = version.split('.').map(Number);
    return a < major || (a === major && b < minor);
  });
  return older.at(-1) ?? KERNEL_VERSIONS[0];
}
