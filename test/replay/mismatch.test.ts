import { describe, expect, it } from 'vitest';
import type { Mismatch } from '../../src/replay/replay_types';
import { parseMaps } from '../../src/procfs/maps';
import { by, end, flags, lifeId, mapped, maps, named, p, replayed, results } from './traced';

type Replay = ReturnType<typeof replayed>;

function codes(replay: Replay): (Mismatch['code'] | undefined)[] {
  return replay.steps.map(({ mismatch }) => mismatch?.code);
}

/** Which VMAs are concluded, not seen. */
function inferred(replay: Replay): boolean[] {
  const instant = end(replay);
  return instant.vmas(lifeId(instant)).map((vma) => vma.inferred);
}

const unaligned = p(0).replace(/0$/, '1');

describe('memory that the trace does not show', () => {
  it.each([
    ['mprotect', `mprotect(${p(0)}, 8192, PROT_READ) = 0`, '0-2 r--p'],
    ['madvise', `madvise(${p(0)}, 8192, MADV_DONTFORK) = 0`, '0-2 rw-p'],
    ['mseal', `mseal(${p(0)}, 8192, 0) = 0`, '0-2 rw-p'],
    ['prctl', named(0, 2, 'x'), '0-2 rw-p [anon:x]'],
    ['mlock', `mlock(${p(0)}, 8192) = 0`, '0-2 rw-p'],
    ['mremap', `mremap(${p(0)}, 8192, 8192, MREMAP_MAYMOVE|MREMAP_FIXED, ${p(8)}) = ${p(8)}`, '8-10 rw-p'],
  ])('%s worked on it: it must be there', (call, line, after) => {
    const replay = replayed([line]);
    expect(codes(replay)).toEqual(['unseen-memory']);
    expect(replay.steps[0]?.call).toBe(call);
    expect(maps(end(replay))).toBe(after);
    expect(inferred(replay)).toEqual([true]);
  });

  it('only the holes are filled', () => {
    // What was seen stays apart from what is concluded.
    const replay = replayed([mapped(1, 1, 'PROT_READ'), `mprotect(${p(0)}, 12288, PROT_NONE) = 0`]);
    expect(codes(replay)).toEqual([undefined, 'unseen-memory']);
    expect(maps(end(replay))).toBe('0-1 ---p, 1-2 ---p, 2-3 ---p');
    expect(inferred(replay)).toEqual([true, false, true]);
  });

  it('is learned once', () => {
    const replay = replayed([
      `mprotect(${p(0)}, 8192, PROT_READ) = 0`,
      `mprotect(${p(0)}, 4096, PROT_NONE) = 0`,
    ]);
    expect(codes(replay)).toEqual(['unseen-memory', undefined]);
  });

  it('the default policy says nothing of it where some memory is there: it passes over holes', () => {
    const mbind = (policy: string): string => `mbind(${p(0)}, 8192, ${policy}, 0) = 0`;
    const bound = replayed([mapped(0, 1), mbind('MPOL_BIND, [0x00000000000001], 65')]);
    expect(codes(bound)).toEqual([undefined, 'unseen-memory']);
    expect(inferred(bound)).toEqual([false, true]);
    const reset = replayed([mapped(0, 1), mbind('MPOL_DEFAULT, NULL, 0')]);
    expect(codes(reset)).toEqual([undefined, undefined]);
    expect(maps(end(reset))).toBe('0-1 rw-p');
  });

  it('munmap says nothing of it: a hole is nothing to munmap', () => {
    const replay = replayed([`munmap(${p(0)}, 8192) = 0`]);
    expect(codes(replay)).toEqual([undefined]);
    expect(maps(end(replay))).toBe('');
  });

  it('a map that a snapshot has told whole holds nothing unseen', () => {
    const snapshot = {
      label: 's',
      pid: 5,
      line: 1,
      entries: parseMaps('7f1000000000-7f1000001000 rw-p 00000000 00:00 0 \n').entries,
    };
    const replay = replayed(by(5, 'getpid() = 5', `mprotect(${p(4)}, 4096, PROT_READ) = 0`), {
      snapshots: [snapshot],
    });
    expect(replay.steps.map(({ call, mismatch }) => [call, mismatch?.code])).toEqual([
      ['snapshot', undefined],
      ['mprotect', 'unexplained'],
    ]);
    expect(maps(end(replay))).toBe('0-1 rw-p');
  });
});

