import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/read_trace';
import { by, end, flags, fork, mapped, maps, p, replayed, results } from './traced';

const FD = '3<anon_inode:[userfaultfd]>';
const OFFERS =
  'UFFD_FEATURE_PAGEFAULT_FLAG_WP|UFFD_FEATURE_EVENT_FORK|UFFD_FEATURE_EVENT_REMAP|UFFD_FEATURE_MINOR_SHMEM|UFFD_FEATURE_WP_HUGETLBFS_SHMEM';

function opened(features = '0', offers = OFFERS): string[] {
  return [
    `userfaultfd(UFFD_USER_MODE_ONLY|O_NONBLOCK|O_CLOEXEC) = ${FD}`,
    `ioctl(${FD}, UFFDIO_API, {api=0xaa, features=${features} => features=${offers}, ioctls=1<<_UFFDIO_REGISTER|1<<_UFFDIO_UNREGISTER|1<<_UFFDIO_API}) = 0`,
  ];
}

/** Steps whose result is not as predicted. */
function differing(replay: ReturnType<typeof replayed>): unknown[] {
  return replay.steps.filter(({ mismatch }) => mismatch !== undefined);
}

function register(page: number, pages: number, mode = 'UFFDIO_REGISTER_MODE_MISSING', fd = FD): string {
  return `ioctl(${fd}, UFFDIO_REGISTER, {range={start=${p(page)}, len=0x${(pages * 4096).toString(16)}}, mode=${mode}, ioctls=1<<_UFFDIO_WAKE|1<<_UFFDIO_COPY}) = 0`;
}

const WATCHED = '0-2 rd wr mr mw me um ac, 2-4 rd wr mr mw me ac';
const UNWATCHED = '0-4 rd wr mr mw me ac';

describe('requests of userfaultfd in a trace', () => {
  it('register and unregister', () => {
    const replay = replayed([
      mapped(0, 4),
      ...opened(),
      register(0, 2),
      `ioctl(${FD}, UFFDIO_UNREGISTER, {start=${p(0)}, len=0x2000}) = 0`,
    ]);
    expect(flags(replay.at(1))).toBe(WATCHED);
    expect(flags(end(replay))).toBe(UNWATCHED);
    expect(replay.steps.map(({ title }) => title).slice(1)).toEqual([
      'UFFDIO_REGISTER(7f1000000000, 8 kB)',
      'UFFDIO_UNREGISTER(7f1000000000, 8 kB)',
    ]);
    expect(differing(replay)).toEqual([]);
  });

  it.each([
    ['a number with its name', '0xc020aa00 /* UFFDIO_REGISTER */', '0x1 /* UFFDIO_REGISTER_MODE_MISSING */'],
    ['numbers', '0xc020aa00', '0x1'],
  ])('printed as %s', (_, request, mode) => {
    const line = register(0, 2, mode).replace('UFFDIO_REGISTER,', `${request},`);
    expect(flags(end(replayed([mapped(0, 4), ...opened(), line])))).toBe(WATCHED);
  });

  it('a refused one changes nothing and is predicted', () => {
    const replay = replayed([
      mapped(0, 4),
      ...opened(),
      `ioctl(${FD}, UFFDIO_REGISTER, {range={start=${p(0)}, len=0x2000}, mode=0}) = -1 EINVAL (Invalid argument)`,
      `ioctl(${FD}, UFFDIO_REGISTER, {range={start=${p(8)}, len=0x2000}, mode=UFFDIO_REGISTER_MODE_MISSING}) = -1 EINVAL (Invalid argument)`,
    ]);
    expect(differing(replay)).toEqual([]);
    expect(flags(end(replay))).toBe(UNWATCHED);
  });

  it('what the kernel cannot do, it said in the answer of UFFDIO_API', () => {
    const replay = replayed([
      mapped(0, 4),
      ...opened('0', 'UFFD_FEATURE_EVENT_FORK'),
      `ioctl(${FD}, UFFDIO_REGISTER, {range={start=${p(0)}, len=0x2000}, mode=UFFDIO_REGISTER_MODE_WP}) = -1 EINVAL (Invalid argument)`,
    ]);
    expect(differing(replay)).toEqual([]);
  });

  it.each([
    ['0', '0-2 rd wr sh mr mw me ms um, 2-4 rd wr sh mr mw me ms'],
    ['-1 EINVAL (Invalid argument)', '0-4 rd wr sh mr mw me ms'],
  ])('whether a file is on tmpfs is taken from the result %s', (result, text) => {
    const replay = replayed([
      'openat(AT_FDCWD, "/f", O_RDWR) = 5</f>',
      `mmap(${p(0)}, 16384, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_FIXED, 5</f>, 0) = ${p(0)}`,
      ...opened(),
      register(0, 2).replace(/= 0$/, `= ${result}`),
    ]);
    expect(flags(end(replay))).toBe(text);
    expect(results(replay).at(-1)).toMatch(/predicted \?$/);
  });

  it('a page that was put is a page that was written: moved memory keeps its offsets', () => {
    const lines = (put: readonly string[]): string[] => [
      mapped(0, 4),
      mapped(14, 1),
      ...opened(),
      register(0, 4),
      ...put,
      `ioctl(${FD}, UFFDIO_UNREGISTER, {start=${p(0)}, len=0x4000}) = 0`,
      `mremap(${p(0)}, 16384, 16384, MREMAP_MAYMOVE|MREMAP_FIXED, ${p(10)}) = ${p(10)}`,
    ];
    const copy = `ioctl(${FD}, UFFDIO_COPY, {dst=${p(1)}, src=0x7ffd00000000, len=0x1000, mode=0, copy=0x1000}) = 0`;
    const again = `ioctl(${FD}, UFFDIO_ZEROPAGE, {range={start=${p(1)}, len=0x1000}, mode=0}) = -1 EEXIST (File exists)`;
    expect(maps(end(replayed(lines([]))))).toBe('10-15 rw-p');
    expect(maps(end(replayed(lines([copy]))))).toBe('10-14 rw-p, 14-15 rw-p');
    expect(maps(end(replayed(lines([again]))))).toBe('10-14 rw-p, 14-15 rw-p');
  });
});

