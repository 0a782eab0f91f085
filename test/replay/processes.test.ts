import { describe, expect, it } from 'vitest';
import type { Replay } from '../../src/replay/replay_types';
import { by, end, flags, fork, lifeId, mapped, maps, named, p, replayed, results } from './traced';

const THREAD = 'CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM';
const thread = (tid: number): string => `clone(child_stack=0x7f2000000000, flags=${THREAD}) = ${tid}`;

/** `id command parent children start-end` of every life. */
function lives(replay: Replay): string[] {
  return replay.lives.map(({ id, command, parentId, childIds, startLine, endLine }) =>
    [id, command || '?', parentId ?? 'root', `[${childIds.join(' ')}]`, `${startLine}-${endLine ?? ''}`].join(
      ' ',
    ),
  );
}

/** Texts of the names with the processes that hold them. */
function holders(replay: Replay, index: number): string[] {
  return replay
    .at(index)
    .names()
    .map(
      ({ object, refs, holders: all }) => `${object.text} ${refs}: ${all.map(({ pid }) => pid).join(' ')}`,
    );
}

describe('fork', () => {
  it('gives the child the same map; afterwards each has its own', () => {
    const replay = replayed([
      ...by(10, mapped(0, 2), named(0, 2, 'shared'), fork(11)),
      ...by(11, `munmap(${p(0)}, 4096) = 0`),
      ...by(10, mapped(8, 1)),
    ]);
    expect(maps(replay.at(2), 11)).toBe('0-2 rw-p [anon:shared]');
    expect(maps(end(replay), 11)).toBe('1-2 rw-p [anon:shared]');
    expect(maps(end(replay), 10)).toBe('0-2 rw-p [anon:shared], 8-9 rw-p');
    expect(lives(replay)).toEqual(['10@1 ? root [11@3] 1-', '11@3 ? 10@1 [] 3-']);
    expect(replay.steps[2]).toMatchObject({ kind: 'fork', childId: '11@3', recorded: '11' });
  });

  it('lines of the child may come before the result that made it', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), 'clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>'),
      ...by(11, mapped(4, 1)),
      ...by(10, '<... clone resumed>) = 11', mapped(8, 1)),
    ]);
    expect(maps(end(replay), 11)).toBe('0-1 rw-p, 4-5 rw-p');
    expect(maps(end(replay), 10)).toBe('0-1 rw-p, 8-9 rw-p');
    expect(lives(replay)).toEqual(['10@1 ? root [11@4] 1-', '11@4 ? 10@1 [] 4-']);
    // The fork is one step, before the first of the child.
    expect(replay.steps.map(({ call, pid }) => `${call} ${pid}`)).toEqual([
      'mmap 10',
      'clone 10',
      'mmap 11',
      'mmap 10',
    ]);
  });

  it('even a grandchild may be seen before the two results', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), 'fork( <unfinished ...>'),
      ...by(11, 'fork( <unfinished ...>'),
      ...by(12, mapped(4, 1)),
      ...by(11, '<... fork resumed>) = 12'),
      ...by(10, '<... fork resumed>) = 11'),
    ]);
    expect(maps(end(replay), 12)).toBe('0-1 rw-p, 4-5 rw-p');
    expect(replay.lives.map(({ pid, parentId }) => [pid, parentId?.split('@')[0]])).toEqual([
      [10, undefined],
      [11, '10'],
      [12, '11'],
    ]);
  });

  it('the result 0 in the child is no fork of its own', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), fork(11)),
      ...by(11, '<... clone resumed>) = 0', mapped(4, 1)),
    ]);
    expect(replay.lives).toHaveLength(2);
    expect(maps(end(replay), 11)).toBe('0-1 rw-p, 4-5 rw-p');
  });

  it('a number in the namespace of the tracer counts', () => {
    const replay = replayed([
      ...by(100, mapped(0, 1), "clone(child_stack=NULL, flags=SIGCHLD) = 5 /* 101 in strace's PID NS */"),
      ...by(101, `munmap(${p(0)}, 4096) = 0`),
    ]);
    expect(replay.lives.map(({ pid }) => pid)).toEqual([100, 101]);
    expect([maps(end(replay), 100), maps(end(replay), 101)]).toEqual(['0-1 rw-p', '']);
  });

  it('a fork that fails makes nothing', () => {
    const replay = replayed(by(10, mapped(0, 1), 'fork() = -1 EAGAIN (Resource temporarily unavailable)'));
    expect(replay.lives).toHaveLength(1);
    expect(results(replay)[1]).toBe('2 fork EAGAIN, predicted ?');
    expect(replay.forks).toEqual([]);
  });

  it('tells what each fork shares', () => {
    const replay = replayed([
      ...by(10, mapped(0, 4), named(0, 4, 'arena'), `mprotect(${p(1)}, 4096, PROT_READ) = 0`),
      ...by(10, mapped(8, 1), named(8, 1, 'log'), `madvise(${p(8)}, 4096, MADV_DONTFORK) = 0`, fork(11)),
      ...by(11, fork(12)),
    ]);
    const told = replay.forks.map(({ childId, shared, cost }) => ({
      childId,
      shared: shared.map(({ object, childRefs, refs }) => `${object.text} ${childRefs} of ${refs}`),
      cost,
    }));
    // Three pieces, each with "arena" and a NUL where every VMA has its own copy.
    const cost = { references: 3, copies: 3, copyBytes: 18 };
    expect(told).toEqual([
      { childId: '11@7', shared: ['arena 3 of 6'], cost },
      { childId: '12@8', shared: ['arena 3 of 9'], cost },
    ]);
  });
});