describe('results that the kernel never gave', () => {
  it('an injected result changes nothing, success or error', () => {
    const replay = replayed([
      `mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(0)} (DELAYED)`,
      `munmap(${p(0)}, 8192) = 0 (INJECTED)`,
      `mmap(${p(0)}, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory) (INJECTED)`,
    ]);
    expect(codes(replay)).toEqual([undefined, 'injected', 'injected']);
    expect(maps(end(replay))).toBe('0-2 rw-p');
  });

  it('a result that is missing changes nothing, and says so', () => {
    const replay = replayed(
      by(5, mapped(0, 2), `munmap(${p(0)}, 4096 <unfinished ...>`, '+++ killed by SIGKILL +++'),
    );
    expect(results(replay)[1]).toBe('2 munmap ?, predicted 0 (unfinished)');
    expect(maps(replay.at(1))).toBe('0-2 rw-p');
  });
});

describe('a thread that was not traced', () => {
  it('must have unmapped what is in the way of a new map', () => {
    const map = `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(1)}`;
    const replay = replayed([mapped(0, 3), map]);
    expect(codes(replay)).toEqual([undefined, 'untraced-thread']);
    expect(maps(end(replay))).toBe('0-1 rw-p, 1-2 r--p, 2-3 rw-p');
  });

  it('even where it is sealed', () => {
    const map = `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(0)}`;
    const replay = replayed([mapped(0, 1), `mseal(${p(0)}, 4096, 0) = 0`, map]);
    expect(codes(replay)).toEqual([undefined, undefined, 'untraced-thread']);
    expect(maps(end(replay))).toBe('0-1 r--p');
  });

  it('or from where mremap moved to', () => {
    const replay = replayed([
      mapped(0, 1),
      mapped(8, 2, 'PROT_READ'),
      `mremap(${p(0)}, 4096, 8192, MREMAP_MAYMOVE) = ${p(8)}`,
    ]);
    expect(codes(replay)).toEqual([undefined, undefined, 'untraced-thread']);
    expect(maps(end(replay))).toBe('8-10 rw-p');
  });
});

describe('limits that no trace shows', () => {
  it.each([
    [
      'mmap',
      `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory)`,
    ],
    ['mprotect', `mprotect(${p(0)}, 4096, PROT_READ) = -1 ENOMEM (Cannot allocate memory)`],
    ['madvise', `madvise(${p(0)}, 4096, MADV_DONTFORK) = -1 EAGAIN (Resource temporarily unavailable)`],
  ])('%s: nothing is changed', (_, line) => {
    const replay = replayed([mapped(0, 2), line]);
    expect(codes(replay)).toEqual([undefined, 'limit-unknown']);
    expect(maps(end(replay))).toBe('0-2 rw-p');
    expect(replay.steps[1]?.denied?.reason).toContain('a limit that the trace does not show');
  });
});

