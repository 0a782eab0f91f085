import type { FdArg } from '../trace/event';
import type { FileOps, VmFile } from '../mm/vma';
import type { MmSystem } from '../mm/mm';

/** Open files of a process, as far as the trace tells. A forked child has the same open files. */
export class FileTable {
  private readonly files: Map<number, VmFile>;

  constructor(
    private readonly system: MmSystem,
    files: ReadonlyMap<number, VmFile> = new Map(),
  ) {
    this.files = new Map(files);
  }

  fork(): FileTable {
    return new FileTable(this.system, this.files);
  }

  /** A descriptor that the trace saw being opened. `writable` null where the mode is not known. */
  open(fd: number, path: string, writable: boolean | null, deleted = false, readable?: boolean): void {
    const file = this.make(path, deleted, writable);
    this.files.set(fd, readable === undefined ? file : { ...file, readable });
  }

  /** dup: the same open file under one more descriptor. */
  duplicate(from: FdArg, to: number): void {
    const file = this.fileOf(from);
    if (file !== null) this.files.set(to, file);
  }

  close(fd: number): void {
    this.files.delete(fd);
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
    return { id: this.system.ids.file++, path, deleted, dev: '00:00', inode: '0', ops, writable };
  }
}

function pathOf(fd: FdArg): { readonly path: string; readonly deleted: boolean } | undefined {
  return fd.path === undefined
    ? undefined
    : { path: fd.path, deleted: fd.deleted === true || isMemfd(fd.path) };
}

/** openat prints the path as given, the note at mmap the resolved one: only absolute paths can contradict. */
function samePath(held: VmFile, path: string): boolean {
  return held.path === path || (!held.path.startsWith('/') && !held.path.startsWith('fd:'));
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
  if (/^(pid|pipe):/.test(path)) return 'unmappable';
  return 'file';
}
