import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import type { SnapshotInput } from '../../src/replay/replay_types';
import { by, end, flags, fork, mapped, maps, p, replayed } from './traced';

/** What programs of others showed that nobody had tuned the simulation for. */

/** Snapshot of process 10 after `line`; a mapping is `pages perms path|flags`. */
function shot(line: number, ...mappings: readonly string[]): SnapshotInput {
  const text = mappings.map((mapping) => {
    const [header = '', vmFlags = ''] = mapping.split('|');
    const [pages = '', perms = '', ...path] = header.split(' ');
    const [start = 0, until = 0] = pages.split('-').map(Number);
    const range = `${p(start).slice(2)}-${p(until).slice(2)}`;
    return `${range} ${perms} 00000000 00:00 0 ${path.join(' ')}\nAnonymous:  0 kB\nVmFlags: ${vmFlags} \n`;
  });
  return { label: `at ${line}`, pid: 10, line, entries: parseMaps(text.join('')).entries };
}

describe('secret memory', () => {
  const made = (flagsOfMap: string, result: string): string[] =>
    by(10, 'memfd_secret(0) = 3', `mmap(NULL, 4096, PROT_READ|PROT_WRITE, ${flagsOfMap}, 3, 0) = ${result}`);

  it('is locked, not dumped, not executable, and shared only', () => {
    const replay = replayed(made('MAP_SHARED', p(0)), { kernel: '6.18' });
    expect(maps(end(replay))).toBe('0-1 rw-s /secretmem (deleted)');
    expect(flags(end(replay))).toBe('0-1 rd wr sh mr mw ms lo dd');
    const refused = replayed(made('MAP_PRIVATE', '-1 EINVAL (Invalid argument)'), { kernel: '6.18' });
    expect(refused.steps[0]).toMatchObject({ predicted: 'EINVAL' });
  });

  it('has no mark of the lock since 7.2', () => {
    expect(flags(end(replayed(made('MAP_SHARED', p(0)))))).toBe('0-1 rd wr sh mr mw ms dd');
  });
});

describe('advice', () => {
  it('through PIDFD_SELF goes to the caller', () => {
    const advice = `[{iov_base=${p(0)}, iov_len=4096}], 1, MADV_DONTFORK, 0`;
    for (const self of ['-10000', '-10001', '-20000']) {
      const replay = replayed(by(10, mapped(0, 1), `process_madvise(${self}, ${advice}) = 4096`));
      expect(replay.steps[1]).toMatchObject({ predicted: '4096' });
      expect(flags(end(replay))).toBe('0-1 rd wr mr mw me dc ac');
    }
  });

  it('through PIDFD_SELF finds no descriptor where there is none such', () => {
    const call = `process_madvise(-10000, [{iov_base=${p(0)}, iov_len=4096}], 1, MADV_COLD, 0)`;
    const replay = replayed(by(10, mapped(0, 1), `${call} = -1 EBADF (Bad file descriptor)`), {
      kernel: '6.12',
    });
    expect(replay.steps[1]).toMatchObject({ predicted: 'EBADF' });
    expect(replay.steps[1]?.mismatch).toBeUndefined();
  });

  it('through a pidfd is checked as the kernel does', () => {
    // Lines of strace on 6.18.44; every result is as predicted.
    const cold = (fd: string, iov: string, flags = '0') =>
      `process_madvise(${fd}, [${iov}], 1, MADV_COLD, ${flags})`;
    const page = `{iov_base=${p(0)}, iov_len=4096}`;
    const negative = `{iov_base=${p(0)}, iov_len=18446744073709551615}`;
    const lines = [
      ...by(10, mapped(0, 1), 'pidfd_open(10, 0) = 3<anon_inode:[pidfd]>', fork(11), 'pidfd_open(11, 0) = 4'),
      `10 ${cold('-1', page)} = -1 EBADF (Bad file descriptor)`,
      `10 ${cold('1</tmp/out>', page)} = -1 EBADF (Bad file descriptor)`,
      `10 ${cold('-1', page, '0x1')} = -1 EINVAL (Invalid argument)`,
      `10 ${cold('-1', negative)} = -1 EINVAL (Invalid argument)`,
      `10 ${cold('3', '{iov_base=0x7ffffffff000, iov_len=8192}')} = -1 EFAULT (Bad address)`,
      `10 ${cold('3<anon_inode:[pidfd]>', page)} = 4096`,
      `10 ${cold('4<anon_inode:[pidfd]>', page)} = 4096`,
      '11 +++ killed by SIGKILL +++',
      `10 ${cold('4', page)} = -1 ESRCH (No such process)`,
      `10 ${cold('4', negative)} = -1 EINVAL (Invalid argument)`,
    ];
    const calls = replayed(lines, { kernel: '6.18' }).steps.filter((step) => step.call === 'process_madvise');
    expect(calls).toHaveLength(9);
    for (const { recorded, predicted } of calls) expect(predicted).toBe(recorded);
  });

  it('to collapse pages succeeds or fails with the state of pages', () => {
    const collapse = `madvise(${p(0)}, 2097152, MADV_COLLAPSE)`;
    const replay = replayed(by(10, mapped(0, 512), `${collapse} = 0`, `${collapse} = -1 EINVAL (x)`));
    expect(replay.steps.map(({ predicted, mismatch }) => [predicted, mismatch])).toEqual([
      [p(0), undefined],
      ['?', undefined],
      ['?', undefined],
    ]);
  });
});

