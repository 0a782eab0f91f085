import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import type { ReplayOptions, SnapshotInput } from '../../src/replay/replay_types';
import { placeSnapshots } from '../../src/replay/snapshot_splice';
import { readTrace } from '../../src/trace/read_trace';
import { by, end, flags, fork, lifeId, mapped, maps, named, p, replayed } from './traced';

const PLAIN = 'rd wr mr mw me ac';

/** One mapping as smaps prints it, as far as a test needs it; pages from the base, `offset` in pages. */
function vma(
  pages: string,
  perms: string,
  path = '',
  { offset = 0, vmFlags = PLAIN, anonymous = 0, dev = '00:00', inode = '0' } = {},
): string {
  const [start = 0, until = 0] = pages.split('-').map(Number);
  const hex = (page: number): string => p(page).slice(2);
  const header = `${hex(start)}-${hex(until)} ${perms} ${(offset * 4096).toString(16).padStart(8, '0')} ${dev} ${inode} ${path}`;
  return `${header}\nAnonymous:      ${String(anonymous).padStart(8)} kB\nVmFlags: ${vmFlags} \n`;
}

function shot(line: number, mappings: readonly string[], other: Partial<SnapshotInput> = {}): SnapshotInput {
  return { label: `at ${line}`, pid: 10, line, entries: parseMaps(mappings.join('')).entries, ...other };
}

const NOTHING = 'getpid() = 10';

function replay10(calls: readonly string[], ...snapshots: SnapshotInput[]): ReturnType<typeof replayed> {
  const options: Partial<ReplayOptions> = { snapshots };
  return replayed(by(10, ...calls), options);
}

describe('the first snapshot', () => {
  it('is the state, whatever the calls before had told', () => {
    const replay = replay10(
      [mapped(8, 1), mapped(0, 1)],
      shot(1, [vma('4-6', 'r--p', '/x', { offset: 3, vmFlags: 'rd mr mw me' })]),
    );
    expect(replay.checks).toEqual([
      { label: 'at 1', pid: 10, line: 1, outcome: 'seed', vmaCount: 1, differences: 0, settled: 0 },
    ]);
    expect(replay.steps.map(({ call, line }) => `${call} ${line}`)).toEqual([
      'mmap 1',
      'snapshot 1',
      'mmap 2',
    ]);
    expect(maps(replay.at(1))).toBe('4-6 r--p /x +3');
    expect(maps(end(replay))).toBe('0-1 rw-p, 4-6 r--p /x +3');
    expect(replay.at(0).complete(lifeId(replay.at(0)))).toBe(false);
    expect(end(replay).complete(lifeId(end(replay)))).toBe(true);
  });

  it('after an exec is one again', () => {
    const exec = 'execve("/bin/b", ["b"], 0x7fff00000000 /* 0 vars */) = 0';
    const replay = replay10(
      [NOTHING, exec, mapped(8, 1)],
      shot(1, [vma('0-1', 'rw-p')]),
      shot(2, [vma('4-5', 'rw-p')]),
    );
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'seed']);
    expect(maps(end(replay))).toBe('4-5 rw-p, 8-9 rw-p');
  });

  it('of a child is a comparison: its map came with the fork', () => {
    const replay = replayed([...by(10, NOTHING, fork(11)), ...by(11, mapped(4, 1))], {
      snapshots: [
        shot(1, [vma('0-1', 'rw-p')]),
        shot(3, [vma('0-1', 'rw-p'), vma('4-5', 'rw-p')], { pid: 11 }),
      ],
    });
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'equal']);
  });

  it('of a pid that the trace never names makes it known', () => {
    const replay = replayed(by(10, mapped(0, 1)), {
      snapshots: [shot(0, [vma('4-5', 'rw-p')], { pid: 77 })],
    });
    expect(maps(end(replay), 77)).toBe('4-5 rw-p');
  });

  it('of a process that has ended says nothing', () => {
    const replay = replay10([mapped(0, 1), 'exit_group(0) = ?'], shot(2, [vma('0-1', 'rw-p')]));
    expect(replay.checks).toEqual([]);
  });
});

