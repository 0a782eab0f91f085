import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import type { SnapshotInput } from '../../src/replay/replay_types';
import { by, end, flags, fork, maps, p, replayed, results } from './traced';

/** Lines as strace prints them. Page 0 of the base is a border of 1 GiB. */

const H = 512;
const RW = 'PROT_READ|PROT_WRITE';
const ANON = 'MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB';
const EINVAL = '-1 EINVAL (Invalid argument)';
const ENOMEM = '-1 ENOMEM (Cannot allocate memory)';

function mmap(page: number, bytes: number, kind: string, fd = '-1', offset = '0'): string {
  return `mmap(${p(page)}, ${bytes}, ${RW}, ${kind}|MAP_FIXED, ${fd}, ${offset}) = `;
}

/** Without the lines whose record is what the rules say. */
function differing(replay: ReturnType<typeof replayed>): string[] {
  return results(replay).filter((text) => text.includes('predicted') || text.includes('('));
}

describe('anonymous memory of huge pages', () => {
  it('as the kernel answers', () => {
    const replay = replayed([
      `mmap(NULL, 4096, ${RW}, ${ANON}, -1, 0) = ${p(0)}`,
      `munmap(${p(0)}, 4096) = ${EINVAL}`,
      `mremap(${p(0)}, 4096, 4096, MREMAP_MAYMOVE|MREMAP_FIXED, ${p(4 * H)}) = ${p(4 * H)}`,
      `mremap(${p(4 * H)}, 2097152, 4194304, MREMAP_MAYMOVE) = ${EINVAL}`,
    ]);
    expect(results(replay)).toEqual([
      `1 mmap ${p(0)}, predicted ?`,
      '2 munmap EINVAL',
      `3 mremap ${p(4 * H)}`,
      '4 mremap EINVAL',
    ]);
    expect(maps(replay.at(0))).toBe('0-512 rw-p /anon_hugepage (deleted)');
    expect(flags(end(replay))).toBe('2048-2560 rd wr mr mw me de ht');
    expect(replay.steps[1]?.denied?.reason).toContain('a huge page cannot be split');
  });

  it('too few pages: the reason, and the hole that a fixed map leaves', () => {
    const plain = `mmap(${p(0)}, ${3 * H * 4096}, ${RW}, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = ${p(0)}`;
    const replay = replayed([plain, mmap(H, 4096, ANON) + ENOMEM]);
    expect(differing(replay)).toEqual([`2 mmap ENOMEM, predicted ${p(H)} (limit-unknown)`]);
    expect(maps(end(replay))).toBe('0-512 rw-p, 1024-1536 rw-p');
    expect(replay.steps[1]?.denied?.leftBehind).toHaveLength(1);
  });

  it('too few pages at a place that the kernel chooses: nothing is lost', () => {
    const replay = replayed([
      mmap(0, 4096, ANON) + p(0),
      `mmap(NULL, 4096, ${RW}, ${ANON}, -1, 0) = ${ENOMEM}`,
    ]);
    expect(differing(replay)).toEqual(['2 mmap ENOMEM, predicted ? (limit-unknown)']);
    expect(maps(end(replay))).toBe('0-512 rw-p /anon_hugepage (deleted)');
  });

  it('no page is free when it is touched', () => {
    const replay = replayed([
      mmap(0, 4096, `${ANON}|MAP_NORESERVE`) + p(0),
      `madvise(${p(0)}, 4096, MADV_POPULATE_WRITE) = -1 EFAULT (Bad address)`,
    ]);
    expect(differing(replay)).toEqual(['2 madvise EFAULT, predicted 0 (limit-unknown)']);
  });

  it('no page is free for mlock, which has locked all else', () => {
    const replay = replayed([
      `mmap(${p(H - 1)}, 4096, ${RW}, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = ${p(H - 1)}`,
      mmap(H, 4096, `${ANON}|MAP_NORESERVE`) + p(H),
      `mlock(${p(H - 1)}, 8192) = ${ENOMEM}`,
    ]);
    expect(differing(replay)).toEqual(['3 mlock ENOMEM, predicted 0 (limit-unknown)']);
    expect(flags(end(replay))).toBe('511-512 rd wr mr mw me lo ac, 512-1024 rd wr mr mw me de nr ht');
  });

  it('a wrong offset, also where the kernel would choose the place', () => {
    expect(
      differing(
        replayed([mmap(0, 4096, ANON) + p(0), `mmap(NULL, 4096, ${RW}, ${ANON}, -1, 0x1000) = ${EINVAL}`]),
      ),
    ).toEqual([]);
  });

  it('is inherited', () => {
    const replay = replayed([
      ...by(10, mmap(0, 4096, ANON) + p(0), fork(11)),
      ...by(11, `munmap(${p(0)}, 2097152) = 0`),
    ]);
    expect(maps(replay.at(1), 11)).toBe('0-512 rw-p /anon_hugepage (deleted)');
    expect(maps(end(replay), 11)).toBe('');
  });
});

