import { describe, expect, it } from 'vitest';
import { by, replayed, results } from './traced';

/** Answers of 6.18.44; those of 6.1.192, 6.12.117 and 7.3.4 are the same, as far as these have the calls. */

const SHARED = 'PROT_READ, MAP_SHARED';
const PRIVATE = 'PROT_READ, MAP_PRIVATE';
const WRITABLE = 'PROT_READ|PROT_WRITE, MAP_SHARED';

/** How mmap of the descriptor ends by the rules, each way of mapping it. */
function answers(fd: string, ...opened: readonly string[]): string[] {
  const maps = [SHARED, PRIVATE, WRITABLE].map((how) => `mmap(NULL, 4096, ${how}, ${fd}, 0) = -1 EXXX (no)`);
  return replayed(by(5, ...opened, ...maps)).steps.map((step) => step.predicted);
}

describe('a file that cannot be mapped', () => {
  it.each([
    ['openat(AT_FDCWD, "/tmp", O_RDONLY|O_DIRECTORY) = 3', ['ENODEV', 'ENODEV', 'EACCES']],
    ['openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_PATH) = 3', ['EBADF', 'EBADF', 'EBADF']],
    ['epoll_create1(0) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['eventfd2(0, 0) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['timerfd_create(CLOCK_MONOTONIC, 0) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['signalfd4(-1, [], 8, 0) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['inotify_init() = 3', ['ENODEV', 'ENODEV', 'EACCES']],
    ['pidfd_open(5, 0) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['pipe2([3, 4], 0) = 0', ['ENODEV', 'ENODEV', 'EACCES']],
    ['pipe2([4, 3], O_CLOEXEC) = 0', ['EACCES', 'EACCES', 'EACCES']],
    ['openat(AT_FDCWD, "/dev/null", O_RDWR) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['openat(AT_FDCWD, "/dev/full", O_RDWR) = 3', ['ENODEV', 'ENODEV', 'ENODEV']],
    ['openat(AT_FDCWD, "/dev/urandom", O_RDONLY) = 3', ['ENODEV', 'ENODEV', 'EACCES']],
    // Any of these may be mapped or not.
    ['openat(AT_FDCWD, "/tmp", O_RDONLY) = 3', ['?', '?', 'EACCES']],
    ['socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3', ['?', '?', '?']],
  ])('%s', (opened, expected) => {
    expect(answers('3', opened)).toEqual(expected);
  });

  it.each([
    '[eventpoll]',
    '[eventfd]',
    '[timerfd]',
    '[signalfd]',
    '[pidfd]',
    '[fanotify]',
    '[userfaultfd]',
    'inotify',
  ])('is known by its note too: anon_inode:%s', (inode) => {
    expect(answers(`3<anon_inode:${inode}>`)).toEqual(['ENODEV', 'ENODEV', 'ENODEV']);
  });

  it('is no longer meant once the descriptor is another file', () => {
    expect(answers('3</etc/passwd>', 'eventfd2(0, 0) = 3<anon_inode:[eventfd]>')).toEqual(['?', '?', '?']);
    expect(answers('3', 'eventfd2(0, 0) = 3', 'close(3) = 0')).toEqual(['?', '?', '?']);
  });

  it('is still checked for its length first, and for a kind of mapping', () => {
    const lines = by(
      5,
      'eventfd2(0, 0) = 3',
      'mmap(NULL, 0, PROT_READ, MAP_SHARED, 3, 0) = -1 EINVAL (Invalid argument)',
      'mmap(NULL, 4096, PROT_READ, MAP_FILE, 3, 0) = -1 EINVAL (Invalid argument)',
    );
    expect(results(replayed(lines))).toEqual(['2 mmap EINVAL', '3 mmap EINVAL']);
  });
});
