import { textOfBytes } from '../base/bytes';
import { bytesOfVpn, vpnOf } from '../mm/addr';
import { DEFAULT_HUGE_PAGE } from '../mm/hugetlb';
import type { Mm } from '../mm/mm';
import { pkeyFlags } from '../mm/pkeys';
import { UNKNOWN_UFFD } from '../mm/userfaultfd_ctx';
import type { Vma, VmFile } from '../mm/vma';
import {
  hasAny,
  union,
  unionOf,
  VM_ACCOUNT,
  VM_DONTEXPAND,
  VM_EXEC,
  VM_GROWSDOWN,
  VM_HUGETLB,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYSHARE,
  VM_MAYWRITE,
  VM_NONE,
  VM_READ,
  VM_SHARED,
  VM_UFFD_FLAGS,
  VM_WRITE,
  type VmFlags,
} from '../mm/vm_flags';
import type { ParseProblem } from '../base/parse_problem';
import type { MapsEntry } from '../procfs/maps_entry';
import type { TraceEvent } from '../trace/event';
import type { FileTable } from './file_table';
import { opsOf, withHugePages } from './file_table';
import { flagsOfMnemonics, shownKey } from './maps_view';
import type { SnapshotInput } from './replay_types';
import { settleFaults } from './snapshot_settle';

/** Snapshots of maps or smaps: where they belong in a trace, and how one becomes the state of the simulation. */

/** A maps or smaps file as found beside a trace. */
export interface SnapshotFile {
  /** File name without folder. */
  readonly label: string;
  readonly entries: readonly MapsEntry[];
}

/**
 * Files named `NN-LABEL.PID.smaps` (or `.maps`) were read by the process PID itself: its n-th file belongs to its n-th
 * open of /proc/self/smaps or maps. Files that do not fit give a problem.
 */
export function placeSnapshots(
  events: readonly TraceEvent[],
  files: readonly SnapshotFile[],
): { readonly snapshots: SnapshotInput[]; readonly problems: ParseProblem[] } {
  const opens = selfReads(events);
  const snapshots: SnapshotInput[] = [];
  const problems: ParseProblem[] = [];
  const taken = new Map<number, number>();
  for (const file of [...files].sort((a, b) => (a.label < b.label ? -1 : 1))) {
    const pid = Number(/^\d+-.*\.(\d+)\.s?maps$/.exec(file.label)?.[1]);
    if (Number.isNaN(pid)) continue;
    const nth = taken.get(pid) ?? 0;
    const read = opens.get(pid)?.[nth];
    if (read === undefined) {
      problems.push({
        line: 0,
        code: 'snapshot-without-place',
        text: `${textOfBytes(file.label)}: the trace shows no matching read of /proc/self/smaps by ${pid}; the snapshot is left out`,
      });
      continue;
    }
    taken.set(pid, nth + 1);
    snapshots.push({ label: file.label, pid, ...read, entries: file.entries });
  }
  return { snapshots: snapshots.sort((a, b) => a.line - b.line), problems };
}

interface SelfRead {
  readonly line: number;
  readonly untilLine: number;
}

/** Where each pid read its own maps or smaps: from the open to the close of that descriptor. */
function selfReads(events: readonly TraceEvent[]): ReadonlyMap<number, readonly SelfRead[]> {
  const reads = new Map<number, { line: number; untilLine: number; fd: number }[]>();
  for (const event of events) {
    if (event.kind !== 'syscall' || event.result.kind !== 'value') continue;
    const { call, pid, line } = event;
    if (call.name === 'close') {
      const open = reads.get(pid)?.findLast((read) => read.fd === call.fd.fd && read.untilLine === read.line);
      if (open !== undefined) open.untilLine = line;
    }
    if (call.name !== 'openat' || !isOwnMaps(call.path, pid)) continue;
    const own = reads.get(pid) ?? [];
    own.push({ line, untilLine: line, fd: Number(event.result.value) });
    reads.set(pid, own);
  }
  return new Map(
    [...reads].map(([pid, own]) => [pid, own.map(({ line, untilLine }) => ({ line, untilLine }))]),
  );
}