describe('one address space for several', () => {
  it('vfork: what the child does its parent sees, until the child runs another program', () => {
    const replay = replayed([
      ...by(10, mapped(0, 2), named(0, 2, 'before'), 'vfork( <unfinished ...>'),
      ...by(
        11,
        `munmap(${p(0)}, 4096) = 0`,
        'execve("/bin/other", ["other"], 0x7fff00000000 /* 0 vars */) = 0',
      ),
      ...by(10, '<... vfork resumed>) = 11'),
      ...by(11, mapped(0, 1)),
    ]);
    expect(holders(replay, 3)).toEqual(['before 1: 10']);
    expect(maps(replay.at(3), 11)).toBe('1-2 rw-p [anon:before]');
    expect(maps(end(replay), 10)).toBe('1-2 rw-p [anon:before]');
    expect(maps(end(replay), 11)).toBe('0-1 rw-p');
    expect(replay.forks[0]).toMatchObject({ shared: [], cost: { references: 0, copies: 0, copyBytes: 0 } });
    expect(replay.lives.map(({ command }) => command)).toEqual(['', 'other']);
  });

  it('vfork: a child that ends leaves the memory to its parent', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), 'vfork( <unfinished ...>'),
      ...by(11, mapped(4, 1), 'exit_group(1) = ?', '+++ exited with 1 +++'),
      ...by(10, '<... vfork resumed>) = 11'),
    ]);
    expect(maps(end(replay), 10)).toBe('0-1 rw-p, 4-5 rw-p');
    expect(end(replay).lives.map(({ pid }) => pid)).toEqual([10]);
  });

  it('CLONE_VM without CLONE_THREAD is the same', () => {
    const replay = replayed([
      ...by(
        10,
        mapped(0, 1),
        'clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f2000000000, stack_size=0x9000}, 88) = 11',
      ),
      ...by(11, mapped(4, 1)),
      ...by(10, mapped(8, 1)),
    ]);
    expect(maps(end(replay), 11)).toBe('0-1 rw-p, 4-5 rw-p, 8-9 rw-p');
    expect(maps(end(replay), 10)).toBe(maps(end(replay), 11));
  });

  it('threads: any of them may call', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), thread(12)),
      ...by(12, mapped(4, 1), thread(13)),
      ...by(13, `munmap(${p(0)}, 4096) = 0`),
    ]);
    expect(lives(replay)).toEqual(['10@1 ? root [] 1-']);
    expect(replay.lives[0]?.threads).toEqual([12, 13]);
    expect(maps(end(replay), 10)).toBe('4-5 rw-p');
    expect(replay.steps.map(({ kind, pid, lifeId: life }) => `${kind} ${pid} ${life}`)).toEqual([
      'map 10 10@1',
      'thread 10 10@1',
      'map 12 10@1',
      'thread 12 10@1',
      'unmap 13 10@1',
    ]);
  });

  it('a fork by a thread is one of its process', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), thread(12)),
      ...by(12, fork(14)),
      ...by(14, mapped(4, 1)),
    ]);
    expect(lives(replay)).toEqual(['10@1 ? root [14@3] 1-', '14@3 ? 10@1 [] 3-']);
    expect(replay.lives[0]?.threads).toEqual([12]);
    expect(maps(end(replay), 14)).toBe('0-1 rw-p, 4-5 rw-p');
  });

  it('an unmap that another thread had begun makes room for a new map', () => {
    const replay = replayed([
      ...by(10, mapped(0, 4), thread(12)),
      ...by(12, `munmap(${p(0)}, 8192 <unfinished ...>`),
      ...by(10, `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(1)}`),
      ...by(12, '<... munmap resumed>) = 0'),
    ]);
    expect(maps(end(replay))).toBe('1-2 r--p, 2-4 rw-p');
    expect(replay.steps.map(({ call, mismatch }) => [call, mismatch])).toEqual([
      ['mmap', undefined],
      ['clone', undefined],
      ['munmap', undefined],
      ['mmap', undefined],
    ]);
  });
});

