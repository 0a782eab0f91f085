import { readFd } from '../trace/strace/fd';

/** Descriptors that have no memory to map, and the calls that make them. */

const INOTIFY = 'anon_inode:inotify';

/** What strace -y prints for the descriptor that a call returns. */
const RETURNED: ReadonlyMap<string, string> = new Map([
  ['epoll_create', 'anon_inode:[eventpoll]'],
  ['epoll_create1', 'anon_inode:[eventpoll]'],
  ['eventfd', 'anon_inode:[eventfd]'],
  ['eventfd2', 'anon_inode:[eventfd]'],
  ['timerfd_create', 'anon_inode:[timerfd]'],
  ['signalfd', 'anon_inode:[signalfd]'],
  ['signalfd4', 'anon_inode:[signalfd]'],
  ['inotify_init', INOTIFY],
  ['inotify_init1', INOTIFY],
]);

const UNMAPPABLE: ReadonlySet<string> = new Set([
  ...RETURNED.values(),
  'anon_inode:[fanotify]',
  'anon_inode:[pidfd]',
  'anon_inode:[userfaultfd]',
  '/dev/null',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
]);

/** Has nothing with this path an mmap operation? */
export function isUnmappable(path: string): boolean {
  return UNMAPPABLE.has(path) || /^(?:pid|pipe):/.test(path);
}

/** A descriptor that a call made. */
interface MadeDescriptor {
  readonly fd: number;
  readonly path: string;
  readonly writable: boolean;
  readonly readable: boolean;
  readonly closeOnExec: boolean;
}

/** What a successful call made. The reading end of a pipe cannot be written to, and the other one not be read. */
export function unmappableMadeBy(
  syscall: string,
  args: readonly string[],
  value: number,
): readonly MadeDescriptor[] {
  const closeOnExec = args.some((argument) => argument.includes('_CLOEXEC'));
  const path = RETURNED.get(syscall);
  if (path !== undefined)
    return [{ fd: value, path, writable: path !== INOTIFY, readable: true, closeOnExec }];
  if (syscall !== 'pipe' && syscall !== 'pipe2') return [];
  const ends = /^\[(.+), (.+)\]$/.exec(args[0] ?? '')?.slice(1) ?? [];
  return ends.flatMap((end, index) => {
    const note = readFd(end, 0, end.length);
    if (note === undefined) return [];
    const reads = index === 0;
    return [{ fd: note.fd, path: note.path ?? 'pipe:', writable: !reads, readable: reads, closeOnExec }];
  });
}
