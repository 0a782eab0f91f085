import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

// Plain text checks of the recorded example, on purpose without the project's own readers: damaged files must be
// found here, not somewhere in a replay.

type Folder = ReadonlyMap<string, string>;

const TRACE = 'pluginhost.strace';
const SNAPSHOT = /^(\d\d)-([a-z]+)\.(\d+)\.smaps$/;
const SMAPS_HEADER =
  /^([0-9a-f]{8,16})-([0-9a-f]{8,16}) [r-][w-][x-][ps] [0-9a-f]{8} [0-9a-f]{2}:[0-9a-f]{2} \d+ (?: *(\S.*))?$/;
const SMAPS_ROW = /^([A-Z][A-Za-z_]+): +(\d+)( kB)?$/;
const SMAPS_FLAGS = /^VmFlags: (?:(?:[a-z]{2}|\?\?) )+$/;
const SYSCALL_LINE =
  /^(\d+) +([a-z]\w*)\(.*(?:\) += (?:\?|-1 E[A-Z]+ \(.+\)|\d+(?:<.*>)?|0x[0-9a-f]+)| <unfinished \.\.\.>)$/;
const RESUMED_LINE = /^(\d+) +<\.\.\. (\w+) resumed>.*\) += (?:\?|\d+|-1 E[A-Z]+ \(.+\))$/;
const OTHER_LINE = /^(\d+) +(?:\+\+\+ exited with 0 \+\+\+|--- SIGCHLD \{.*\} ---)$/;

