import type { MapsEntry } from '../procfs/maps_entry';
import { ownerOfName, type NameOwner } from './name_rules';

/** What a mapping is, from what maps and smaps show of it. */
export type Kind =
  /** An executable mapping of a file. */
  | 'code'
  /** Other private pieces of a file that has code in the same address space. */
  | 'data'
  /** A private mapping of any other file. */
  | 'file'
  | 'heap'
  | 'stack'
  /** Private anonymous memory without a name. */
  | 'anonymous'
  /** The same, executable: code that the process made itself. */
  | 'generated'
  /** Private anonymous memory with a name. */
  | 'named'
  /** Shared memory that is none of the next three. */
  | 'shared'
  | 'memfd'
  | 'sysv'
  | 'hugetlb'
  | 'device'
  | 'socket'
  | 'anon-inode'
  /** Mapped by the kernel itself: [vdso], [vvar], [vsyscall] and every other bracket name. */
  | 'special';

/** Every kind, in the order in which lists show them. */
export const KINDS: readonly Kind[] = [
  'code',
  'data',
  'heap',
  'stack',
  'anonymous',
  'generated',
  'named',
  'shared',
  'memfd',
  'sysv',
  'hugetlb',
  'file',
  'device',
  'socket',
  'anon-inode',
  'special',
];

/** What a kind depends on besides the mapping itself. */
export interface KindContext {
  /** Identities ({@link fileIdentity}) of the files that some executable mapping shows. */
  readonly filesWithCode: ReadonlySet<string>;
}

/** Gathers what {@link kindOf} needs to know of the whole address space. */
export function kindContext(entries: readonly MapsEntry[]): KindContext {
  const filesWithCode = new Set<string>();
  for (const entry of entries) {
    if (isExecutable(entry) && entry.path !== '') filesWithCode.add(fileIdentity(entry));
  }
  return { filesWithCode };
}

/** One file as maps tells it: the same path may be another file after a replacement. */
export function fileIdentity(entry: MapsEntry): string {
  return `${entry.dev} ${entry.inode} ${entry.path}`;
}

/** True for `s`, false for `p`; null where the source prints neither (WSL 1). */
export function isShared(entry: MapsEntry): boolean | null {
  const letter = entry.perms[3];
  return letter === 's' ? true : letter === 'p' ? false : null;
}

function isExecutable(entry: MapsEntry): boolean {
  return entry.perms[2] === 'x';
}

export function isWritableAndExecutable(entry: MapsEntry): boolean {
  return entry.perms[1] === 'w' && isExecutable(entry);
}

/**
 * Classifies one mapping. The order of questions is the kernel's own precedence for the last column of maps
 * (file, then what the driver or the architecture says, then heap, stack and name).
 */
export function kindOf(entry: MapsEntry, context: KindContext): Kind {
  const path = entry.path;
  if (entry.smaps?.vmFlags?.includes('ht') === true) return 'hugetlb';
  if (entry.anonName !== null)
    return isShared(entry) === true || path.startsWith('[anon_shmem:') ? 'shared' : 'named';
  if (path === '' || path === '//anon') return anonymousKind(entry);
  if (path.startsWith('[')) return bracketKind(path);
  const byPath = pathKind(entry);
  if (byPath !== undefined) return byPath;
  if (isExecutable(entry)) return 'code';
  if (isShared(entry) === true) return 'shared';
  return context.filesWithCode.has(fileIdentity(entry)) ? 'data' : 'file';
}

/** The owner that the mapping's name announces; undefined for a mapping without one. */
export function ownerOf(entry: MapsEntry): NameOwner | undefined {
  if (entry.anonName !== null) return ownerOfName(entry.anonName);
  // Android named shared memory this way before anonymous names existed upstream.
  if (entry.path.startsWith(ASHMEM)) return ownerOfName(entry.path.slice(ASHMEM.length));
  return undefined;
}

const ASHMEM = '/dev/ashmem/';

function anonymousKind(entry: MapsEntry): Kind {
  // No path, yet an inode: a file whose name the reader could not see.
  if (entry.path === '' && entry.inode !== '0' && entry.inode !== '')
    return isExecutable(entry) ? 'code' : 'file';
  if (isShared(entry) === true) return 'shared';
  return isExecutable(entry) ? 'generated' : 'anonymous';
}

function bracketKind(path: string): Kind {
  if (path === '[heap]') return 'heap';
  // Kernels 3.4 to 4.4 also told the thread: [stack:1234].
  if (path === '[stack]' || path.startsWith('[stack:')) return 'stack';
  return 'special';
}

/** Files that are not files: shm_mnt, hugetlbfs, sockets and devices show up by a path of their own. */
function pathKind(entry: MapsEntry): Kind | undefined {
  const path = entry.path;
  if (path.startsWith('/memfd:')) return 'memfd';
  if (/^\/SYSV[0-9a-f]{8}$/.test(path)) return 'sysv';
  if (path.startsWith('/anon_hugepage')) return 'hugetlb';
  if (path.startsWith('socket:')) return 'socket';
  if (path.startsWith('anon_inode:')) return 'anon-inode';
  if (path === '/dev/zero') return isShared(entry) === true ? 'shared' : anonymousKind(entry);
  if (path.startsWith(ASHMEM) || path.startsWith('/dev/shm/'))
    return isShared(entry) === false ? undefined : 'shared';
  if (path.startsWith('/dev/') && !path.startsWith('/dev/hugepages/')) return 'device';
  return undefined;
}

/**
 * Does ` (deleted)` mean that a file was deleted on disk? Memory that never had a name on disk (memfd, SysV
 * segments, shared anonymous memory, anonymous huge pages) always carries the mark.
 */
export function isDeletedFile(entry: MapsEntry, kind: Kind): boolean {
  if (!entry.deleted || entry.path === '/dev/zero') return false;
  return kind !== 'memfd' && kind !== 'sysv' && kind !== 'hugetlb';
}