describe('the last descriptor', () => {
  it.each([
    ['close', `close(${FD}) = 0`],
    ['close_range', 'close_range(3, 4294967295, 0) = 0'],
    ['dup2 over it', 'dup2(1, 3) = 3'],
  ])('is gone after %s', (_, line) => {
    expect(flags(end(replayed([mapped(0, 4), ...opened(), register(0, 2), line, mapped(9, 1)])))).toBe(
      `${UNWATCHED}, 9-10 rd wr mr mw me ac`,
    );
  });

  it.each([
    ['dup', `dup(${FD}) = 4<anon_inode:[userfaultfd]>`],
    ['fcntl', `fcntl(${FD}, F_DUPFD_CLOEXEC, 0) = 4<anon_inode:[userfaultfd]>`],
  ])('a copy by %s is one more', (_, copy) => {
    const replay = replayed([
      mapped(0, 4),
      ...opened(),
      register(0, 2),
      copy,
      `close(${FD}) = 0`,
      mapped(9, 1),
      'close(4<anon_inode:[userfaultfd]>) = 0',
      mapped(10, 1),
    ]);
    expect(flags(replay.at(2))).toBe(`${WATCHED}, 9-10 rd wr mr mw me ac`);
    expect(flags(end(replay))).toBe(`${UNWATCHED}, 9-11 rd wr mr mw me ac`);
  });

  it('a forked child holds it until it runs another program, or ends', () => {
    const before = by(1, mapped(0, 4), ...opened(), register(0, 2), fork(2), `close(${FD}) = 0`);
    const exec = by(2, 'execve("/bin/true", ["true"], 0x7ffd00000000 /* 1 var */) = 0');
    const exit = ['2 +++ exited with 0 +++'];
    expect(flags(end(replayed([...before, ...by(1, mapped(9, 1))])), 1)).toContain('um');
    for (const last of [exec, exit]) {
      expect(flags(end(replayed([...before, ...last, ...by(1, mapped(9, 1))])), 1)).toBe(
        `${UNWATCHED}, 9-10 rd wr mr mw me ac`,
      );
    }
  });
});

describe('other processes', () => {
  it('a child that inherited the descriptor watches its parent', () => {
    const replay = replayed([...by(1, mapped(0, 4), ...opened(), fork(2)), ...by(2, register(0, 2))]);
    expect(flags(end(replay), 1)).toBe(WATCHED);
    expect(flags(end(replay), 2)).toBe(UNWATCHED);
  });

  it('with EVENT_FORK the child is watched by the descriptor that turns up unseen', () => {
    const replay = replayed([
      ...by(1, mapped(0, 4), ...opened('UFFD_FEATURE_EVENT_FORK'), register(0, 2), fork(2)),
      ...by(1, 'ioctl(7<anon_inode:[userfaultfd]>, UFFDIO_UNREGISTER, {start=' + p(0) + ', len=0x1000}) = 0'),
    ]);
    expect(flags(end(replay), 1)).toBe(WATCHED);
    expect(flags(end(replay), 2)).toBe(
      '0-1 rd wr mr mw me ac, 1-2 rd wr mr mw me um ac, 2-4 rd wr mr mw me ac',
    );
  });
});

it('a capture without ioctl says so', () => {
  const trace = readTrace(`${mapped(0, 4)}\nuserfaultfd(0) = 3\n`);
  expect(trace.lacks.map(({ code }) => code)).toContain('no-ioctl');
});