function isOwnMaps(path: string, pid: number): boolean {
  const [, proc, who, file, ...rest] = path.split('/');
  if (proc !== 'proc' || rest.length > 0) return false;
  return (
    (who === 'self' || who === 'thread-self' || who === String(pid)) && (file === 'maps' || file === 'smaps')
  );
}

/**
 * Makes a snapshot the state of `mm`. What maps does not show (open file, name object, offset of anonymous memory,
 * anon_vma) is kept from the VMA that was there, where it fits, else made anew.
 */
export function seedMm(mm: Mm, files: FileTable, entries: readonly MapsEntry[]): void {
  const before = [...mm.tree.all()];
  const known: Known = {
    before,
    files: new Map(before.flatMap((vma) => (vma.file === null ? [] : [[fileKey(vma.file), vma.file]]))),
    names: new Map(before.flatMap((vma) => (vma.name === null ? [] : [[vma.name.text, vma.name]]))),
  };
  const vmas = inOrder(entries).map((entry) => vmaOfEntry(mm, files, entry, known));
  mm.replace(0, mm.tree.count, vmas);
  learnScalars(mm, entries);
  settleFaults(mm, entries);
}

interface Known {
  readonly before: readonly Vma[];
  readonly files: Map<string, VmFile>;
  readonly names: Map<string, NonNullable<Vma['name']>>;
}

/** Entries in address order without torn repeats. */
function inOrder(entries: readonly MapsEntry[]): MapsEntry[] {
  const sorted = [...entries].sort((a, b) => a.start - b.start);
  let end = 0;
  return sorted.filter((entry) => {
    if (entry.start < end || entry.start >= entry.end) return false;
    end = entry.end;
    return true;
  });
}

function fileKey({ path, deleted }: { readonly path: string; readonly deleted: boolean }): string {
  return `${deleted ? 'deleted' : 'linked'} ${path}`;
}

function vmaOfEntry(mm: Mm, files: FileTable, entry: MapsEntry, known: Known): Vma {
  const flags = flagsOfEntry(entry);
  const there = known.before.find((vma) => vma.start < entry.end && entry.start < vma.end && !vma.inferred);
  const file = fileOfEntry(files, entry, known, there);
  const special = specialName(entry);
  const aligned = there !== undefined && (there.file === null) === (file === null);
  const delta = aligned ? entry.start - there.start : 0;
  return {
    start: entry.start,
    end: entry.end,
    flags,
    pgoff: file === null ? (aligned ? there.pgoff + delta : entry.start) : vpnOf(entry.offset),
    anonPgoff: aligned ? there.anonPgoff + delta : entry.start,
    file,
    special,
    name: nameOfEntry(mm, entry, known, there),
    anonVma: aligned ? there.anonVma : 0,
    forkChild: aligned ? there.forkChild : false,
    // smaps shows pages that were written to; without it any private memory may have some.
    untouched: entry.smaps === null && !hasAny(flags, VM_SHARED) ? 'assumed' : 'sure',
    uffd: hasAny(flags, VM_UFFD_FLAGS) ? ((aligned ? there.uffd : null) ?? UNKNOWN_UFFD) : null,
    policy: aligned ? there.policy : null,
    inferred: false,
  };
}

/** Flags as printed, with the bits of the protection key; a plain maps line tells permissions only, the rest is what is usual. */
function flagsOfEntry(entry: MapsEntry): VmFlags {
  const printed = entry.smaps?.vmFlags;
  if (printed !== undefined && printed !== null) {
    return union(flagsOfMnemonics(printed).flags, pkeyFlags(shownKey(entry) ?? 0));
  }
  const [r, w, x, s] = entry.perms;
  const shared = s === 's';
  const huge = opsOf(entry.path, entry.deleted) === 'hugetlb';
  return unionOf(
    r === 'r' ? VM_READ : VM_NONE,
    w === 'w' ? VM_WRITE : VM_NONE,
    x === 'x' ? VM_EXEC : VM_NONE,
    unionOf(VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC),
    shared ? unionOf(VM_SHARED, VM_MAYSHARE) : VM_NONE,
    !shared && w === 'w' && !huge ? VM_ACCOUNT : VM_NONE,
    huge ? unionOf(VM_HUGETLB, VM_DONTEXPAND) : VM_NONE,
    entry.path === '[stack]' ? VM_GROWSDOWN : VM_NONE,
  );
}