describe('exec', () => {
  it('begins with nothing: no maps, names, seals', () => {
    const replay = replayed([
      ...by(10, mapped(0, 2), named(0, 2, 'old'), `mseal(${p(0)}, 8192, 0) = 0`, fork(11)),
      ...by(11, 'execve("/usr/bin/tool", ["tool"], 0x7fff00000000 /* 3 vars */) = 0', mapped(0, 1)),
    ]);
    expect(maps(replay.at(4), 11)).toBe('');
    expect(end(replay).complete(lifeId(end(replay), 11))).toBe(false);
    expect(maps(end(replay), 11)).toBe('0-1 rw-p');
    expect(holders(replay, 5)).toEqual(['old 1: 10']);
    expect(replay.lives.map(({ command }) => command)).toEqual(['', 'tool']);
    expect(replay.steps[5]?.mismatch).toBeUndefined();
  });

  // Run on 6.12.117, 6.18.44 and 7.3.4.
  it.each([
    ['PR_MDWE_REFUSE_EXEC_GAIN', '-1 EACCES (Permission denied)'],
    ['PR_MDWE_REFUSE_EXEC_GAIN|PR_MDWE_NO_INHERIT', '0'],
  ])('keeps what prctl asked for: %s', (mdwe, result) => {
    const replay = replayed([
      ...by(
        10,
        `prctl(PR_SET_MDWE, ${mdwe}, 0, 0, 0) = 0`,
        'prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) = 0',
        'execve("/bin/x", ["x"], 0x7ffc00000000 /* 0 vars */) = 0',
        mapped(0, 1),
        `mprotect(${p(0)}, 4096, PROT_READ|PROT_EXEC) = ${result}`,
      ),
    ]);
    expect(results(replay).at(-1)).not.toContain('predicted');
    expect(flags(end(replay))).toContain(' mg');
  });

  it('that fails changes nothing', () => {
    const replay = replayed(
      by(
        10,
        mapped(0, 2),
        'execve("/bin/none", ["none"], 0x7fff00000000 /* 3 vars */) = -1 ENOENT (No such file or directory)',
      ),
    );
    expect(maps(end(replay))).toBe('0-2 rw-p');
    expect(replay.lives[0]?.command).toBe('');
  });

  it('by a thread goes on under the number of the first one', () => {
    const replay = replayed([
      ...by(20, mapped(0, 1), thread(21), 'futex(0x7f2000000000, FUTEX_WAIT, 1, NULL <unfinished ...>'),
      ...by(21, 'execve("/bin/b", ["b"], 0x7fff00000000 /* 0 vars */ <unfinished ...>'),
      ...by(20, '+++ superseded by execve in pid 21 +++', '<... execve resumed>) = 0', mapped(4, 1)),
    ]);
    expect(lives(replay)).toEqual(['20@1 b root [] 1-']);
    expect(maps(end(replay))).toBe('4-5 rw-p');
  });

  it('names the command, and forks hand the name on', () => {
    const replay = replayed([
      ...by(10, 'execve("/srv/app/server", ["server"], 0x7fff00000000 /* 0 vars */) = 0', fork(11)),
    ]);
    expect(replay.lives.map(({ command }) => command)).toEqual(['server', 'server']);
  });
});

