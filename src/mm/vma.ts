import type { AnonVmaName } from './anon_vma_name';
import type { Vpn } from './addr';
import type { VmFlags } from './vm_flags';

/** Which driver's vm_ops a file mapping gets, as far as it decides merging, splitting and naming. */
export type FileOps =
  | 'file'
  /** shmem without a path: shared anonymous memory, memfd, a deleted tmpfs file. Can be named (6.2). */
  | 'anon-shmem'
  /** /dev/zero: a private mapping has no vm_ops and is anonymous, though it has a file. */
  | 'dev-zero'
  /** Attach of a SysV segment: has a close hook. */
  | 'sysv'
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
}

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

/** vm_ops->close is set. */
export function vmaHasCloseHook(vma: Vma): boolean {
  return vma.file?.ops === 'sysv';
}

/** vm_ops->may_split refuses any split. */
export function vmaForbidsSplit(vma: Vma): boolean {
  return vma.special !== null;
}

/** The page offset that lies at `page` (inside or at the end of `vma`). */
export function pgoffAt(vma: Vma, page: Vpn): number {
  return vma.pgoff + (page - vma.start);
}

export function overlaps(vma: Vma, start: Vpn, end: Vpn): boolean {
  return vma.start < end && start < vma.end;
}
