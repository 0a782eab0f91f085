import { mkdtempSync, readFileSync, rmSync, writeFileSync, cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { fixture, parsed, unsafeCharacters, vmalens, type StateDocument } from './vmalens';

const POOL = fixture('pool');
const TRACE = path.join(POOL, 'pool.strace');

const folders: string[] = [];
/** A copy of the recording that a test may change. */
function copyOfPool(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'vmalens-test-'));
  folders.push(folder);
  cpSync(POOL, folder, { recursive: true });
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function json(args: readonly string[]) {
  const { status, out } = await vmalens(['replay', ...args, '--json']);
  expect(status).toBe(0);
  return parsed(out);
}

describe('replay --json', () => {
  it('tells processes, forks, names, seals, denied calls, costs and snapshots', async () => {
    const summary = await json([TRACE]);
    expect(summary).toMatchObject({ target: TRACE, format: 'strace', kernel: '7.3', lines: 15 });
    expect(summary.processes).toMatchObject([
      { id: '100@1', pid: 100, parent: null, children: ['101@7'], startLine: 1, endLine: 14 },
      { id: '101@7', pid: 101, parent: '100@1', children: [], startLine: 7, endLine: 12 },
    ]);
    expect(summary.forks).toMatchObject([
      {
        line: 7,
        parent: { pid: 100 },
        child: { pid: 101 },
        shared: [{ id: 1, text: 'pool', childRefs: 2, refs: 4 }],
        cost: { references: 2, copies: 2 },
      },
    ]);
    expect(summary.namesAt.line).toBe(7);
    expect(summary.names).toMatchObject([{ id: 1, text: 'pool', refs: 4 }]);
    expect(summary.seals).toMatchObject([{ line: 6, pid: 100, start: '10000000', end: '10001000' }]);
    expect(summary.denied).toMatchObject([
      {
        line: 9,
        pid: 101,
        recorded: 'EPERM',
        predicted: 'EPERM',
        denied: {
          errno: 'EPERM',
          vma: { start: '10000000', end: '10001000', name: '[anon:pool]' },
          sealedAtLine: 6,
        },
      },
    ]);
    expect(summary.mismatches).toEqual([]);
    expect(summary.snapshots).toMatchObject([
      { label: '00-start.100.maps', outcome: 'seed' },
      { label: '01-child.101.maps', outcome: 'equal', differences: 0 },
    ]);
    expect(summary.problems).toEqual([]);
  });

  it('names the mismatch that other rules bring', async () => {
    const summary = await json([TRACE, '--kernel', '6.1']);
    expect(summary.kernel).toBe('6.1');
    const lines = summary.mismatches.map((each) => each.line);
    expect(lines).toContain(6);
    expect(summary.mismatches[0]?.mismatch.code).toMatch(/^[a-z-]+$/);
  });

  it('takes any release, and says where rules of another stand in', async () => {
    const other = await vmalens(['replay', TRACE, '--json', '--kernel', '6.6.30-generic']);
    expect(parsed(other.out).kernel).toBe('6.1');
    expect(other.err).toBe(
      'vmalens: rules of Linux 6.1 stand in for 6.6.30-generic, of which no kernel was measured (single rules: --rule)\n',
    );
    const same = await vmalens(['verify', POOL, '--json', '--kernel', 'v7.3.1-foo']);
    expect(parsed(same.out).kernel).toBe('7.3');
    expect(same.err).toBe('');
  });

  it('uses snapshots that are named, and none if told so', async () => {
    const without = await json([TRACE, '--no-snapshots']);
    expect(without.snapshots).toEqual([]);
    const start = path.join(POOL, '00-start.100.maps');
    const explicit = await json([TRACE, '--no-snapshots', '--snapshot', `${start}@2`]);
    expect(explicit.snapshots).toMatchObject([{ line: 2, pid: 100, outcome: 'seed' }]);
    const byPid = await json([TRACE, '--no-snapshots', '--snapshot', `${start}@2:100`]);
    expect(byPid.snapshots).toMatchObject([{ line: 2, pid: 100, outcome: 'seed' }]);
    // One that is placed by hand is not also looked for a place.
    const both = await json([TRACE, '--snapshot', `${start}@1`]);
    expect(both.snapshots).toMatchObject([
      { line: 1, pid: 100, outcome: 'seed' },
      { line: 10, pid: 101, outcome: 'equal' },
    ]);
  });
});

