import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/read_trace';
import type { TraceEvent } from '../../src/trace/event';

const SHARED = new URL('../../../shared/', import.meta.url);
const present = existsSync(SHARED);

/** Problems that a capture really has; all others must have none. */
const PROBLEMS: Readonly<Record<string, readonly string[]>> = {
  'a-tour-72-C.strace': ['summary-table'],
  'n-texec-61-secbpf.strace': ['execve-result'],
  'n-texec-72-secbpf.strace': ['execve-result'],
  // These programs call syscall 9999 on purpose.
  'o-die-61-f.strace': ['unknown-call'],
  'o-die-61-stderr.strace': ['unknown-call'],
  'o-die-72-rec.strace': ['unknown-call'],
  'o-die-72-ff/trace.15332': ['unknown-call'],
};

/** No calls in it at all. */
const NOT_A_TRACE = ['a-tour-72-c.strace'];

function captures(): string[] {
  if (!present) return [];
  const found: string[] = [];
  const traces = new URL('traces/', SHARED);
  for (const entry of readdirSync(traces, { withFileTypes: true })) {
    if (entry.isFile() && /\.strace(?:\.gz)?$/.test(entry.name)) found.push(`traces/${entry.name}`);
    if (!entry.isDirectory()) continue;
    for (const name of readdirSync(new URL(`${entry.name}/`, traces))) {
      if (/\.strace$|^trace\.\d+$/.test(name)) found.push(`traces/${entry.name}/${name}`);
    }
  }
  for (const name of readdirSync(new URL('corpora/', SHARED)))
    if (name.endsWith('.strace.gz')) found.push(`corpora/${name}`);
  return found.filter((path) => !NOT_A_TRACE.some((name) => path.endsWith(name)));
}

function load(path: string): string {
  const data = readFileSync(new URL(path, SHARED));
  return (path.endsWith('.gz') ? gunzipSync(data) : data).toString('latin1');
}

/**
 * An independent count of the calls in a capture: lines whose text after the lead begins with the name of a
 * call. Each such line, whole or the first half of a split one, must become one event.
 */
function grepCalls(bytes: string, perTask: boolean): Map<string, number> {
  const lead =
    /^(?:\[pid +\d+(?:<[^>]*>)?\] |\d+(?:<[^>]*>)? +)?(?:(?:\d\d:\d\d:\d\d(?:\.\d+)?|\d{9,}(?:\.\d+)?) )?(?:\(\+ *[\d.]+\) | *\d+\.\d{3,9} )?(?:\[ *\d+\] )?(?:\[[0-9a-f?]{8,16}\] )?([a-z]\w*)\((.{0,40})/;
  const counts = new Map<string, number>();
  for (const line of bytes.replaceAll(/\x1b\[[\d;]*m/g, '').split('\n')) {
    // In the files of -ff a second half stands alone only where execve came from another file's thread.
    const orphan = perTask ? /<\.\.\. (\w+) resumed>()/.exec(line) : null;
    const [, name, args = ''] = lead.exec(line) ?? orphan ?? [];
    if (name === undefined) continue;
    const key =
      name === 'prctl' && /^(?:op=)?(?:PR_SET_VMA|0x53564d41)\b/.test(args)
        ? 'prctl_set_vma'
        : (ALIAS[name] ?? name);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const ALIAS: Readonly<Record<string, string>> = {
  mmap2: 'mmap',
  syscall_0x1ce: 'mseal',
  fork: 'clone',
  vfork: 'clone',
  clone3: 'clone',
  execveat: 'execve',
  exit_group: 'exit',
};

const COUNTED = [
  'mmap',
  'munmap',
  'mprotect',
  'pkey_mprotect',
  'mremap',
  'madvise',
  'process_madvise',
  'mseal',
  'prctl_set_vma',
  'brk',
  'mlock',
  'mlock2',
  'munlock',
  'mlockall',
  'munlockall',
  'shmget',
  'shmat',
  'shmdt',
  'remap_file_pages',
  'clone',
  'execve',
  'exit',
];

function countEvents(events: readonly TraceEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.kind !== 'syscall') continue;
    const name = event.call.name === 'other' ? `other ${event.call.syscall}` : event.call.name;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

describe.skipIf(!present)('captures', () => {
  it.each(captures())('%s', (path) => {
    const bytes = load(path);
    const trace = readTrace(bytes, { fileName: path });
    expect(trace.format).toBe('strace');
    const expected = Object.entries(PROBLEMS).find(([name]) => path.endsWith(name))?.[1] ?? [];
    expect(trace.problems.map(({ code }) => code)).toEqual(expected);

    const grep = grepCalls(bytes, /trace\.\d+$/.test(path));
    const counts = countEvents(trace.events);
    const raw = path.includes('eraw');
    for (const name of COUNTED) {
      expect([name, counts.get(name) ?? 0]).toEqual([name, grep.get(name) ?? 0]);
      if (!raw) expect([name, counts.get(`other ${name}`)]).toEqual([name, undefined]);
    }
    const lines = trace.events.map((event) => event.line);
    expect(lines).toEqual([...lines].sort((a, b) => a - b));
  });

  it('gives every task of a capture on the terminal the pid that the same run has in a file', () => {
    const shape = (path: string): string[] =>
      readTrace(load(path)).events.flatMap((event) =>
        event.kind === 'syscall' && event.call.name === 'exit' ? [`${event.pid}`] : [],
      );
    // Pids differ from run to run; the number of tasks and of their exits does not.
    expect(new Set(shape('traces/n-texec-61-stderr.strace')).size).toBe(
      new Set(shape('traces/n-texec-61-f.strace')).size,
    );
    expect(shape('traces/j-spawn-61-stderr.strace').length).toBe(shape('traces/j-spawn-61-f.strace').length);
    for (const path of [
      'a-tour-61-stderr',
      'a-tour-510-stderr',
      'a-tour-61-comm-stderr',
      'j-spawn-61-stderr',
      'o-die-61-stderr',
      'n-texec-61-stderr',
    ]) {
      expect(readTrace(load(`traces/${path}.strace`)).lacks.map(({ code }) => code)).not.toContain('no-pids');
    }
  });

  it('finds every exec of a thread', () => {
    for (const path of readdirSync(new URL('traces/', SHARED)).filter((name) =>
      /^n-texec.*\.strace$/.test(name),
    )) {
      const { events } = readTrace(load(`traces/${path}`));
      const moved = events.filter((event) => event.kind === 'syscall' && event.entryPid !== undefined);
      expect([path, moved.length]).toEqual([path, 1]);
      expect(moved[0]).toMatchObject({
        call: { name: 'execve', path: '/proc/self/exe' },
        result: { kind: 'value', value: 0 },
      });
    }
  });
});