describe('what a kernel or processor lacks', () => {
  const small = mmap(0, 4096, ANON);
  const large = `mmap(NULL, 4096, ${RW}, ${ANON}|30<<MAP_HUGE_SHIFT, -1, 0) = `;

  it('is concluded from refusals', () => {
    expect(differing(replayed([small + EINVAL]))).toEqual([]);
    expect(differing(replayed([small + p(0), large + EINVAL]))).toEqual([]);
  });

  it('is not concluded from what has other reasons', () => {
    const empty = `mmap(NULL, 0, ${RW}, ${ANON}, -1, 0) = ${EINVAL}`;
    const unaligned = mmap(1, 4096, ANON) + EINVAL;
    const down = `mmap(NULL, 4096, ${RW}, ${ANON}|MAP_GROWSDOWN, -1, 0) = ${EINVAL}`;
    expect(differing(replayed([empty, unaligned, down, small + p(0)]))).toEqual([]);
  });

  it('is told', () => {
    const replay = replayed([small + p(0)], { without: ['hugetlb'] });
    expect(differing(replay)).toEqual([`1 mmap ${p(0)}, predicted EINVAL (unexplained)`]);
  });
});

describe('memfds of huge pages', () => {
  const shared = (page: number, fd: string, offset = '0'): string =>
    `mmap(${p(page)}, 4096, ${RW}, MAP_SHARED|MAP_FIXED, ${fd}, ${offset}) = `;

  it.each(['MFD_HUGETLB', 'MFD_CLOEXEC|MFD_HUGETLB|21<<MFD_HUGE_SHIFT'])('%s', (made) => {
    const replay = replayed([
      `memfd_create("x", ${made}) = 3`,
      shared(0, '3</memfd:x>(deleted)') + p(0),
      shared(H, '3</memfd:x>(deleted)', '0x1000') + EINVAL,
      `dup(3</memfd:x>(deleted)) = 4</memfd:x>(deleted)`,
      shared(H, '4</memfd:x>(deleted)', '0x200000') + p(H),
      `munmap(${p(1)}, 4096) = ${EINVAL}`,
    ]);
    expect(differing(replay)).toEqual([]);
    expect(maps(end(replay))).toBe('0-512 rw-s /memfd:x (deleted), 512-1024 rw-s /memfd:x (deleted) +512');
    expect(flags(end(replay)).split(', ')[0]).toBe('0-512 rd wr sh mr mw me ms de ht');
  });

  it('of 1 GiB', () => {
    const replay = replayed([
      'memfd_create("x", MFD_HUGETLB|30<<MFD_HUGE_SHIFT) = 3',
      shared(H, '3') + EINVAL,
    ]);
    expect(differing(replay)).toEqual([]);
  });

  it('with a seal', () => {
    const replay = replayed([
      'memfd_create("x", MFD_ALLOW_SEALING|MFD_HUGETLB) = 3',
      'fcntl(3, F_ADD_SEALS, F_SEAL_WRITE) = 0',
      shared(0, '3') + '-1 EPERM (Operation not permitted)',
    ]);
    expect(differing(replay)).toEqual([]);
  });
});