describe('replay as text', () => {
  it('tells the same to a person, within the terminal', async () => {
    const { out, status } = await vmalens(['replay', TRACE], { terminal: 80, env: { NO_COLOR: '1' } });
    expect(status).toBe(0);
    expect(out).toContain('└─ 101 pool');
    expect(out).toMatch(/line 7 {2}100 → 101 {2}shares 1 name object, held by 2 mappings of the child/);
    expect(out).toMatch(/"pool" +2 of 4/);
    expect(out).toContain('by 10000000-10001000 [anon:pool], sealed at line 6');
    expect(out).toContain('every result is as predicted');
    expect(out).toMatch(/01-child\.101\.maps +line 10 +equal/);
  });

  it('reads a compressed trace, and standard input', async () => {
    const trace = readFileSync(TRACE);
    const { out } = await vmalens(['replay', '-'], { stdin: gzipSync(trace) });
    expect(out).toContain('100 → 101');
  });

  it('passes on no control character of a trace', async () => {
    const trace = Buffer.from(
      '7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000000\n' +
        '7 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x10000000, 4096, "\\33[2J\\342\\200\\256x") = 0\n' +
        '7 execve("/tmp/\\33]0;owned\\7", [], NULL) = 0\n' +
        '7 mmap(\u001b[31m\u202e\n',
    );
    for (const args of [
      [],
      ['--names', '--at', '2'],
      ['--at', '2'],
      ['--at', '2', '--maps'],
      ['--json'],
      ['--states'],
    ]) {
      const { out, err } = await vmalens(['replay', '-', ...args], { stdin: trace, terminal: 100 });
      expect(out).not.toBe('');
      expect(unsafeCharacters(out + err)).toEqual([]);
    }
  });
});

describe('what a summary tells once', () => {
  it('calls on unseen memory, and forks that share nothing', async () => {
    const calls = [1, 2, 3].map((i) => `7 munmap(0x${i}0000, 4096) = 0\n`).join('');
    const forks = [8, 9].map((pid) => `7 fork() = ${pid}\n`).join('');
    const { out } = await vmalens(['replay', '-'], { stdin: Buffer.from(calls + forks) });
    const protects = [4, 5].map((i) => `7 mprotect(0x${i}0000, 4096, PROT_READ) = 0\n`).join('');
    const unseen = await vmalens(['replay', '-'], { stdin: Buffer.from(protects) });
    expect(out).toContain('  2 forks share no name object: lines 4, 5\n');
    expect(unseen.out).toContain(
      '  2 calls worked on memory that the trace does not show; it is inferred: lines 1, 2\n',
    );
  });
});

describe('replay --at', () => {
  it('prints the map as /proc does', async () => {
    const { out, status } = await vmalens(['replay', TRACE, '--at', '8', '--pid', '101', '--maps']);
    expect(status).toBe(0);
    expect(out).toBe(readFileSync(path.join(POOL, '01-child.101.maps'), 'latin1'));
  });

  it('prints headers and flags as smaps does', async () => {
    const { lines } = await vmalens(['replay', TRACE, '--at', '8', '--pid', '101', '--smaps']);
    expect(lines[2]).toMatch(/^10000000-10001000 rw-p .* \[anon:pool\]$/);
    expect(lines[3]).toBe('VmFlags: rd wr mr mw me ac sl ');
  });

  it('gives a table, or the document of maps', async () => {
    const { out } = await vmalens(['replay', TRACE, '--at', '8', '--pid', '101']);
    expect(out).toContain('sealed [anon:pool]');
    const { vmas, source } = await json([TRACE, '--at', '8', '--pid', '101']);
    expect(vmas[1]).toMatchObject({ start: '10000000', sealed: true, name: 'pool' });
    expect(source).toMatchObject({ kind: 'replay', pid: 101, line: 8, kernel: '7.3', complete: true });
  });

  it('needs no pid where there is one process', async () => {
    expect((await vmalens(['replay', TRACE, '--at', '6', '--maps'])).status).toBe(0);
  });

  it('says that a map is not known in whole', async () => {
    const { err, status } = await vmalens(['replay', TRACE, '--no-snapshots', '--at', '6', '--maps']);
    expect(status).toBe(0);
    expect(err).toContain('is not known');
  });
});