function fileOfEntry(
  files: FileTable,
  entry: MapsEntry,
  known: Known,
  there: Vma | undefined,
): VmFile | null {
  const shmemName = entry.path.startsWith('[anon_shmem:');
  if (entry.path === '' || (entry.path.startsWith('[') && !shmemName)) return null;
  const path = shmemName ? '/dev/zero' : entry.path;
  const deleted = shmemName || entry.deleted;
  // Separate shared anonymous mappings have the same path and are different files, and so have those of huge pages.
  const distinct = ['anon-shmem', 'sysv', 'hugetlb'].includes(opsOf(path, deleted));
  const file =
    there?.file !== null && there?.file !== undefined && (distinct || there.file.path === path)
      ? there.file
      : known.files.get(
          distinct ? `${fileKey({ path, deleted })} ${entry.inode}` : fileKey({ path, deleted }),
        );
  const found = file ?? files.make(path, deleted, null);
  const shown = { ...found, dev: entry.dev, inode: entry.inode };
  const same = found.dev === entry.dev && found.inode === entry.inode ? found : shown;
  const hugePage = hugePageShown(entry);
  const kept = hugePage === undefined || hugePage === same.hugePage ? same : withHugePages(same, hugePage);
  if (hugePage !== undefined) files.learnHuge(path, hugePage);
  known.files.set(distinct ? `${fileKey(kept)} ${entry.inode}` : fileKey(kept), kept);
  return kept;
}

/** Pages of 4 KiB in the huge pages that smaps shows; undefined where it shows none. */
function hugePageShown({ smaps }: MapsEntry): number | undefined {
  if (smaps?.vmFlags?.includes('ht') !== true) return undefined;
  const size = smaps.fields.get('KernelPageSize');
  return size?.kind === 'number' && size.value > 4 ? Number(size.value) / 4 : DEFAULT_HUGE_PAGE;
}

function specialName(entry: MapsEntry): string | null {
  if (!entry.path.startsWith('[') || entry.anonName !== null) return null;
  return entry.path === '[heap]' || entry.path === '[stack]' ? null : entry.path;
}

/** The object that was there if the text is the same; else one object for each text, marked as inferred. */
function nameOfEntry(mm: Mm, entry: MapsEntry, known: Known, there: Vma | undefined): Vma['name'] {
  const text = entry.anonName;
  if (text === null) {
    // [heap] and [stack] hide a name.
    return entry.path === '[heap]' || entry.path === '[stack]' ? (there?.name ?? null) : null;
  }
  if (there?.name?.text === text) return there.name;
  const object =
    known.names.get(text) ??
    mm.system.names.alloc({ text, certainty: 'exact', createdAt: { line: 0, pid: 0 }, inferred: true });
  known.names.set(text, object);
  return object;
}

function learnScalars(mm: Mm, entries: readonly MapsEntry[]): void {
  const heap = entries.filter((entry) => entry.path === '[heap]');
  const first = heap[0];
  const last = heap[heap.length - 1];
  const stack = entries.find((entry) => entry.path === '[stack]');
  const executeOnly = entries.find((entry) => entry.perms === '--xp' && (shownKey(entry) ?? 0) > 0);
  const { startBrk, brk, startStack, heapExecutable, pkeys } = mm.scalars;
  mm.scalars = {
    ...mm.scalars,
    startBrk: startBrk ?? (first === undefined ? null : bytesOfVpn(first.start)),
    brk: brk ?? (last === undefined ? null : bytesOfVpn(last.end)),
    heapExecutable: heap.length === 0 ? heapExecutable : heap.every((entry) => entry.perms[2] === 'x'),
    // The exact page is not shown; the stack pointer at exec lies near the upper end.
    startStack: startStack ?? (stack === undefined ? null : ((stack.end - 1) as typeof stack.end)),
    pkeys: { ...pkeys, executeOnly: pkeys.executeOnly ?? shownKey(executeOnly) ?? null },
    complete: true,
  };
}
