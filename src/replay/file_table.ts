import type { FdArg } from '../trace/event';
import { DEFAULT_HUGE_PAGE } from '../mm/hugetlb';
import type { FileOps, VmFile } from '../mm/vma';
import type { MmSystem } from '../mm/mm';
import { isUnmappable } from './unmappable_files';

/** What -y prints for a descriptor of userfaultfd(2). */
export const USERFAULTFD_PATH = 'anon_inode:[userfaultfd]';

/** Open files of a process, as far as the trace tells. A forked child has the same open files. */
export class FileTable {
  private readonly files: Map<number, VmFile>;
  /** FD_CLOEXEC. */
  private readonly cloexec: Set<number>;

  constructor(
    private readonly system: MmSystem,
    files: ReadonlyMap<number, VmFile> = new Map(),
    cloexec: ReadonlySet<number> = new Set(),
  ) {
    this.files = new Map(files);
    this.cloexec = new Set(cloexec);
  }

  /** A copy that goes its own way: fork, and exec of one that was shared. */
  fork(): FileTable {
    return new FileTable(this.system, this.files, this.cloexec);
  }

  /** A descriptor that the trace saw being opened. `writable` null where the mode is not known. */
  open(
    fd: number,
    path: string,
    writable: boolean | null,
    deleted = false,
    readable?: boolean,
    ops?: FileOps,
  ): VmFile {
    const made = this.make(path, deleted, writable, ops);
    const file = readable === undefined ? made : { ...made, readable };
    this.put(fd, file);
    return file;
  }

  /** A descriptor turns out to be the open file `id`. */
  hold(fd: number, path: string, id: number): void {
    this.put(fd, { ...this.make(path, false, null), id });
  }

  /** A file with huge pages: a memfd (MFD_HUGETLB), or one of a mounted hugetlbfs. */
  openHuge(fd: number, path: string, deleted: boolean, writable: boolean | null, hugePage: number): void {
    this.put(fd, { ...this.make(path, deleted, writable, 'hugetlb'), hugePage });
  }

  /** Something showed that the open files with this path have huge pages. */
  learnHuge(path: string, hugePage: number): void {
    for (const [fd, file] of this.files) {
      if (file.path === path && file.hugePage !== hugePage) this.files.set(fd, withHugePages(file, hugePage));
    }
  }

  /** dup: the same open file under one more descriptor. Returns what that was before. */
  duplicate(from: FdArg, to: number): VmFile | undefined {
    const file = this.fileOf(from);
    const before = this.files.get(to);
    if (file !== null) this.put(to, file);
    return before;
  }

  /** Returns what was closed, as far as it was known. */
  close(fd: number): VmFile | undefined {
    const file = this.files.get(fd);
    this.files.delete(fd);
    this.cloexec.delete(fd);
    return file;
  }

  /** Known descriptors from `first` to `last`. */
  within(first: number, last: number): readonly number[] {
    return [...this.files.keys()].filter((fd) => fd >= first && fd <= last);
  }

  /** Sets or clears FD_CLOEXEC. */
  closeOnExec(fd: number, on: boolean): void {
    if (on) this.cloexec.add(fd);
    else this.cloexec.delete(fd);
  }

  /** What exec leaves of it. */
  afterExec(): FileTable {
    const left = this.fork();
    for (const fd of this.cloexec) left.close(fd);
    return left;
  }

  /** Is the open file `id` under any descriptor? */
  holds(id: number): boolean {
    for (const file of this.files.values()) if (file.id === id) return true;
    return false;
  }

  private put(fd: number, file: VmFile): void {
    this.files.set(fd, file);
    this.cloexec.delete(fd);
  }

  /**
   * The open file behind a descriptor. One that was opened unseen is made now; one whose path note differs from what
   * we hold was reopened unseen. A negative descriptor is no file.
   */
  fileOf(fd: FdArg): VmFile | null {
    if (fd.fd < 0) return null;
    const held = this.files.get(fd.fd);
    const path = pathOf(fd);
    if (held !== undefined && (path === undefined || samePath(held, path.path))) {
      if (path?.deleted !== true || held.deleted) return held;
      const gone = { ...held, deleted: true };
      this.files.set(fd.fd, gone);
      return gone;
    }
    const file = this.make(path?.path ?? `fd:${fd.fd}`, path?.deleted ?? false, null);
    this.files.set(fd.fd, file);
    return file;
  }

  /** A file of its own, e.g. for an attached segment. */
  make(
    path: string,
    deleted: boolean,
    writable: boolean | null,
    ops: FileOps = opsOf(path, deleted),
  ): VmFile {
    const file: VmFile = {
      id: this.system.ids.file++,
      path,
      deleted,
      dev: '00:00',
      inode: '0',
      ops,
      writable,
    };
    return ops === 'hugetlb' ? withHugePages(file, DEFAULT_HUGE_PAGE) : file;
  }
}

/** `file` as one whose pages are huge. An attached segment stays one. */
export function withHugePages(file: VmFile, hugePage: number): VmFile {
  return { ...file, ops: file.ops === 'sysv' ? 'sysv' : 'hugetlb', hugePage };
}

function pathOf(fd: FdArg): { readonly path: string; readonly deleted: boolean } | undefined {
  return fd.path === undefined
    ? undefined
    : { path: fd.path, deleted: fd.deleted === true || isMemfd(fd.path) };
}

/** openat prints the path as given, the note at mmap the resolved one: only absolute paths can contradict. */
function samePath(held: VmFile, path: string): boolean {
  return held.path === path || (!held.path.startsWith('/') && !/^(?:fd|pipe|anon_inode):/.test(held.path));
}

function isMemfd(path: string): boolean {
  return path.startsWith('/memfd:');
}

/** Driver of a mapping by the path that maps shows. */
export function opsOf(path: string, deleted: boolean): FileOps {
  if (isMemfd(path)) return 'anon-shmem';
  if (path === '/dev/zero') return deleted ? 'anon-shmem' : 'dev-zero';
  if (/^\/SYSV[0-9a-f]{8}$/.test(path)) return 'sysv';
  if (path === '/anon_hugepage' || path.startsWith('/dev/hugepages/')) return 'hugetlb';
  if (path === '/secretmem') return 'secretmem';
  if (isUnmappable(path)) return 'unmappable';
  return 'file';
}
