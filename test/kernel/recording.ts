import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { assert } from '../../src/base/assert';
import { parseMaps } from '../../src/procfs/maps';
import type { SnapshotInput } from '../../src/replay/replay_types';
import { parseRuleOverride, type RuleOverrides } from '../../src/mm/kernel_rules';

/**
 * What the recorder wrote, taken apart: the trace as strace would have printed it, and after each memory call the VMAs
 * of each process that it concerns. README.md has the format.
 */
export interface Recording {
  /** `uname -r` of the kernel that answered. */
  readonly release: string;
  /** Features that the kernel was built without, as ReplayOptions.without takes them. */
  readonly without: readonly string[];
  /** Rules in which the build of the kernel differs from others of its version. */
  readonly rules: RuleOverrides;
  /** VMAs that a process could have in the arena before it came to vm.max_map_count; absent: as many as it liked. */
  readonly mapRoom?: number;
  /** The trace alone, without the recorder's own lines. */
  readonly trace: string;
  /** Its lines; line N of the trace is `lines[N - 1]`. */
  readonly lines: readonly string[];
  readonly records: readonly VmaRecord[];
  /** The whole of smaps after a line of the trace, where memory outside of the arena counts. */
  readonly snapshots: readonly SnapshotInput[];
  /** False if the recorder or the kernel died on the way. */
  readonly complete: boolean;
}

/** What one process had in the arena after the call in line `line` of the trace. */
export interface VmaRecord {
  readonly line: number;
  readonly pid: number;
  /** One `START-END PERMS OFFSET FLAG,FLAG,… NAME` a VMA. */
  readonly vmas: readonly string[];
}

/** A recording as it is kept: much of it repeats, so it becomes a sixtieth. */
export function packRecording(text: string): Buffer {
  const { BROTLI_PARAM_LGWIN, BROTLI_MAX_WINDOW_BITS } = constants;
  return brotliCompressSync(Buffer.from(text, 'latin1'), {
    params: { [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS },
  });
}

export function unpackRecording(packed: Uint8Array): string {
  return brotliDecompressSync(packed).toString('latin1');
}

export function readRecording(text: string): Recording {
  const source = text.split('\n');
  const lines: string[] = [];
  const records: VmaRecord[] = [];
  const snapshots: SnapshotInput[] = [];
  const before = new Map<number, readonly string[]>();
  for (let i = 0; i < source.length; i++) {
    const line = source[i] ?? '';
    if (line.startsWith('@')) {
      const [pid = 0, head = 0, tail = 0] = line.slice(1).split(' ').map(Number);
      const vmas = splice(before.get(pid) ?? [], head, tail, source, i + 1);
      i += vmas.length - head - tail;
      before.set(pid, vmas);
      records.push({ line: lines.length, pid, vmas });
    } else if (line.startsWith('%')) {
      const smaps = indented(source, i + 1);
      i += smaps.length;
      snapshots.push(snapshotOf(Number(line.slice(1)), lines.length, smaps));
    } else if (line !== '' && !line.startsWith('#')) lines.push(line);
  }
  const mapRoom = note(source, 'map-room');
  return {
    release: note(source, 'kernel') ?? '',
    without: words(source, 'without'),
    rules: Object.assign({}, ...words(source, 'rules').map(rule)) as RuleOverrides,
    ...(mapRoom === undefined ? {} : { mapRoom: Number(mapRoom) }),
    trace: `${lines.join('\n')}\n`,
    lines,
    records,
    snapshots,
    complete: source.includes('# end') && !source.some((line) => line.startsWith('# a process was lost')),
  };
}

/** The text of a recording that broke off, without the sequence in which it did. */
export function withoutLastSequence(text: string): string {
  const last = text.lastIndexOf('\n# sequence ');
  return `${text.slice(0, last + 1)}# end\n`;
}

/** The recorder writes lists as changes: `head` and `tail` lines stay, the indented lines from `at` on come between. */
function splice(
  old: readonly string[],
  head: number,
  tail: number,
  source: readonly string[],
  at: number,
): readonly string[] {
  assert(head + tail <= old.length, 'a record keeps lines of the one before it');
  const middle = indented(source, at);
  if (middle.length === 0 && head === old.length) return old;
  return [...old.slice(0, head), ...middle, ...old.slice(old.length - tail)];
}

/** The indented lines from `at` on, without their indent. */
function indented(source: readonly string[], at: number): readonly string[] {
  let end = at;
  while (source[end]?.startsWith(' ') === true) end++;
  return source.slice(at, end).map((line) => line.slice(1));
}

function snapshotOf(pid: number, line: number, smaps: readonly string[]): SnapshotInput {
  const { entries, problems } = parseMaps(`${smaps.join('\n')}\n`);
  assert(problems.length === 0, `a snapshot can be read: ${problems[0]?.text ?? ''}`);
  return { label: `smaps of ${pid}`, pid, line, entries };
}

function words(source: readonly string[], name: string): readonly string[] {
  return (note(source, name) ?? '').split(' ').filter((word) => word !== '');
}

function rule(text: string): RuleOverrides {
  const found = parseRuleOverride(text);
  assert(found !== undefined, `${text} is a rule`);
  return found;
}

/** The rest of the first line that begins with `# NAME`. */
function note(source: readonly string[], name: string): string | undefined {
  const start = `# ${name} `;
  return source.find((line) => line.startsWith(start))?.slice(start.length);
}