describe('what a snapshot brings along', () => {
  it('flags as printed; from plain maps those that are usual', () => {
    const replay = replay10(
      [NOTHING],
      shot(1, [
        vma('0-1', 'rw-p', '', { vmFlags: 'rd wr mr mw me lo ac sl' }),
        vma('4-5', 'r--s', '/x', { vmFlags: 'rd sh mr ms' }),
      ]),
    );
    expect(flags(end(replay))).toBe('0-1 rd wr mr mw me lo ac sl, 4-5 rd sh mr ms');
    const text =
      '7f1000000000-7f1000001000 rw-p 00000000 00:00 0 \n7f1000004000-7f1000005000 r-xs 00000000 00:00 9 /x\n';
    const plain = replay10([NOTHING], { ...shot(1, []), entries: parseMaps(text).entries });
    expect(flags(end(plain))).toBe('0-1 rd wr mr mw me ac, 4-5 rd ex sh mr mw me ms');
  });

  it('the heap, so that the break may grow', () => {
    const replay = replay10([NOTHING, `brk(${p(5)}) = ${p(5)}`], shot(1, [vma('0-2', 'rw-p', '[heap]')]));
    expect(replay.steps.at(-1)).toMatchObject({ recorded: p(5), predicted: p(5) });
    expect(maps(end(replay))).toBe('0-5 rw-p [heap]');
  });

  it('the stack keeps its name where its upper end is', () => {
    const stack = vma('0-8', 'rw-p', '[stack]', { vmFlags: 'rd wr mr mw me gd ac' });
    const replay = replay10([NOTHING, `mprotect(${p(2)}, 4096, PROT_READ) = 0`], shot(1, [stack]));
    expect(maps(end(replay))).toBe('0-2 rw-p, 2-3 r--p, 3-8 rw-p [stack]');
  });

  it('mappings that the kernel made: they are not split', () => {
    const vdso = vma('0-2', 'r-xp', '[vdso]', { vmFlags: 'rd ex mr mw me de' });
    const replay = replay10(
      [NOTHING, `munmap(${p(1)}, 4096) = -1 EINVAL (Invalid argument)`],
      shot(1, [vdso]),
    );
    expect(replay.steps.at(-1)).toMatchObject({ recorded: 'EINVAL', predicted: 'EINVAL' });
  });

  it('files: one path is one open file, and pieces of it join again', () => {
    const file = { vmFlags: 'rd mr mw me', dev: '08:01', inode: '5' };
    const replay = replay10(
      [NOTHING, `mprotect(${p(1)}, 4096, PROT_READ) = 0`],
      shot(1, [
        vma('0-1', 'r--p', '/x', file),
        vma('1-2', 'r-xp', '/x', { ...file, offset: 1, vmFlags: 'rd ex mr mw me' }),
        vma('2-3', 'r--p', '/x', { ...file, offset: 2 }),
      ]),
    );
    expect(maps(end(replay))).toBe('0-3 r--p /x');
    expect(end(replay).entries(lifeId(end(replay)))[0]).toMatchObject({ dev: '08:01', inode: '5' });
  });

  it('shared anonymous mappings of different inodes stay apart', () => {
    const zero = { vmFlags: 'rd sh mr mw me ms', dev: '00:01' };
    const replay = replay10(
      [NOTHING, `mprotect(${p(0)}, 8192, PROT_READ|PROT_WRITE) = 0`],
      shot(1, [
        vma('0-1', 'r--s', '/dev/zero (deleted)', { ...zero, inode: '7' }),
        vma('1-2', 'r--s', '/dev/zero (deleted)', { ...zero, inode: '8' }),
      ]),
    );
    expect(maps(end(replay))).toBe('0-1 rw-s /dev/zero (deleted), 1-2 rw-s /dev/zero (deleted)');
  });

  it('names: one object for each text, marked as concluded', () => {
    const replay = replay10(
      [NOTHING, fork(11)],
      shot(1, [
        vma('0-1', 'rw-p', '[anon:a]'),
        vma('2-3', 'rw-p', '[anon:b]'),
        vma('4-5', 'rw-p', '[anon:a]'),
      ]),
    );
    const names = end(replay).names();
    expect(
      names.map(({ object, refs }) => [object.text, object.inferred, object.createdAt.line, refs]),
    ).toEqual([
      ['a', true, 0, 4],
      ['b', true, 0, 2],
    ]);
  });

  it('names that the trace made keep their object and their maker', () => {
    const replay = replay10(
      [mapped(0, 1), named(0, 1, 'a'), NOTHING],
      shot(2, [vma('0-1', 'rw-p', '[anon:a]'), vma('4-5', 'rw-p', '[anon:a]')]),
    );
    expect(end(replay).names()).toMatchObject([
      { object: { inferred: false, createdAt: { line: 2, pid: 10 } }, refs: 2 },
    ]);
  });

  it('page faults: written memory does not join untouched memory', () => {
    const calls = [NOTHING, `mprotect(${p(0)}, 4096, PROT_READ) = 0`];
    const after = (anonymous: number): string => {
      const first = shot(1, [
        vma('0-1', 'rw-p', '', { anonymous }),
        vma('1-2', 'r--p', '', { vmFlags: 'rd mr mw me ac' }),
      ]);
      return maps(
        end(
          replayed(by(10, ...calls), {
            kernel: '6.12',
            snapshots: [first],
            rules: { accountDropped: false },
          }),
        ),
      );
    };
    expect(after(0)).toBe('0-2 r--p');
    expect(after(4)).toBe('0-1 r--p, 1-2 r--p');
  });
});

