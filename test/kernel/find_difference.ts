import {
  compareRecording,
  isSequenceStart,
  sequenceStart,
  type CompareOptions,
  type Difference,
} from './compare';
import { formatSmapsHeaderAndFlags } from '../../src/procfs/format_maps';
import type { Recording } from './recording';
import { shrinkList, simplerCalls, simplifyList, type Trial } from './shrink';

/** Runs a script on the kernel. */
export type RunScript = (script: string) => Recording;

/** A failing sequence made short. */
export interface Shrunk {
  readonly recording: Recording;
  readonly difference: Difference;
}

/**
 * The shortest sequence found that still shows a difference, beginning with the one in which `difference` lies. Undefined
 * if its calls, run again, agree: then the recording depends on something that its text does not show.
 */
export function shrinkDifference(
  recording: Recording,
  difference: Difference,
  options: CompareOptions,
  run: RunScript,
): Shrunk | undefined {
  const start = sequenceStart(recording, difference.line);
  const head = recording.lines[start - 1] ?? '';
  const calls = recording.lines.slice(start, difference.line).filter(isCall);
  const trial: Trial<string> = (candidates) => {
    // A sequence without a call is none: the recorder passes over it.
    const tried = candidates.filter((lines) => lines.length > 0);
    if (tried.length === 0) return candidates.map(() => false);
    const again = run([...segments(recording), ...tried.flatMap((lines) => [head, ...lines]), ''].join('\n'));
    const failing = new Set(
      compareRecording(again, options).differences.map(({ line }) => sequenceStart(again, line)),
    );
    const starts = again.lines.flatMap((line, index) => (isSequenceStart(line) ? [index + 1] : []));
    return candidates.map((lines) => failing.has(starts[tried.indexOf(lines)] ?? 0));
  };
  if (trial([calls])[0] !== true) return undefined;
  const alone = inOneProcess(calls);
  const shorter = shrinkList(trial([alone])[0] === true ? alone : calls, trial);
  const shortest = shrinkList(simplifyList(shorter, simplerCalls, trial), trial);
  const again = run([...segments(recording), head, ...shortest, ''].join('\n'));
  const found = compareRecording(again, options).differences[0];
  return found === undefined ? undefined : { recording: again, difference: found };
}

/** The same calls, all made by the first process. */
function inOneProcess(calls: readonly string[]): readonly string[] {
  const root = /^\d+/.exec(calls[0] ?? '')?.[0] ?? '';
  return calls.filter((line) => !line.includes(' clone(')).map((line) => line.replace(/^\d+/, root));
}

/** Lines that the recorder makes itself at the start and the end of each sequence. */
function isCall(line: string): boolean {
  return !/^\d+ (openat|close|dup|memfd_create|pidfd_open|shmget|brk\(NULL|exit_group|\+\+\+|---)/.test(line);
}

/** The recording's SysV segments: the script names them by id. */
function segments(recording: Recording): readonly string[] {
  return recording.lines.filter((line) => line.includes(' shmget(')).slice(0, 3);
}

/** Lines that make a descriptor or name a segment; the second group is its number. */
const OPENING = /^\d+ (openat|memfd_create|pidfd_open|dup|shmget)\(.* = (\d+)/;

/** Descriptors and segments that a call uses. */
function usedFiles(lines: readonly string[]): ReadonlySet<string> {
  const used = new Set<string>();
  const note = (line: string): void => {
    for (const match of line.matchAll(/[(, ](\d+)<|shmat\((\d+),/g)) used.add(match[1] ?? match[2] ?? '');
  };
  lines.filter((line) => !OPENING.test(line)).forEach(note);
  for (const line of lines) {
    const [, call, made] = OPENING.exec(line) ?? [];
    if (call === 'dup' && used.has(made ?? '')) note(line.slice(0, line.lastIndexOf(' = ')));
  }
  return used;
}

/** A recording as text that can be kept as a test, without files that no call uses. */
export function recordingText(recording: Recording, differenceLine: number): string {
  const used = usedFiles(recording.lines);
  const rules = Object.entries(recording.rules).map(([name, value]) => `${name}=${value}`);
  const out = [
    `# kernel ${recording.release}`,
    `# without ${recording.without.join(' ')}`,
    `# rules ${rules.join(' ')}`,
    ...(recording.mapRoom === undefined ? [] : [`# map-room ${recording.mapRoom}`]),
  ];
  let at = 0;
  recording.lines.slice(0, differenceLine).forEach((line, index) => {
    const records = [];
    for (; recording.records[at]?.line === index + 1; at++) records.push(recording.records[at]);
    const opened = OPENING.exec(line)?.[2];
    if (opened === undefined || used.has(opened)) out.push(line);
    for (const record of records) {
      if (record !== undefined) out.push(`@${record.pid} 0 0`, ...record.vmas.map((vma) => ` ${vma}`));
    }
    for (const snapshot of recording.snapshots) {
      if (snapshot.line !== index + 1) continue;
      const smaps = snapshot.entries.flatMap((entry) => formatSmapsHeaderAndFlags(entry).split('\n'));
      out.push(`%${snapshot.pid}`, ...smaps.filter((line) => line !== '').map((line) => ` ${line}`));
    }
  });
  return `${out.join('\n')}\n# end\n`;
}
