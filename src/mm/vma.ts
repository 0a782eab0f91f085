import type { AnonVmaName } from './anon_vma_name';
import type { Vpn } from './addr';
import { hasAny, VM_SHARED, VM_WRITE, type VmFlags } from './vm_flags';

/** Which driver's vm_ops a file mapping gets, as far as it decides merging, splitting and naming. */
export type FileOps =
  | 'file'
  /** shmem without a path: shared anonymous memory, memfd, a deleted tmpfs file. Can be named (6.2). */
  | 'anon-shmem'
  /** /dev/zero: a private mapping has no vm_ops and is anonymous, though it has a file. */
  | 'dev-zero'
  /** Attach of a SysV segment: has a close hook. */
  | 'sysv'
  /** Directories, pipes, pidfds and the like: there is nothing to map. */
  | 'unmappable'
  /** Opened with O_PATH: no call that needs an open file takes it. */
  | 'path-only'
  /** memfd_secret: shared mappings only, locked, never dumped, never executable. */
  | 'secretmem'
  | 'hugetlb';

/**
 * An open file description (`struct file`): what file identity in a VMA means. Descriptors that were dup'ed or
 * inherited share it; a second open of the same path does not.
 */
export interface VmFile {
  readonly id: number;
  readonly path: string;
  readonly deleted: boolean;
  /** `major:minor` and inode where a snapshot showed them. */
  readonly dev: string;
  readonly inode: string;
  readonly ops: FileOps;
  /** Open for writing; null where the trace does not show the open. */
  readonly writable: boolean | null;
  /** Open for reading; absent where the trace does not show the open. */
  readonly readable?: boolean;
  /** Pages of 4 KiB in one page of a file with huge pages (hugetlb); absent for all others. See {@link hugePageOf}. */
  readonly hugePage?: number;
  /** Its size in pages; absent where the trace does not tell. Pages beyond it cannot be faulted in (SIGBUS). */
  readonly pages?: number;
}

/**
 * How sure it is that memory without an anon_vma was never written to: a program can write where it likes and no trace
 * shows it. `before-fork`: it may have been written to already when fork copied it, so that it counts as inherited.
 */
export type Untouched = 'sure' | 'assumed' | 'before-fork';

/** Everything that a VMA is, seen or hidden. */
export interface VmaFields {
  readonly start: Vpn;
  readonly end: Vpn;
  readonly flags: VmFlags;
  /** Pages: file offset, or for private anonymous memory the page number it was created at. */
  readonly pgoff: number;
  /** Second offset of private file mappings (7.3); equals the page number at creation. */
  readonly anonPgoff: number;
  readonly file: VmFile | null;
  /** `[vdso]`, `[vvar]`…: mapped by the kernel itself, never split. */
  readonly special: string | null;
  readonly name: AnonVmaName | null;
  /** anon_vma identity: 0 until a private page was written ("unfaulted"). */
  readonly anonVma: number;
  /** The anon_vma chain is longer than one: the faulted memory was inherited through fork. */
  readonly forkChild: boolean;
  /** What is known of "unfaulted" (anonVma 0), beside what {@link untouchedOf} adds. */
  readonly untouched: Untouched;
  /** userfaultfd context and mempolicy by identity; null without. */
  readonly uffd: number | null;
  readonly policy: string | null;
  /** Not observed but concluded from a call that touched it. */
  readonly inferred: boolean;
}

/** `struct vm_area_struct`, immutable. Only Mm replaces one by others. */
export type Vma = VmaFields;

export function vmaPages(vma: Vma): number {
  return vma.end - vma.start;
}

/**
 * The part of `vma` in [start, end), which may also reach past it (a VMA that grows): offsets move with the start.
 */
export function vmaResized(vma: Vma, start: Vpn, end: Vpn): Vma {
  if (start === vma.start && end === vma.end) return vma;
  const delta = start - vma.start;
  return { ...vma, start, end, pgoff: vma.pgoff + delta, anonPgoff: vma.anonPgoff + delta };
}

/** `vma_is_anonymous`: no vm_ops. Private /dev/zero is anonymous though it has a file. */
export function vmaIsAnonymous(vma: Vma): boolean {
  if (vma.special !== null) return false;
  return vma.file === null || vma.file.ops === 'dev-zero';
}

/** `vma_is_anon_shmem`: shared anonymous memory and memfds. */
export function vmaIsAnonShmem(vma: Vma): boolean {
  return vma.file?.ops === 'anon-shmem';
}

/** Is it the same open file? What is known of one (its inode, that it was unlinked) may have grown since. */
export function sameFile(a: VmFile | null, b: VmFile | null): boolean {
  return a?.id === b?.id;
}

/** vm_ops->close is set. */
export function vmaHasCloseHook(vma: Vma): boolean {
  return vma.file?.ops === 'sysv';
}

/** Pages of 4 KiB in one page of `file`: 1 but for huge pages (hstate_file, vma_kernel_pagesize). */
export function hugePageOf(file: VmFile | null): number {
  return file?.hugePage ?? 1;
}

/** Why vm_ops->may_split refuses a border at `at`; undefined where it allows one. */
export function vmaForbidsSplit(vma: Vma, at: Vpn): string | undefined {
  if (vma.special !== null) return 'the kernel does not split its own special mappings (may_split)';
  if (at % hugePageOf(vma.file) !== 0) return 'a huge page cannot be split (hugetlb_vm_op_split)';
  return undefined;
}

/** The page offset that lies at `page` (inside or at the end of `vma`). */
export function pgoffAt(vma: Vma, page: Vpn): number {
  return vma.pgoff + (page - vma.start);
}

/** Private memory that can be written may have been. Of meaning only while anonVma is 0. */
export function untouchedOf(vma: Pick<Vma, 'flags' | 'untouched'>): Untouched {
  if (vma.untouched !== 'sure') return vma.untouched;
  return hasAny(vma.flags, VM_WRITE) && !hasAny(vma.flags, VM_SHARED) ? 'assumed' : 'sure';
}

/** The less sure of two. */
export function lessSure(a: Untouched, b: Untouched): Untouched {
  if (a === 'before-fork' || b === 'before-fork') return 'before-fork';
  return a === 'assumed' ? a : b;
}

export function overlaps(vma: Vma, start: Vpn, end: Vpn): boolean {
  return vma.start < end && start < vma.end;
}