describe('a later snapshot', () => {
  const seed = shot(1, [vma('0-2', 'rw-p')]);

  it('that agrees is equal', () => {
    const replay = replay10(
      [NOTHING, mapped(2, 1, 'PROT_READ')],
      seed,
      shot(2, [vma('0-2', 'rw-p'), vma('2-3', 'r--p', '', { vmFlags: 'rd mr mw me' })]),
    );
    expect(replay.checks[1]).toEqual({
      label: 'at 2',
      pid: 10,
      line: 2,
      outcome: 'equal',
      vmaCount: 2,
      differences: 0,
      settled: 0,
    });
  });

  it.each<[string, string[], string]>([
    ['permissions', [vma('0-2', 'r--p', '', { vmFlags: 'rd mr mw me ac' })], 'permissions rw-p against r--p'],
    [
      'a border',
      [vma('0-1', 'rw-p'), vma('1-2', 'r--p', '', { vmFlags: 'rd mr mw me' })],
      'range 7f1000000000-7f1000002000 against 7f1000000000-7f1000001000',
    ],
    ['a name', [vma('0-2', 'rw-p', '[anon:x]')], 'name'],
    ['a file offset', [vma('0-2', 'rw-p', '', { offset: 1 })], 'file offset'],
    [
      'flags',
      [vma('0-2', 'rw-p', '', { vmFlags: 'rd wr mr mw me dc ac' })],
      'flags rd wr mr mw me ac against rd wr mr mw me dc ac',
    ],
    ['more', [vma('0-2', 'rw-p'), vma('9-10', 'rw-p')], 'mapped in the snapshot only'],
    ['less', [], 'mapped in the replay only'],
  ])('that differs in %s says how, with both sides', (_, mappings, what) => {
    const replay = replay10([NOTHING, NOTHING], seed, shot(2, mappings));
    expect(replay.checks[1]?.outcome).toBe('differs');
    expect(replay.checks[1]?.firstDifference?.what).toBe(what);
    expect(replay.checks[1]?.differences).toBeGreaterThan(0);
  });

  it('shows both sides as lines of maps', () => {
    const replay = replay10(
      [NOTHING, NOTHING],
      seed,
      shot(2, [vma('0-2', 'r--p', '', { vmFlags: 'rd mr mw me ac' })]),
    );
    expect(replay.checks[1]?.firstDifference).toEqual({
      replayed: expect.stringMatching(/^7f1000000000-7f1000002000 rw-p /) as string,
      snapshot: expect.stringMatching(/^7f1000000000-7f1000002000 r--p /) as string,
      what: 'permissions rw-p against r--p',
    });
    const more = replay10([NOTHING, NOTHING], seed, shot(2, [vma('0-2', 'rw-p'), vma('9-10', 'rw-p')]));
    expect(more.checks[1]?.firstDifference?.replayed).toBe('');
  });

  it('counts the differences', () => {
    const replay = replay10(
      [NOTHING, NOTHING],
      seed,
      shot(2, [vma('0-1', 'r--p'), vma('1-2', 'rw-p'), vma('9-10', 'rw-p')]),
    );
    // Each half against the whole, and one that is only here.
    expect(replay.checks[1]?.differences).toBe(3);
  });

  it('that differs is taken over, and not reported again', () => {
    const other = [vma('0-2', 'r--p', '', { vmFlags: 'rd mr mw me ac' })];
    const replay = replay10([NOTHING, NOTHING, NOTHING], seed, shot(2, other), shot(3, other));
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'differs', 'equal']);
    expect(maps(end(replay))).toBe('0-2 r--p');
    expect(replay.steps.at(-2)?.title).toContain('1 difference');
  });

  it('does not compare flags that plain maps lack', () => {
    const text = '7f1000000000-7f1000002000 rw-p 00000000 00:00 0 \n';
    const replay = replay10([`madvise(${p(0)}, 8192, MADV_DONTFORK) = 0`], shot(0, [vma('0-2', 'rw-p')]), {
      ...shot(1, []),
      entries: parseMaps(text).entries,
    });
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'equal']);
  });
});