describe('exit', () => {
  it('of all threads at once', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), named(0, 1, 'x'), thread(12), 'exit_group(0) = ?'),
      ...by(12, '+++ exited with 0 +++'),
      ...by(10, '+++ exited with 0 +++'),
    ]);
    expect(end(replay).lives).toEqual([]);
    expect(holders(replay, 2)).toEqual(['x 1: 10']);
    expect(holders(replay, 3)).toEqual([]);
    expect(lives(replay)).toEqual(['10@1 ? root [] 1-4']);
    expect(replay.steps.filter(({ kind }) => kind === 'exit')).toHaveLength(1);
  });

  it('of one thread leaves the others their memory, also when it is the first', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), thread(12), 'exit(0) = ?', '+++ exited with 0 +++'),
      ...by(12, mapped(4, 1), 'exit(0) = ?', '+++ exited with 0 +++'),
    ]);
    expect(maps(replay.at(replay.stepAtLine(5)), 10)).toBe('0-1 rw-p, 4-5 rw-p');
    expect(end(replay).lives).toEqual([]);
    expect(lives(replay)).toEqual(['10@1 ? root [] 1-7']);
  });

  it('by a signal', () => {
    const replay = replayed(
      by(
        10,
        mapped(0, 1),
        '--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---',
        '+++ killed by SIGSEGV +++',
      ),
    );
    expect(end(replay).lives).toEqual([]);
    expect(replay.steps.at(-1)).toMatchObject({ kind: 'exit', line: 3 });
    expect(replay.steps.at(-1)?.title).toContain('SIGSEGV');
  });

  it('of a parent leaves its children', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), named(0, 1, 'x'), fork(11), 'exit_group(0) = ?', '+++ exited with 0 +++'),
      ...by(11, mapped(4, 1)),
    ]);
    expect(maps(end(replay), 11)).toBe('0-1 rw-p [anon:x], 4-5 rw-p');
    expect(holders(replay, replay.steps.length - 1)).toEqual(['x 1: 11']);
  });
});

describe('numbers that come again', () => {
  it('are lives of their own', () => {
    const replay = replayed([
      ...by(100, mapped(0, 1), 'fork() = 101'),
      ...by(
        101,
        `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(4)}`,
        '+++ exited with 0 +++',
      ),
      ...by(100, 'fork() = 99'),
      ...by(99, '+++ exited with 0 +++'),
      ...by(100, 'fork() = 101'),
      ...by(101, `munmap(${p(4)}, 4096) = 0`),
    ]);
    expect(lives(replay)).toEqual([
      '100@1 ? root [101@2 99@5 101@7] 1-',
      '101@2 ? 100@1 [] 2-4',
      '99@5 ? 100@1 [] 5-6',
      '101@7 ? 100@1 [] 7-',
    ]);
    expect(maps(replay.at(2), 101)).toBe('0-1 rw-p, 4-5 r--p');
    // The second begins from its parent's map, without what the first mapped.
    expect(end(replay).vmas('101@2')).toEqual([]);
    expect(maps(end(replay), 101)).toBe('0-1 rw-p');
  });

  it('of a thread that is a process later', () => {
    const replay = replayed([
      ...by(10, mapped(0, 1), thread(12)),
      ...by(12, 'exit(0) = ?', '+++ exited with 0 +++'),
      ...by(10, fork(12)),
      ...by(12, `munmap(${p(0)}, 4096) = 0`),
    ]);
    expect([maps(end(replay), 10), maps(end(replay), 12)]).toEqual(['0-1 rw-p', '']);
    expect(lives(replay)).toEqual(['10@1 ? root [12@5] 1-', '12@5 ? 10@1 [] 5-']);
  });
});

describe('a process that was there before', () => {
  it('is a root whose map is not known', () => {
    const replay = replayed([...by(7, mapped(0, 1)), ...by(9, mapped(4, 1))]);
    expect(lives(replay)).toEqual(['7@1 ? root [] 1-', '9@2 ? root [] 2-']);
    expect(end(replay).complete('7@1')).toBe(false);
  });

  it('of which only the end is seen is none', () => {
    const replay = replayed([...by(7, mapped(0, 1)), ...by(9, '+++ exited with 0 +++')]);
    expect(replay.lives.map(({ pid }) => pid)).toEqual([7]);
  });
});