describe('PR_SET_MEMORY_MERGE', () => {
  it('leaves the gate page alone, which is in no map', () => {
    const seed = shot(1, '0-1 rw-p |rd wr mr mw me ac', '4-5 --xp [vsyscall]|ex');
    const replay = replayed(
      by(10, 'getpid() = 10', 'prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) = 0', mapped(8, 1)),
      {
        snapshots: [seed],
      },
    );
    expect(flags(end(replay))).toBe('0-1 rd wr mr mw me ac mg, 4-5 ex, 8-9 rd wr mr mw me ac mg');
  });
});

describe('an unlinked file', () => {
  const open = 'openat(AT_FDCWD, "/tmp/x", O_RDWR) = 3';
  const map = (page: number, note: string): string =>
    `mmap(${p(page)}, 4096, PROT_READ, MAP_SHARED|MAP_FIXED, 3${note}, ${page * 4096}) = ${p(page)}`;

  it('is seen at a later mapping of its descriptor', () => {
    const replay = replayed(by(10, open, map(0, '</tmp/x>(deleted)')));
    expect(maps(end(replay))).toBe('0-1 r--s /tmp/x (deleted)');
  });

  it('is learned from a snapshot for every mapping of that open file, and stays the same file', () => {
    const line = '|rd sh mr mw me ms';
    const replay = replayed(by(10, 'getpid() = 10', open, map(0, ''), 'getpid() = 10', map(1, '')), {
      snapshots: [
        shot(1, '9-10 rw-p |rd wr mr mw me ac'),
        shot(4, `0-1 r--s /tmp/x (deleted)${line}`, '9-10 rw-p |rd wr mr mw me ac'),
      ],
    });
    expect(replay.checks.map(({ outcome, settled }) => [outcome, settled])).toEqual([
      ['seed', 0],
      ['equal', 1],
    ]);
    expect(maps(end(replay))).toBe('0-2 r--s /tmp/x (deleted), 9-10 rw-p');
  });
});

describe('a heap that a snapshot shows executable', () => {
  it('goes on so, also in a child', () => {
    const seed = shot(2, '0-1 rwxp [heap]|rd wr ex mr mw me ac');
    const calls = [`brk(NULL) = ${p(0)}`, `brk(${p(1)}) = ${p(1)}`, fork(11)];
    const replay = replayed([...by(10, ...calls), `11 brk(${p(2)}) = ${p(2)}`], { snapshots: [seed] });
    expect(maps(end(replay), 11)).toBe('0-2 rwxp [heap]');
  });
});

describe('a snapshot that one thread reads', () => {
  it('may show what a call of another thread did before its result was seen', () => {
    const held = ['0-1 rw-p |rd wr mr mw me ac', '4-5 rw-p |rd wr mr mw me ac'] as const;
    const unmap = `munmap(${p(4)}, 4096`;
    const lines = [
      ...by(10, mapped(0, 1), mapped(4, 1), 'clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 11'),
      `11 ${unmap} <unfinished ...>`,
      '10 openat(AT_FDCWD, "/proc/self/smaps", O_RDONLY) = 3',
      '10 close(3) = 0',
      '11 <... munmap resumed>) = 0',
    ];
    const after = { ...shot(5, held[0]), untilLine: 6 };
    const replay = replayed(lines, { snapshots: [shot(2, ...held), after] });
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'equal']);
    // One that was read before the call began shows no such thing.
    const early = replayed(lines, { snapshots: [shot(2, ...held), shot(3, held[0])] });
    expect(early.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'differs']);
  });

  it('may have been read in pieces, each of which was there at one moment', () => {
    const rw = 'rd wr mr mw me ac';
    const held = [`0-1 rw-p |${rw}`, `4-5 rw-p |${rw}`] as const;
    const lines = by(
      10,
      mapped(0, 1),
      mapped(4, 1),
      'openat(AT_FDCWD, "/proc/self/smaps", O_RDONLY) = 3',
      `munmap(${p(0)}, 4096) = 0`,
      mapped(8, 1),
      'close(3) = 0',
    );
    const read = (...mappings: readonly string[]): string[] => {
      const snapshot = { ...shot(3, ...mappings), untilLine: 6 };
      const replay = replayed(lines, { snapshots: [shot(2, ...held), snapshot] });
      return replay.checks.map(
        ({ outcome, inPieces }) => `${outcome}${inPieces === true ? ' in pieces' : ''}`,
      );
    };
    // What went after it was written, with what came later.
    expect(read(...held, `8-9 rw-p |${rw}`)).toEqual(['seed', 'equal in pieces']);
    // What was there all the time is in it, and nothing that never was.
    expect(read(held[0], `8-9 rw-p |${rw}`)).toEqual(['seed', 'differs']);
    expect(read(...held, `12-13 rw-p |${rw}`, `8-9 rw-p |${rw}`)).toEqual(['seed', 'differs']);
  });
});