describe('replay --names', () => {
  it('gives the objects in the documented shape', async () => {
    const { out } = await vmalens(['replay', TRACE, '--names', '--at', '8', '--json']);
    const names = JSON.parse(out) as { readonly holders: object[] }[];
    expect(names).toHaveLength(2);
    expect(names[0]).toMatchObject({ id: 1, text: 'pool', createdAt: { line: 5, pid: 100 }, refs: 4 });
    expect(names[0]?.holders).toEqual([
      { pid: 100, start: '10000000', end: '10001000' },
      { pid: 100, start: '10001000', end: '10004000' },
      { pid: 101, start: '10000000', end: '10001000' },
      { pid: 101, start: '10002000', end: '10004000' },
    ]);
    expect(names[1]).toMatchObject({ id: 2, text: 'child pool', createdAt: { line: 8, pid: 101 }, refs: 1 });
  });

  it('shows them to a person', async () => {
    const { out } = await vmalens(['replay', TRACE, '--names', '--at', '8']);
    expect(out).toMatch(/#1 {2}"pool" +4 {2}100 ●● {2}101 ●● +line 5 by 100/);
    expect((await vmalens(['replay', TRACE, '--names'])).out).toContain('no named memory');
  });
});

describe('replay --states', () => {
  it('is JSON Lines, for a fork the parent first', async () => {
    const { lines } = await vmalens(['replay', TRACE, '--states']);
    const states = lines.map((line) => JSON.parse(line) as StateDocument);
    expect(states.map(({ line, pid, call }) => [line, pid, call])).toEqual([
      [4, 100, 'mmap'],
      [5, 100, 'prctl'],
      [6, 100, 'mseal'],
      [7, 100, 'fork'],
      [7, 101, 'fork'],
      [8, 101, 'prctl'],
      [9, 101, 'munmap'],
    ]);
    expect(states[0]).toMatchObject({ recorded: '0x10000000', predicted: '?' });
    expect(states[6]).toMatchObject({ recorded: 'EPERM', predicted: 'EPERM' });
    expect(states[6]?.vmas[1]).toEqual({
      start: '10000000',
      end: '10001000',
      perms: 'rw-p',
      offset: '0',
      name: '[anon:pool]',
      flags: ['rd', 'wr', 'mr', 'mw', 'me', 'ac', 'sl'],
    });
  });

  it('keeps only what overlaps a range', async () => {
    const { lines } = await vmalens(['replay', TRACE, '--states', '--range', '0x10000fff-10001001']);
    expect((JSON.parse(lines.at(-1) ?? '') as StateDocument).vmas).toMatchObject([
      { start: '10000000' },
      { start: '10001000' },
    ]);
  });
});

describe('what replay refuses', () => {
  it.each([
    [['replay'], 2],
    [['replay', TRACE, '--kernel', 'latest'], 2],
    [['replay', TRACE, '--without', 'magic'], 2],
    [['replay', TRACE, '--rule', 'nonsense=1'], 2],
    [['replay', TRACE, '--rule', 'sealCheck=never'], 2],
    [['replay', TRACE, '--snapshot', 'x.maps'], 2],
    [['replay', TRACE, '--at', '0'], 2],
    [['replay', TRACE, '--at', '999'], 2],
    [['replay', TRACE, '--maps'], 2],
    [['replay', TRACE, '--at', '8', '--maps'], 2],
    [['replay', TRACE, '--at', '8', '--pid', '5', '--maps'], 2],
    [['replay', TRACE, '--range', '1-2'], 2],
    [['replay', TRACE, '--states', '--range', '2000-1000'], 2],
    [['replay', '/nonexistent.strace'], 3],
    [['replay', POOL], 3],
    [['replay', TRACE, '--snapshot', '/nonexistent.maps@3:100'], 3],
  ])('%j has status %i', async (args, expected) => {
    const { status, out, err } = await vmalens(args);
    expect(status).toBe(expected);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  it('has no replay for what is no trace, and says so in one line', async () => {
    const { status, err } = await vmalens(['replay', '-'], { stdin: Buffer.from('Dear diary,\nnothing.\n') });
    expect(status).toBe(3);
    expect(err.split('\n')).toHaveLength(2);
  });

  it('knows maps and smaps files, and what shows them', async () => {
    for (const file of [fixture('sealed.smaps'), path.join(POOL, '00-start.100.maps')]) {
      const { status, err } = await vmalens(['replay', file]);
      expect(status).toBe(3);
      expect(err).toContain('is a maps or smaps file');
      expect(err).toContain(`vmalens maps ${file}`);
    }
  });

  it('says how long the trace is, and whose pid it does not have', async () => {
    expect((await vmalens(['replay', TRACE, '--at', '999'])).err).toContain(
      'has 15 lines: --at 999 is its end',
    );
    const start = path.join(POOL, '00-start.100.maps');
    const { err, status } = await vmalens([
      'replay',
      TRACE,
      '--no-snapshots',
      '--snapshot',
      `${start}@2:4711`,
    ]);
    expect(status).toBe(0);
    expect(err).toContain('is of pid 4711');
  });

  it('takes rules by name', async () => {
    expect(
      (await vmalens(['replay', TRACE, '--rule', 'sealCheck=pre-pass', '--without', 'ksm,thp'])).status,
    ).toBe(0);
  });
});

describe('verify', () => {
  it('finds a recording equal', async () => {
    const { status, out } = await vmalens(['verify', POOL]);
    expect(status).toBe(0);
    expect(out).toMatch(/01-child\.101\.maps +line 10 +equal +5 mappings/);
    expect(out).toContain('1 equal, none differs');
  });

  it('shows the first difference with both sides, and has status 1', async () => {
    const folder = copyOfPool();
    const file = path.join(folder, '01-child.101.maps');
    writeFileSync(
      file,
      readFileSync(file, 'latin1').replace(
        'rw-p 00000000 00:00 0                                  [anon:child',
        'r--p 00000000 00:00 0                                  [anon:child',
      ),
    );
    const { status, out } = await vmalens(['verify', folder]);
    expect(status).toBe(1);
    expect(out).toMatch(/replayed {2}10001000-10002000 rw-p .*\[anon:child pool\]/);
    expect(out).toMatch(/snapshot {2}10001000-10002000 r--p .*\[anon:child pool\]/);
    const document = parsed((await vmalens(['verify', folder, '--json'])).out);
    expect(document).toMatchObject({ equal: 0, differing: 1 });
    expect(document.snapshots[1]).toMatchObject({
      firstDifference: { snapshot: expect.stringContaining('r--p') },
    });
  });

  it('keeps its status when nobody reads', async () => {
    const folder = copyOfPool();
    writeFileSync(
      path.join(folder, '01-child.101.maps'),
      '00400000-00401000 r-xp 00000000 fe:00 9 /srv/pool\n',
    );
    expect((await vmalens(['verify', folder], { closeAfter: 0 })).status).toBe(1);
  });

  it('does not pass for what it could not compare', async () => {
    const folder = copyOfPool();
    cpSync(path.join(POOL, '01-child.101.maps'), path.join(folder, '02-late.101.maps'));
    const { out, err } = await vmalens(['verify', folder]);
    expect(out).toContain('02-late.101.maps  not compared');
    expect(err).toContain('02-late.101.maps');
  });

  it('needs one trace and a snapshot', async () => {
    const folder = copyOfPool();
    rmSync(path.join(folder, '00-start.100.maps'));
    rmSync(path.join(folder, '01-child.101.maps'));
    expect(await vmalens(['verify', folder])).toMatchObject({ status: 3 });
    cpSync(TRACE, path.join(folder, 'second.strace'));
    expect((await vmalens(['verify', folder])).err).toContain(
      'holds 2 traces, not one recording: pool.strace, second',
    );
    rmSync(path.join(folder, 'second.strace'));
    rmSync(path.join(folder, 'pool.strace'));
    expect((await vmalens(['verify', folder])).status).toBe(3);
    expect((await vmalens(['verify', path.join(folder, 'none.strace')])).err).toContain('no such file');
  });

  it('takes the trace itself, where a folder holds several', async () => {
    const folder = copyOfPool();
    cpSync(TRACE, path.join(folder, 'second.strace'));
    expect((await vmalens(['verify', path.join(folder, 'pool.strace')])).status).toBe(0);
  });
});