describe('others who have a say', () => {
  it.each([
    ['a driver', `mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = -1 ENODEV (No such device)`],
    [
      'a security module',
      `mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 EACCES (Permission denied)`,
    ],
    ['a filter', `mprotect(${p(0)}, 4096, PROT_READ) = -1 ENOSYS (Function not implemented)`],
  ])('%s refuses: nothing is changed', (_, line) => {
    const replay = replayed([mapped(0, 2), line]);
    expect(codes(replay)).toEqual([undefined, 'driver-or-lsm']);
    expect(maps(end(replay))).toBe('0-2 rw-p');
  });

  it('are not asked when memory of a file is locked', () => {
    const file = [
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = ${p(0)}`,
    ];
    const locked = `mlock(${p(0)}, 4096) = -1 EINVAL (Invalid argument)`;
    expect(codes(replayed([...file, locked]))).toEqual([undefined, 'unexplained']);
    const advised = `madvise(${p(0)}, 4096, MADV_WILLNEED) = -1 EINVAL (Invalid argument)`;
    expect(codes(replayed([...file, advised]))).toEqual([undefined, 'driver-or-lsm']);
  });

  it('are not asked about readable anonymous memory', () => {
    const line = `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 EACCES (Permission denied)`;
    expect(codes(replayed([mapped(0, 2), line]))).toEqual([undefined, 'unexplained']);
  });
});

describe('threads whose lines stand in another order than they acted', () => {
  const thread = `clone(child_stack=0x1000, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND) = 6`;
  const remap = `mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(0)}`;
  const unmap = `munmap(${p(0)}, 4096) = 0`;

  it('a traced thread unmapped what is in the way, on a later line', () => {
    const replay = replayed([...by(5, thread, mapped(0, 1)), ...by(6, remap), ...by(5, unmap)]);
    expect(codes(replay).slice(0, 3)).toEqual([undefined, undefined, 'order']);
  });

  it('a thread that did nothing there is no reason', () => {
    const elsewhere = `munmap(${p(9)}, 4096) = 0`;
    const replay = replayed([...by(5, thread, mapped(0, 1)), ...by(6, remap), ...by(5, elsewhere)]);
    expect(codes(replay).slice(0, 3)).toEqual([undefined, undefined, 'untraced-thread']);
  });
});

describe('borders that depend on who wrote where', () => {
  it('mremap over memory that may be two mappings', () => {
    const replay = replayed([
      mapped(0, 2),
      `mremap(${p(0)}, 8192, 4096, 0) = -1 EFAULT (Bad address)`,
      `munmap(${p(0)}, 4096) = -1 EFAULT (Bad address)`,
    ]);
    expect(codes(replay)).toEqual([undefined, 'unseen-fault', 'unexplained']);
  });
});

describe('memory that is not shown and refuses', () => {
  it.each([
    ['munmap', `munmap(${p(4)}, 4096) = -1 EPERM (Operation not permitted)`],
    ['mprotect', `mprotect(${p(4)}, 4096, PROT_READ) = -1 EPERM (Operation not permitted)`],
  ])('%s: it may be sealed there', (_, line) => {
    expect(codes(replayed([mapped(0, 2), line]))).toEqual([undefined, 'unseen-memory']);
  });
});

describe('what nothing explains', () => {
  it('a refusal that is no limit, though its errno is that of one', () => {
    const none = `mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ${p(0)}`;
    const replay = replayed([none, `mlock(${p(0)}, 4096) = 0`]);
    expect(results(replay)[1]).toBe('2 mlock 0, predicted ENOMEM (unexplained)');
  });

  it('an error that the rules do not know: nothing is changed', () => {
    const replay = replayed([mapped(0, 2), `munmap(${p(0)}, 4096) = -1 EFAULT (Bad address)`]);
    expect(codes(replay)).toEqual([undefined, 'unexplained']);
    expect(replay.steps[1]?.mismatch?.text).toBe(
      'the record says EFAULT, the rules predict success; nothing was changed',
    );
    expect(maps(end(replay))).toBe('0-2 rw-p');
  });

  it('another error than the one of the rules', () => {
    const replay = replayed([
      mapped(0, 2),
      `munmap(${unaligned}, 4096) = -1 EPERM (Operation not permitted)`,
    ]);
    expect(results(replay)[1]).toBe('2 munmap EPERM, predicted EINVAL (unexplained)');
    expect(replay.steps[1]?.denied?.errno).toBe('EPERM');
  });

  it('a seal that did not hold: the record is the truth', () => {
    const replay = replayed([
      mapped(0, 3),
      `mseal(${p(0)}, 12288, 0) = 0`,
      `munmap(${p(0)}, 4096) = 0`,
      `mprotect(${p(1)}, 4096, PROT_READ) = 0`,
    ]);
    expect(codes(replay)).toEqual([undefined, undefined, 'unexplained', 'unexplained']);
    expect(maps(end(replay))).toBe('1-2 r--p, 2-3 rw-p');
    // The seal of what was not touched stays.
    expect(flags(end(replay)).split(', ').at(-1)).toBe('2-3 rd wr mr mw me ac sl');
  });

  it('a seal by the rules of a kernel without seals', () => {
    const replay = replayed([mapped(0, 2), `mseal(${p(0)}, 4096, 0) = 0`], { kernel: '6.1' });
    expect(results(replay)[1]).toBe('2 mseal 0, predicted ENOSYS (unexplained)');
    expect(flags(end(replay))).toBe('0-1 rd wr mr mw me ac sl, 1-2 rd wr mr mw me ac');
  });

  it('memory that became writable although it may not', () => {
    const replay = replayed([
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      `mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = ${p(0)}`,
      `mprotect(${p(0)}, 4096, PROT_READ|PROT_WRITE) = 0`,
    ]);
    expect(results(replay)[1]).toBe('3 mprotect 0, predicted EACCES (unexplained)');
    expect(maps(end(replay))).toBe('0-1 rw-s /etc/x');
  });

  it('a break that went where something is', () => {
    const replay = replayed([
      'brk(NULL) = 0x7f1000000000',
      mapped(2, 1),
      `brk(${p(4)}) = ${p(4)}`,
      `brk(${p(5)}) = ${p(5)}`,
    ]);
    expect(codes(replay)).toEqual([undefined, undefined, 'unexplained', undefined]);
    expect(replay.steps.at(-1)?.recorded).toBe(p(5));
  });
});

describe('calls that no rule decides', () => {
  it('are shown as such', () => {
    const replay = replayed([
      mapped(0, 1),
      `process_madvise(5, [{iov_base=${p(0)}, iov_len=4096}], 1, MADV_COLD, 0) = 4096`,
    ]);
    expect(results(replay)[1]).toBe('2 process_madvise 4096, predicted ? (unknown-call)');
  });
});

describe('features of the traced kernel', () => {
  const refused = `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(0)}, 4096, "x") = -1 EINVAL (Invalid argument)`;

  it('a kernel that refuses every name has none', () => {
    const replay = replayed([mapped(0, 1), refused]);
    expect(codes(replay)).toEqual([undefined, undefined]);
    expect(replay.steps[1]?.denied?.reason).toContain('CONFIG_ANON_VMA_NAME');
  });

  it('one refusal among names that were given is another matter', () => {
    const replay = replayed([mapped(0, 1), refused, named(0, 1, 'y')]);
    expect(codes(replay)).toEqual([undefined, 'unexplained', undefined]);
  });

  it('a bad name tells nothing of the kernel', () => {
    const bad = `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(0)}, 4096, "a[b") = -1 EINVAL (Invalid argument)`;
    const replay = replayed([mapped(0, 1), bad]);
    expect(replay.steps[1]?.denied?.reason).toContain('a character that names must not have');
  });

  it.each([
    ['MADV_MERGEABLE', 'ksm'],
    ['MADV_HUGEPAGE', 'thp'],
  ])('%s: without %s', (advice, feature) => {
    const line = `madvise(${p(0)}, 4096, ${advice}) = -1 EINVAL (Invalid argument)`;
    expect(codes(replayed([mapped(0, 1), line]))).toEqual([undefined, undefined]);
    expect(codes(replayed([mapped(0, 1), line, line.replace(/-1.*/, '0')]))[1]).toBe('unexplained');
    // Told by the user.
    const told = replayed([mapped(0, 1), line.replace(/-1.*/, '0')], { without: [feature] });
    expect(codes(told)[1]).toBe('unexplained');
  });

  it('soft-dirty where a snapshot shows it', () => {
    const text = '7f1000000000-7f1000001000 rw-p 00000000 00:00 0 \nVmFlags: rd wr mr mw me ac sd \n';
    const snapshot = { label: 's', pid: 5, line: 1, entries: parseMaps(text).entries };
    const lines = by(5, 'getpid() = 5', mapped(4, 1));
    expect(flags(end(replayed(lines, { snapshots: [snapshot] })))).toContain('4-5 rd wr mr mw me ac sd');
    expect(flags(end(replayed(lines)))).toContain('4-5 rd wr mr mw me ac');
    expect(flags(end(replayed(lines)))).not.toContain('sd');
  });

  it('a single rule may be another than the version has', () => {
    const lines = [mapped(0, 2), `mprotect(${p(0)}, 4096, PROT_NONE) = 0`];
    expect(flags(end(replayed(lines))).split(', ')[0]).toBe('0-1 mr mw me');
    expect(flags(end(replayed(lines, { rules: { accountDropped: false } }))).split(', ')[0]).toBe(
      '0-1 mr mw me ac',
    );
  });
});