describe('what only page faults explain is settled, not different', () => {
  it('a stack that grew', () => {
    const stack = (from: number): string =>
      vma(`${from}-8`, 'rw-p', '[stack]', { vmFlags: 'rd wr mr mw me gd ac', anonymous: 4 });
    const replay = replay10([NOTHING, NOTHING], shot(1, [stack(4)]), shot(2, [stack(2)]));
    expect(replay.checks[1]).toMatchObject({ outcome: 'equal', settled: 1 });
    expect(maps(end(replay))).toBe('2-8 rw-p [stack]');
  });

  it('a stack that did not is nothing to settle', () => {
    const stack = vma('4-8', 'rw-p', '[stack]', { vmFlags: 'rd wr mr mw me gd ac', anonymous: 4 });
    const replay = replay10([NOTHING, NOTHING], shot(1, [stack]), shot(2, [stack]));
    expect(replay.checks[1]).toMatchObject({ outcome: 'equal', settled: 0 });
  });

  it('memory that does not grow down is another matter', () => {
    const replay = replay10(
      [NOTHING, NOTHING],
      shot(1, [vma('4-8', 'rw-p')]),
      shot(2, [vma('2-8', 'rw-p', '', { anonymous: 4 })]),
    );
    expect(replay.checks[1]?.outcome).toBe('differs');
  });

  it('a commit charge that written memory kept', () => {
    const calls = [NOTHING, `mprotect(${p(0)}, 8192, PROT_READ) = 0`, NOTHING];
    const read = (anonymous: number): string =>
      vma('0-2', 'r--p', '', { vmFlags: 'rd mr mw me ac', anonymous });
    const written = replay10(calls, shot(1, [vma('0-2', 'rw-p')]), shot(2, [read(8)]));
    expect(written.checks[1]).toMatchObject({ outcome: 'equal', settled: 1 });
    expect(written.steps[1]?.dependsOnAccess).toBe(true);
    const never = vma('0-2', 'r--p', '', { vmFlags: 'rd mr mw me' });
    const untouched = replay10([NOTHING, NOTHING], shot(1, [never]), shot(2, [read(0)]));
    expect(untouched.checks[1]?.outcome).toBe('differs');
  });

  it('a commit charge that a guard page kept, because memory beside it had been written to', () => {
    const calls = [NOTHING, `mprotect(${p(0)}, 4096, PROT_NONE) = 0`, NOTHING];
    const guard = vma('0-1', '---p', '', { vmFlags: 'mr mw me ac' });
    const stack = vma('1-4', 'rw-p', '', { anonymous: 4 });
    const replay = replay10(calls, shot(1, [vma('0-4', 'rw-p')]), shot(2, [guard, stack]));
    expect(replay.checks[1]).toMatchObject({ outcome: 'equal', settled: 1 });
  });

  it('equal neighbours that were written to apart', () => {
    const calls = [NOTHING, mapped(0, 1), mapped(1, 1)];
    const apart = [
      vma('0-1', 'rw-p', '', { anonymous: 4 }),
      vma('1-2', 'rw-p', '', { anonymous: 4 }),
      vma('8-9', 'rw-p'),
    ];
    const replay = replay10(calls, shot(1, [vma('8-9', 'rw-p')]), shot(3, apart));
    expect(replay.checks[1]).toMatchObject({ outcome: 'equal', settled: 1 });
    expect(maps(end(replay))).toBe('0-1 rw-p, 1-2 rw-p, 8-9 rw-p');
  });

  it('not where the memory cannot have been written to', () => {
    const file = { vmFlags: 'rd sh mr mw me ms', inode: '3' };
    const whole = vma('0-2', 'r--s', '/x', file);
    const halves = [vma('0-1', 'r--s', '/x', file), vma('1-2', 'r--s', '/x', { ...file, offset: 1 })];
    const replay = replay10([NOTHING, NOTHING], shot(1, [whole]), shot(2, halves));
    expect(replay.checks[1]?.outcome).toBe('differs');
  });
});

