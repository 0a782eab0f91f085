import { describe, expect, it } from 'vitest';
import { end, flags, mapped, maps, named, p, replayed, results } from './traced';

const ANON = 'MAP_PRIVATE|MAP_ANONYMOUS';
const RW = 'PROT_READ|PROT_WRITE';

/** Does every prediction of a replay agree with the record? */
function agrees(replay: ReturnType<typeof replayed>): boolean {
  return replay.steps.every(({ predicted, recorded }) => predicted === recorded || predicted === '?');
}

describe('naming', () => {
  it('a hole: an error, and yet what is mapped is named, and advised', () => {
    const replay = replayed([
      mapped(0, 1),
      mapped(2, 1),
      `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(0)}, 12288, "span") = -1 ENOMEM (Cannot allocate memory)`,
      `madvise(${p(0)}, 12288, MADV_DONTFORK) = -1 ENOMEM (Cannot allocate memory)`,
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(end(replay))).toBe('0-1 rw-p [anon:span], 2-3 rw-p [anon:span]');
    expect(flags(end(replay))).toBe('0-1 rd wr mr mw me dc ac, 2-3 rd wr mr mw me dc ac');
    expect(replay.steps[2]?.denied?.reason).toContain('what is mapped was changed all the same');
  });

  it('splits and merges', () => {
    const replay = replayed([
      `mmap(NULL, 12288, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
      named(1, 1, 'mid'),
      named(0, 1, 'mid'),
      named(0, 3, null),
    ]);
    expect([0, 1, 2, 3].map((index) => maps(replay.at(index)))).toEqual([
      '0-3 rw-p',
      '0-1 rw-p, 1-2 rw-p [anon:mid], 2-3 rw-p',
      '0-2 rw-p [anon:mid], 2-3 rw-p',
      '0-3 rw-p',
    ]);
  });

  it('a length is rounded up, an address is not, and new memory has no name', () => {
    const replay = replayed([
      `mmap(NULL, 8192, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
      `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(0)}, 10, "p") = 0`,
      `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, ${p(0).replace(/0$/, '8')}, 4096, "q") = -1 EINVAL (Invalid argument)`,
      `munmap(${p(0)}, 4096) = 0`,
      mapped(0, 1),
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(replay.at(1))).toBe('0-1 rw-p [anon:p], 1-2 rw-p');
    expect(maps(end(replay))).toBe('0-2 rw-p');
  });
});

describe('sealing', () => {
  const calls = (mprotect: string): string[] => [
    `mmap(NULL, 12288, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
    `mseal(${p(1)}, 1, 0) = 0`,
    `munmap(${p(0)}, 12288) = -1 EPERM (Operation not permitted)`,
    `mmap(${p(0)}, 12288, PROT_NONE, ${ANON}|MAP_FIXED, -1, 0) = -1 EPERM (Operation not permitted)`,
    `mremap(${p(1)}, 4096, 8192, MREMAP_MAYMOVE) = -1 EPERM (Operation not permitted)`,
    mprotect,
    `mprotect(${p(1)}, 4096, ${RW}) = -1 EPERM (Operation not permitted)`,
  ];
  const over = `mprotect(${p(0)}, 12288, PROT_READ) = -1 EPERM (Operation not permitted)`;

  it('what is refused, and what the refused mprotect has done by then', () => {
    const replay = replayed(calls(over), { kernel: '6.18' });
    expect(agrees(replay)).toBe(true);
    expect(maps(replay.at(4))).toBe('0-1 rw-p, 1-2 rw-p, 2-3 rw-p');
    expect(maps(end(replay))).toBe('0-1 r--p, 1-2 rw-p, 2-3 rw-p');
    expect(flags(end(replay)).split(', ')[1]).toBe('1-2 rd wr mr mw me ac sl');
  });

  it('the same by the rules that look first', () => {
    const replay = replayed(calls(over), { kernel: '6.10' });
    expect(agrees(replay)).toBe(true);
    expect(maps(end(replay))).toBe('0-1 rw-p, 1-2 rw-p, 2-3 rw-p');
  });

  it('each refusal names the seal and the line that made it', () => {
    const replay = replayed(calls(over), { kernel: '6.18' });
    const denied = replay.steps.filter((step) => step.denied !== undefined);
    expect(denied.map(({ line, denied: why }) => [line, why?.errno, why?.sealedAtLine])).toEqual(
      [3, 4, 5, 6, 7].map((line) => [line, 'EPERM', 2]),
    );
  });

  it('a child names the line by which its ancestor sealed before it was forked, else its own', () => {
    const denied = 'EPERM (Operation not permitted)';
    const replay = replayed([
      `7 ${mapped(0, 3)}`,
      `7 mseal(${p(0)}, 4096, 0) = 0`,
      '7 fork() = 8',
      `7 mseal(${p(0)}, 8192, 0) = 0`,
      `8 munmap(${p(0)}, 4096) = -1 ${denied}`,
      `8 mseal(${p(1)}, 4096, 0) = 0`,
      `8 munmap(${p(1)}, 4096) = -1 ${denied}`,
      `7 munmap(${p(1)}, 4096) = -1 ${denied}`,
      '8 fork() = 9',
      `9 munmap(${p(0)}, 4096) = -1 ${denied}`,
    ]);
    const lines = replay.steps.flatMap((step) =>
      step.denied === undefined ? [] : [[step.line, step.denied.sealedAtLine]],
    );
    expect(lines).toEqual([
      [5, 2],
      [7, 6],
      [8, 4],
      [10, 2],
    ]);
  });

  it('arguments that are refused seal nothing', () => {
    const replay = replayed([
      mapped(0, 2),
      `munmap(${p(1)}, 1) = 0`,
      `mseal(${p(0)}, 8192, 0) = -1 ENOMEM (Cannot allocate memory)`,
      `mseal(${p(0)}, 4096, 0x1) = -1 EINVAL (Invalid argument)`,
      `mseal(${p(0).replace(/0$/, '1')}, 4096, 0) = -1 EINVAL (Invalid argument)`,
      `munmap(${p(0)}, 4096) = 0`,
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(end(replay))).toBe('');
  });
});

describe('maps', () => {
  it('a fixed map over others', () => {
    const replay = replayed([
      mapped(0, 1, 'PROT_READ'),
      mapped(1, 1),
      mapped(2, 4, 'PROT_READ'),
      `mmap(${p(1)}, 8192, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED, 3</lib/x.so>, 0x5000) = ${p(1)}`,
      mapped(4, 1, 'PROT_NONE', '|MAP_NORESERVE'),
      `munmap(${p(1)}, 4096) = 0`,
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(replay.at(4))).toBe('0-1 r--p, 1-3 r-xp /lib/x.so +5, 3-4 r--p, 4-5 ---p, 5-6 r--p');
    expect(maps(end(replay))).toBe('0-1 r--p, 2-3 r-xp /lib/x.so +6, 3-4 r--p, 4-5 ---p, 5-6 r--p');
  });

  it('partial, unaligned and absent ranges of munmap', () => {
    const replay = replayed([
      `mmap(NULL, 20480, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
      `munmap(${p(1)}, 1) = 0`,
      `munmap(${p(1)}, 8192) = 0`,
      `munmap(0x7f2000000000, 4096) = 0`,
      `munmap(${p(0).replace(/0$/, '1')}, 4096) = -1 EINVAL (Invalid argument)`,
      `mprotect(${p(3)}, 4097, PROT_NONE) = 0`,
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(end(replay))).toBe('0-1 rw-p, 3-5 ---p');
  });

  it('moves, growth, and what MREMAP_DONTUNMAP leaves', () => {
    const replay = replayed([
      `mmap(NULL, 16384, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
      named(0, 4, 'buf'),
      `mremap(${p(2)}, 4096, 8192, MREMAP_MAYMOVE) = ${p(16)}`,
      `mremap(${p(16)}, 8192, 8192, MREMAP_MAYMOVE|MREMAP_DONTUNMAP) = ${p(32)}`,
      `mremap(${p(32)}, 8192, 4096, 0) = ${p(32)}`,
      `mremap(${p(32)}, 4096, 4096, MREMAP_MAYMOVE|MREMAP_FIXED, ${p(0)}) = ${p(0)}`,
      `mremap(${p(3)}, 4096, 8192, 0) = ${p(3)}`,
      `mremap(${p(3)}, 8192, 12288, MREMAP_MAYMOVE) = -1 ENOMEM (Cannot allocate memory)`,
    ]);
    expect(results(replay).slice(-2)).toEqual([
      `7 mremap ${p(3)}`,
      `8 mremap ENOMEM, predicted ${p(3)} (limit-unknown)`,
    ]);
    expect(maps(end(replay))).toBe('0-2 rw-p [anon:buf], 3-5 rw-p [anon:buf], 16-18 rw-p [anon:buf]');
  });

  it('lengths of terabytes', () => {
    const replay = replayed([
      'mmap(NULL, 70368744177664, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0) = 0x1568fde00000',
      'mmap(0x20007fff8000, 15392894357504, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0) = 0x20007fff8000',
      'mmap(0x80000000000000, 36028797018963969, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0) = -1 ENOMEM (Cannot allocate memory)',
      'munmap(0x80000000000000, 18446744073709547520) = -1 EINVAL (Invalid argument)',
    ]);
    expect(agrees(replay)).toBe(true);
    const [life] = replay.lives;
    const ranges = end(replay)
      .vmas(life?.id ?? '')
      .map(({ start, end: until }) => `${start.toString(16)}-${until.toString(16)}`);
    expect(ranges).toEqual(['1568fde00-20007fff8', '20007fff8-2e006fff9', '2e006fff9-5568fde00']);
  });

  it('whether touched memory may merge stays open, but not what each page is', () => {
    const replay = replayed([
      `1701 ${mapped(1, 1)}`,
      `1701 fork() = 1702`,
      `1701 ${mapped(0, 1)}`,
      `1701 ${mapped(2, 1, RW, '|MAP_NORESERVE')}`,
    ]);
    const pages = end(replay)
      .entries('1701@1')
      .flatMap((entry) => Array.from({ length: entry.end - entry.start }, () => entry.perms));
    expect(pages).toEqual(['rw-p', 'rw-p', 'rw-p']);
  });
});

describe('SysV memory', () => {
  it('is as long as its segment, and goes with shmdt', () => {
    const replay = replayed([
      'shmget(IPC_PRIVATE, 8192, IPC_CREAT|0600) = 0',
      `shmat(0, NULL, 0) = ${p(0)}`,
      'shmctl(0, IPC_RMID, NULL) = 0',
      `shmdt(${p(0)}) = 0`,
    ]);
    expect(maps(replay.at(0))).toBe('0-2 rw-s /SYSV00000000 (deleted)');
    expect(maps(end(replay))).toBe('');
  });

  it('of a segment that was never made is at least one page', () => {
    const replay = replayed([`shmat(9, NULL, SHM_RDONLY) = ${p(16)}`]);
    expect(maps(end(replay))).toBe('16-17 r--s /SYSV00000000 (deleted)');
  });

  it('shows its key', () => {
    const replay = replayed(['shmget(0x1234, 4096, IPC_CREAT|0600) = 5', `shmat(5, ${p(0)}, 0) = ${p(0)}`]);
    expect(maps(end(replay))).toBe('0-1 rw-s /SYSV00001234 (deleted)');
  });
});

describe('the heap', () => {
  const replay = replayed([
    'brk(NULL) = 0x555500000000',
    'brk(0x555500021000) = 0x555500021000',
    'brk(0x555500010000) = 0x555500010000',
    'brk(0x7fffffffffff) = 0x555500010000',
    'brk(0x555500010800) = 0x555500010800',
  ]);

  it('grows, shrinks, and fails without an error', () => {
    const heaps = replay.steps.map((step) => {
      const instant = replay.at(step.index);
      return instant
        .entries(replay.lives[0]?.id ?? '')
        .map((entry) => `${entry.path} ${entry.end - 0x555500000}`);
    });
    expect(heaps).toEqual([[], ['[heap] 33'], ['[heap] 16'], ['[heap] 16'], ['[heap] 17']]);
  });

  it('is predicted as far as the trace tells', () => {
    expect(replay.steps.map(({ predicted }) => predicted)).toEqual([
      '0x555500000000',
      '0x555500021000',
      '0x555500010000',
      '0x555500010000',
      '0x555500010800',
    ]);
  });
});

describe('files', () => {
  it('one open file joins, a second open of the same path does not', () => {
    const map = (page: number, fd: number, offset: string): string =>
      `mmap(${p(page)}, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED, ${fd}, ${offset}) = ${p(page)}`;
    const replay = replayed([
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 4',
      map(0, 3, '0'),
      map(1, 3, '0x1000'),
      map(2, 4, '0x2000'),
      'close(3) = 0',
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      map(3, 3, '0x3000'),
    ]);
    expect(maps(end(replay))).toBe('0-2 r--p /etc/x, 2-3 r--p /etc/x +2, 3-4 r--p /etc/x +3');
  });

  it('a descriptor that a fork inherited, and one that was duplicated, are the same open file', () => {
    const map = (page: number, fd: number): string =>
      `mmap(${p(page)}, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED, ${fd}, ${page === 0 ? '0' : '0x1000'}) = ${p(page)}`;
    const replay = replayed([
      '7 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      '7 dup(3) = 5',
      `7 ${map(0, 3)}`,
      '7 fork() = 8',
      `8 ${map(1, 5)}`,
    ]);
    expect(maps(end(replay), 8)).toBe('0-2 r--p /etc/x');
  });

  it('what a child opens and closes is not its parent’s', () => {
    const map = (page: number): string =>
      `mmap(${p(page)}, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED, 3, 0) = ${p(page)}`;
    const replay = replayed([
      '7 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      `7 ${map(0)}`,
      '7 fork() = 8',
      '8 close(3) = 0',
      '8 openat(AT_FDCWD, "/etc/y", O_RDONLY) = 3',
      `8 ${map(4)}`,
      `7 ${map(8)}`,
    ]);
    expect(maps(end(replay), 8)).toBe('0-1 r--p /etc/x, 4-5 r--p /etc/y');
    expect(maps(end(replay), 7)).toBe('0-1 r--p /etc/x, 8-9 r--p /etc/x');
  });

  it('a shared map follows the mode of the open', () => {
    const replay = replayed([
      'openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
      'openat(AT_FDCWD, "/etc/x", O_RDWR) = 4',
      `mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = ${p(0)}`,
      `mmap(NULL, 4096, PROT_READ, MAP_SHARED, 4, 0) = ${p(4)}`,
      `mprotect(${p(0)}, 4096, ${RW}) = -1 EACCES (Permission denied)`,
      `mprotect(${p(4)}, 4096, ${RW}) = 0`,
    ]);
    expect(agrees(replay)).toBe(true);
    expect(flags(end(replay))).toBe('0-1 rd mr me ms, 4-5 rd wr sh mr mw me ms');
  });

  it('memfd, private and named', () => {
    const replay = replayed([
      'memfd_create("cache", 0) = 3',
      `mmap(NULL, 8192, ${RW}, MAP_SHARED, 3, 0) = ${p(0)}`,
      named(0, 1, 'shared'),
    ]);
    expect(agrees(replay)).toBe(true);
    expect(maps(end(replay))).toBe('0-1 rw-s [anon_shmem:shared], 1-2 rw-s /memfd:cache (deleted) +1');
  });
});