function load(folder: string): Folder {
  const root = path.join(import.meta.dirname, '..', folder);
  return new Map(readdirSync(root).map((name) => [name, readFileSync(path.join(root, name), 'latin1')]));
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

/** Everything wrong with one smaps file: lines, order of fields and addresses, sizes, the end. */
function smapsProblems(name: string, text: string, fieldsOfAll: Set<string>): readonly string[] {
  const problems: string[] = [];
  let fields: string[] = [];
  let previousEnd = 0;
  let size = 0;
  let label = '';
  linesOf(text).forEach((line, index) => {
    const at = `${name}:${index + 1}`;
    const header = SMAPS_HEADER.exec(line);
    const row = SMAPS_ROW.exec(line);
    if (header !== null) {
      const start = parseInt(header[1] ?? '', 16);
      const end = parseInt(header[2] ?? '', 16);
      if (start < previousEnd || end <= start) problems.push(`${at}: addresses out of order`);
      if (fields.length > 0) problems.push(`${at}: the record before has no end`);
      previousEnd = end;
      size = (end - start) / 1024;
      label = header[3] ?? '';
      fields = ['header'];
    } else if (row !== null) {
      fields.push(row[1] ?? '');
      if (row[1] === 'Size' && Number(row[2]) !== size) problems.push(`${at}: Size is not that of the range`);
    } else if (SMAPS_FLAGS.test(line)) {
      fieldsOfAll.add(fields.join(' '));
      fields = [];
    } else {
      problems.push(`${at}: no line of smaps: ${line}`);
    }
  });
  if (fields.length > 0 || !text.endsWith('\n') || label !== '[vdso]') problems.push(`${name}: cut off`);
  return problems;
}

/** Everything wrong with the trace's lines: shape, calls that never resume, threads that never end. */
function traceProblems(text: string): readonly string[] {
  const problems: string[] = [];
  const open = new Map<string, string>();
  const last = new Map<string, string>();
  linesOf(text).forEach((line, index) => {
    const at = `${TRACE}:${index + 1}`;
    const call = SYSCALL_LINE.exec(line);
    const resumed = RESUMED_LINE.exec(line);
    const pid = (call ?? resumed ?? OTHER_LINE.exec(line))?.[1];
    if (pid === undefined) {
      problems.push(`${at}: no line of strace: ${line}`);
      return;
    }
    if (last.get(pid)?.includes('+++') === true) problems.push(`${at}: ${pid} has ended before`);
    last.set(pid, line);
    if (resumed !== null) {
      if (open.get(pid) !== resumed[2]) problems.push(`${at}: resumes what was not begun`);
      open.delete(pid);
    }
    if (call !== null && line.endsWith('<unfinished ...>')) open.set(pid, call[2] ?? '');
  });
  for (const [pid, call] of open) problems.push(`${TRACE}: ${call} of ${pid} has no result`);
  for (const [pid, line] of last) {
    if (!line.includes('+++')) problems.push(`${TRACE}: ${pid} does not end`);
  }
  if (!text.endsWith('+++\n')) problems.push(`${TRACE}: cut off`);
  return problems;
}

/** Names of snapshots in the order in which the trace says that they were read, each with its reader. */
function snapshotsInTrace(text: string): readonly { readonly pid: string; readonly name: string }[] {
  const found: { pid: string; name: string }[] = [];
  const reading = new Set<string>();
  for (const line of linesOf(text)) {
    const opened = /^(\d+) +openat\([^"]*"([^"]*)"/.exec(line);
    const pid = opened?.[1] ?? '';
    if (opened?.[2] === '/proc/self/smaps') reading.add(pid);
    else if (opened !== null && reading.delete(pid)) found.push({ pid, name: opened[2] ?? '' });
  }
  return found;
}

function folderProblems(folder: Folder): readonly string[] {
  const trace = folder.get(TRACE);
  if (trace === undefined) return [`${TRACE} is missing`];
  const problems = [...traceProblems(trace)];
  const fieldsOfAll = new Set<string>();
  const files = [...folder.keys()].filter((name) => name.endsWith('.smaps')).sort();
  for (const name of files) problems.push(...smapsProblems(name, folder.get(name) ?? '', fieldsOfAll));
  if (fieldsOfAll.size !== 1) problems.push('not every record has the same fields');
  const wanted = snapshotsInTrace(trace);
  if (wanted.map(({ name }) => name).join() !== files.join()) {
    problems.push('the snapshots are not those that the trace has, in its order');
  }
  const reads = linesOf(trace).filter((line) => line.includes('"/proc/self/smaps"')).length;
  if (reads !== files.length) problems.push(`${reads} reads of smaps, ${files.length} files`);
  for (const { pid, name } of wanted) {
    if (SNAPSHOT.exec(name)?.[3] !== pid) problems.push(`${name} was written by ${pid}`);
  }
  return problems;
}

/** The folder with one file changed, or without it. */
function damaged(folder: Folder, name: string, change: (text: string) => string | undefined): Folder {
  const copy = new Map(folder);
  const text = change(folder.get(name) ?? '');
  if (text === undefined) copy.delete(name);
  else copy.set(name, text);
  return copy;
}

describe.each(['media/example', 'test/fixtures/replay/example-6.12', 'test/fixtures/replay/example-6.1'])(
  'recording in %s',
  (where) => {
    const folder = load(where);

    test('is whole: every line reads, every process ends, every snapshot is there', () => {
      expect(folderProblems(folder)).toEqual([]);
      expect([...folder.keys()].filter((name) => name.endsWith('.smaps'))).toHaveLength(8);
    });

    test('names no place but the one it was recorded in', () => {
      const recorded = [...folder].filter(([name]) => name !== 'README.md').map(([, text]) => text);
      const paths = new Set(recorded.join('').match(/(?<=[\s"<])\/[\w./-]+/g));
      expect([...paths].filter((p) => !/^\/(?:srv\/demo|proc\/|dev\/zero$)/.test(p))).toEqual([]);
    });
  },
);

describe('the checks above find', () => {
  const folder = load('media/example');
  const smaps = '05-refused.29.smaps';

  test.each([
    [
      'a trace without its last line',
      TRACE,
      (t: string) => t.slice(0, t.lastIndexOf('\n', t.length - 2) + 1),
    ],
    ['a trace cut inside a line', TRACE, (t: string) => t.slice(0, 5000)],
    ['a trace without a result', TRACE, (t: string) => t.replace(/^.*wait4 resumed.*\n/m, '')],
    ['a trace with a garbled line', TRACE, (t: string) => t.replace('mseal(', 'mse\0al(')],
    ['a missing snapshot', smaps, () => undefined],
    ['an empty snapshot', smaps, () => ''],
    ['a snapshot cut inside a line', smaps, (t: string) => t.slice(0, -3)],
    ['a snapshot without its last record', smaps, (t: string) => t.slice(0, t.lastIndexOf('\n7f') + 1)],
    ['a snapshot without one row', smaps, (t: string) => t.replace(/^Pss:.*\n/m, '')],
    [
      'a snapshot with a changed address',
      smaps,
      (t: string) => t.replace('40054000-40058000', '40054000-40057000'),
    ],
    ['a snapshot with a garbled flag', smaps, (t: string) => t.replace('VmFlags: rd mr', 'VmFlags: rd m')],
  ])('%s', (_what, name, change) => {
    expect(folderProblems(damaged(folder, name, change))).not.toEqual([]);
  });
});

describe('media/example', () => {
  const folder = load('media/example');
  const trace = linesOf(folder.get(TRACE) ?? '');

  test('is small enough to ship', () => {
    const bytes = [...folder.values()].reduce((sum, text) => sum + text.length, 0);
    expect(bytes).toBeLessThan(150_000);
    expect(trace.length).toBeLessThan(300);
  });

  test('its README names each line with the right pid and call', () => {
    const rows = [...(folder.get('README.md') ?? '').matchAll(/^\| +(\d+) \| +(\d+) \| `(\w+)` /gm)];
    expect(rows.length).toBeGreaterThan(25);
    for (const [, line, pid, call] of rows) {
      const text = trace[Number(line) - 1] ?? '';
      expect(text).toMatch(
        new RegExp(`^${pid ?? ''} +(?:<\\.\\.\\. ${call ?? ''} resumed>|${call ?? ''}\\()`),
      );
    }
  });

  test('has what the example is there to show', () => {
    const refused = trace
      .filter((line) => line.includes(' = -1 EPERM'))
      .map((line) => /[a-z]\w*(?=\()/.exec(line)?.[0]);
    expect(new Set(refused)).toEqual(new Set(['munmap', 'mprotect', 'madvise', 'mremap', 'mmap']));
    expect(trace.filter((line) => / clone\(child_stack=NULL, .* = \d+$/.test(line))).toHaveLength(4);
    expect(folder.get('05-refused.29.smaps')).toMatch(/ sl $/m);
    expect(folder.get('06-report.30.smaps')).not.toMatch(/ sl $|\[anon/m);
  });
});