describe('a snapshot that is read while the process goes on', () => {
  const seed = shot(1, [vma('0-2', 'rw-p')]);
  const calls = [NOTHING, `munmap(${p(0)}, 4096) = 0`, `munmap(${p(1)}, 4096) = 0`, mapped(4, 1)];

  it.each([
    ['before all of it', [vma('0-2', 'rw-p')], 1],
    ['in the middle', [vma('1-2', 'rw-p')], 2],
    ['after all of it', [vma('4-5', 'rw-p')], 4],
  ])('is equal if it shows any state on the way: %s', (_, mappings, after) => {
    const replay = replay10(calls, seed, shot(1, mappings, { label: 'long', untilLine: 4 }));
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'equal']);
    const place = replay.steps.findIndex(({ title }) => title.includes('long'));
    expect(replay.steps[place - 1]?.line).toBe(after);
  });

  it('differs if it shows none, and waits until its end to say so', () => {
    const replay = replay10(
      [...calls, mapped(6, 1)],
      seed,
      shot(1, [vma('0-1', 'rw-p')], { label: 'long', untilLine: 4 }),
    );
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'differs']);
    // Held against the state at its end.
    expect(replay.checks[1]?.firstDifference?.replayed).toBe('');
    expect(replay.checks[1]?.differences).toBe(2);
    expect(maps(end(replay))).toBe('0-1 rw-p, 6-7 rw-p');
  });

  it('is held against each of many states: that of change 600 of 1,000 is the one', () => {
    const many = Array.from({ length: 500 }, (_, n) => [mapped(2 * n, 1), `munmap(${p(2 * n)}, 4096) = 0`]);
    const replay = replay10(
      many.flat(),
      shot(0, [vma('9999-10000', 'rw-p')]),
      shot(0, [vma('600-601', 'rw-p'), vma('9999-10000', 'rw-p')], { label: 'long', untilLine: 1000 }),
    );
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed', 'equal']);
  });

  it('of a process that ends meanwhile says nothing', () => {
    const replay = replay10(
      [...calls, 'exit_group(0) = ?'],
      seed,
      shot(1, [vma('0-1', 'rw-p')], { untilLine: 9 }),
    );
    expect(replay.checks.map(({ outcome }) => outcome)).toEqual(['seed']);
  });
});

describe('where snapshots belong', () => {
  const trace = readTrace(
    [
      ...by(10, 'openat(AT_FDCWD, "/proc/self/smaps", O_RDONLY) = 3', 'close(3) = 0'),
      ...by(11, 'openat(AT_FDCWD, "/proc/11/maps", O_RDONLY) = 4', 'close(7) = 0'),
      ...by(10, 'openat(AT_FDCWD, "/proc/self/smaps", O_RDONLY) = -1 EACCES (Permission denied)'),
      ...by(
        10,
        'openat(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY) = 3',
        'openat(AT_FDCWD, "/proc/11/maps", O_RDONLY) = 5',
      ),
      ...by(10, 'close(5) = 0', 'close(3) = 0'),
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );
  const place = (...labels: string[]): string[] => {
    const { snapshots, problems } = placeSnapshots(
      trace.events,
      labels.map((label) => ({ label, entries: [] })),
    );
    return [
      ...snapshots.map(({ label, pid, line, untilLine }) => `${label} ${pid} ${line}-${untilLine ?? ''}`),
      ...problems.map(({ code }) => code),
    ];
  };

  it('the n-th of a process is its n-th read of itself, from the open to the close', () => {
    expect(place('01-b.10.smaps', '00-a.10.smaps', '02-c.11.maps')).toEqual([
      '00-a.10.smaps 10 1-2',
      '02-c.11.maps 11 3-3',
      '01-b.10.smaps 10 6-9',
    ]);
  });

  it('one too many has no place', () => {
    expect(place('00-a.11.smaps', '01-b.11.smaps')).toEqual([
      '00-a.11.smaps 11 3-3',
      'snapshot-without-place',
    ]);
    expect(place('00-a.99.smaps')).toEqual(['snapshot-without-place']);
  });

  it('other files are no snapshots', () => {
    expect(place('notes.txt', 'x.10.smaps', '00-a.10.smaps.gz', '00-a.smaps')).toEqual([]);
  });
});