describe('segments of huge pages', () => {
  it.each(['SHM_HUGETLB', 'SHM_HUGETLB|21<<SHM_HUGE_SHIFT'])('%s', (made) => {
    const replay = replayed([
      `shmget(IPC_PRIVATE, 2101248, IPC_CREAT|${made}|0600) = 5`,
      `shmat(5, ${p(0)}, 0) = ${p(0)}`,
      `shmat(5, ${p(4 * H + 1)}, 0) = ${EINVAL}`,
      `munmap(${p(0)}, 4096) = ${EINVAL}`,
    ]);
    expect(differing(replay)).toEqual([]);
    expect(maps(end(replay))).toBe('0-1024 rw-s /SYSV00000000 (deleted)');
  });

  it('a later shmget makes it no other', () => {
    const replay = replayed([
      'shmget(0x7, 2097152, IPC_CREAT|SHM_HUGETLB|0600) = 5',
      'shmget(0x7, 2097152, 0) = 5',
      `shmat(5, ${p(1)}, 0) = ${EINVAL}`,
    ]);
    expect(differing(replay)).toEqual([]);
  });
});

describe('files on a hugetlbfs', () => {
  const shared = (page: number, more = ''): string =>
    `mmap(${p(page)}, 4096, ${RW}, MAP_SHARED|MAP_FIXED${more}, 3</mnt/x>, 0) = `;

  it('by MAP_HUGETLB, which others do not allow', () => {
    const replay = replayed([
      'openat(AT_FDCWD, "/mnt/x", O_RDWR) = 3</mnt/x>',
      shared(0, '|MAP_HUGETLB') + p(0),
      shared(H) + p(H),
    ]);
    expect(differing(replay)).toEqual([]);
    expect(maps(end(replay))).toBe('0-512 rw-s /mnt/x, 512-1024 rw-s /mnt/x');
  });

  const text = (path: string, size: number): string =>
    `${p(0).slice(2)}-${p(size / 4).slice(2)} rw-s 00000000 00:29 7 ${path}\n` +
    `KernelPageSize: ${String(size)} kB\nVmFlags: rd wr sh mr mw me ms de ht \n`;
  const snapshot = (line: number, path: string, size = 2048): SnapshotInput => {
    return { label: 's', pid: 10, line, entries: parseMaps(text(path, size)).entries };
  };

  it('by a snapshot', () => {
    const lines = by(
      10,
      'openat(AT_FDCWD, "/mnt/x", O_RDWR) = 3</mnt/x>',
      `munmap(${p(1)}, 4096) = ${EINVAL}`,
      shared(H) + p(H),
      `munmap(${p(H)}, 4096) = ${EINVAL}`,
    );
    const replay = replayed(lines, { snapshots: [snapshot(1, '/mnt/x')] });
    expect(differing(replay)).toEqual([]);
    expect(flags(end(replay))).toBe('0-512 rd wr sh mr mw me ms de ht, 512-1024 rd wr sh mr mw me ms de ht');
  });

  it('by a snapshot, whatever the size', () => {
    const lines = by(10, 'getpid() = 10', `munmap(${p(H)}, 2097152) = ${EINVAL}`);
    const replay = replayed(lines, { snapshots: [snapshot(1, '/mnt/x', 1048576)] });
    expect(differing(replay)).toEqual([]);
  });

  it('a memfd and a segment too', () => {
    for (const path of ['/memfd:x (deleted)', '/SYSV00000000 (deleted)', '/anon_hugepage (deleted)']) {
      const replay = replayed(by(10, 'getpid() = 10', `munmap(${p(1)}, 4096) = ${EINVAL}`), {
        snapshots: [snapshot(1, path)],
      });
      expect(differing(replay)).toEqual([]);
      expect(maps(end(replay))).toBe(`0-512 rw-s ${path}`);
    }
  });

  it('plain maps show it of anonymous memory', () => {
    const line = `${p(0).slice(2)}-${p(H).slice(2)} rw-p 00000000 00:11 7 /anon_hugepage (deleted)\n`;
    const seed = { label: 's', pid: 10, line: 1, entries: parseMaps(line).entries };
    const replay = replayed(by(10, 'getpid() = 10', `munmap(${p(1)}, 4096) = ${EINVAL}`), {
      snapshots: [seed],
    });
    expect(differing(replay)).toEqual([]);
    expect(flags(end(replay))).toBe('0-512 rd wr mr mw me de ht');
  });
});
