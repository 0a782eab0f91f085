import { ok, type Result } from '../../base/result';
import {
  bytesOfVpn,
  offsetInPage,
  pageAligned,
  pageAlignUp,
  TASK_SIZE_PAGES,
  vpnAdd,
  vpnOf,
  type U64,
  type Vpn,
} from '../addr';
import { populate } from '../fault';
import {
  HUGE_SHIFT,
  hugeLogOf,
  checkHugeOffset,
  hugeAligned,
  hugeAlignUp,
  hugeFile,
  hugeHint,
  hugePageHere,
} from '../hugetlb';
import { accountable, canDoMlock, mlockFutureOk } from '../limits';
import { checkWriteSeal, writeSeals } from '../memfd_seal';
import { inTaskSize, type Mm } from '../mm';
import { executeOnlyPkey, pkeyFlags } from '../pkeys';
import { overLimit, refuse, type Prediction, type Refusal } from '../refusal';
import { hugePageOf, type VmFile } from '../vma';
import { placeNew } from '../vma_merge';
import { setVma, vmaAt } from '../vma_modify';
import {
  hasAll,
  hasAny,
  union,
  unionOf,
  VM_ACCOUNT,
  VM_DONTDUMP,
  VM_DONTEXPAND,
  VM_DROPPABLE,
  VM_EXEC,
  VM_GROWSDOWN,
  VM_HUGETLB,
  VM_LOCKED,
  VM_LOCKED_MASK,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYSHARE,
  VM_MAYWRITE,
  VM_MERGEABLE,
  VM_NOHUGEPAGE,
  VM_NONE,
  VM_NORESERVE,
  VM_READ,
  VM_SHARED,
  VM_SOFTDIRTY,
  VM_SPECIAL,
  VM_SYNC,
  VM_WIPEONFORK,
  VM_WRITE,
  without,
  type VmFlags,
} from '../vm_flags';
import { ksmCompatible } from './madvise';
import { STACK_GUARD_PAGES } from '../stack_growth';
import { makeRoom, mayMapNew, sharedZeroFile, shmemEnough } from './mmap_room';

const MAP_TYPE = 0xf;
export const MAP_SHARED = 1;
export const MAP_PRIVATE = 2;
const MAP_SHARED_VALIDATE = 3;
export const MAP_DROPPABLE = 8;
export const MAP_FIXED = 0x10;
export const MAP_ANONYMOUS = 0x20;
const MAP_32BIT = 0x40;
const MAP_ABOVE4G = 0x80;
export const MAP_GROWSDOWN = 0x100;
export const MAP_LOCKED = 0x2000;
export const MAP_NORESERVE = 0x4000;
export const MAP_POPULATE = 0x8000;
export const MAP_NONBLOCK = 0x10000;
export const MAP_STACK = 0x20000;
export const MAP_HUGETLB = 0x40000;
const MAP_SYNC = 0x80000;
export const MAP_FIXED_NOREPLACE = 0x100000;

export const PROT_READ = 1;
export const PROT_WRITE = 2;
export const PROT_EXEC = 4;

/** Flags older than MAP_SHARED_VALIDATE, which it takes without asking the file. MAP_FIXED_NOREPLACE is none of them. */
const LEGACY_MAP_MASK =
  MAP_SHARED |
  MAP_PRIVATE |
  MAP_FIXED |
  MAP_ANONYMOUS |
  MAP_32BIT |
  MAP_GROWSDOWN |
  0x1800 | // MAP_DENYWRITE, MAP_EXECUTABLE
  MAP_LOCKED |
  MAP_NORESERVE |
  MAP_POPULATE |
  MAP_NONBLOCK |
  MAP_STACK |
  MAP_HUGETLB |
  0x0400_0000 | // MAP_UNINITIALIZED
  (21 << HUGE_SHIFT) |
  (30 << HUGE_SHIFT);

/** Whole pages below MAX_LFS_FILESIZE, and below the largest offset of what is no file. */
const LARGEST_FILE_PAGES = 2 ** 51 - 1;
const LARGEST_DEVICE_PAGES = 2 ** 52 - 1;

/** First page that MAP_32BIT does not give (2 GiB). */
const LOW_END = 0x80000;

export interface MmapArgs {
  readonly addr: U64;
  readonly length: U64;
  readonly prot: number;
  readonly flags: number;
  /** The open file; null for anonymous memory and for a descriptor that is not open. */
  readonly file: VmFile | null;
  /** Bytes. */
  readonly offset: U64;
  /** Where the record says that the kernel put it; decides the place, never the outcome. */
  readonly placedAt: U64 | undefined;
}

/** mmap: ksys_mmap_pgoff (mm/mmap.c). Returns the address, or `anywhere` if the kernel is free to choose. */
export function sysMmap(mm: Mm, args: MmapArgs): Prediction {
  if (!pageAligned(args.offset)) return refuse('EINVAL', 'the offset is not page aligned');
  const anonymous = (args.flags & MAP_ANONYMOUS) !== 0;
  if (!anonymous && (args.file === null || args.file.ops === 'path-only'))
    return refuse('EBADF', 'the file descriptor is not open, or names a path only (O_PATH)');
  const file = backing(mm, args, anonymous);
  if (!file.ok) return file;
  const hugePage = hugePageOf(file.value);
  const length = hugePage === 1 ? args.length : hugeAlignUp(args.length, hugePage);
  return doMmap(mm, { ...args, file: file.value, length });
}

/** do_mmap and mmap_region (mm/mmap.c, mm/vma.c): what shmat and remap_file_pages call, too. No file: anonymous memory. */
export function doMmap(mm: Mm, args: MmapArgs): Prediction {
  if (args.length === 0) return refuse('EINVAL', 'the length is 0');
  const pages = pageAlignUp(args.length);
  if (pages === 0) return refuse('ENOMEM', 'the length wraps around');
  if (mm.mapCount > mm.system.maxMapCount)
    return overLimit('ENOMEM', 'more than vm.max_map_count VMAs exist already');

  const key = args.prot === PROT_EXEC ? pkeyFlags(executeOnlyPkey(mm) ?? 0) : VM_NONE;
  const place = choosePlace(mm, args, pages);
  if (!place.ok) return place;
  const lockable = checkLocks(mm, args, pages);
  if (!lockable.ok) return lockable;
  const flags = mappingFlags(mm, args, key);
  if (!flags.ok) return flags;
  const start = place.value;
  const denied = mm.scalars.mdwe && hasAll(flags.value, unionOf(VM_WRITE, VM_EXEC));
  const why = 'PR_SET_MDWE forbids memory that is writable and executable';
  if (denied && (start === 'anywhere' || !mm.rules.fixedUnmapsFirst)) return refuse('EACCES', why);
  if (start === 'anywhere' && args.placedAt === undefined) {
    const allowed = mayMapNew(mm, flags.value, pages);
    const accepted = allowed.ok ? accept(mm, args, flags.value, pages) : allowed;
    return accepted.ok ? ok('anywhere') : accepted;
  }
  const at =
    start === 'anywhere' || !isFixed(args) ? vpnOf(args.placedAt ?? bytesOfVpn(Number(start))) : start;
  if (!inTaskSize(at, pages)) return refuse('ENOMEM', 'the range leaves the address space');
  const end = vpnAdd(at, pages);

  const free = makeRoom(mm, at, end, flags.value);
  if (!free.ok) return free;
  // What was there is lost.
  if (denied) return refuse('EACCES', why);
  const accepted = accept(mm, args, flags.value, pages);
  if (!accepted.ok) return accepted;
  mapRange(mm, at, end, flags.value, args, args.file === null);
  return ok(start === 'anywhere' ? 'anywhere' : bytesOfVpn(start));
}

/** What is asked when room has been made: the driver of a file, or whether shared memory can be backed. */
function accept(mm: Mm, args: MmapArgs, flags: VmFlags, pages: number): Result<void, Refusal> {
  if (args.file === null) return shmemEnough(mm, flags, pages);
  const sealed = checkWriteSeal(mm, args.file, flags, 'late');
  return sealed.ok ? checkHugeOffset(args.file, args.offset) : sealed;
}

/** The file that is mapped; null for anonymous memory of ordinary pages. With huge pages that has one, too. */
function backing(mm: Mm, { flags, file }: MmapArgs, anonymous: boolean): Result<VmFile | null, Refusal> {
  if ((flags & MAP_HUGETLB) === 0) return ok(anonymous ? null : file);
  if (!anonymous) {
    return hugePageOf(file) > 1 ? ok(file) : refuse('EINVAL', 'MAP_HUGETLB on a file that has no huge pages');
  }
  const hugePage = hugePageHere(mm, hugeLogOf(flags));
  return hugePage === undefined
    ? refuse('EINVAL', 'the kernel or the processor has no huge pages of this size')
    : ok(hugeFile(mm, hugePage));
}

/** do_mmap: what is locked from the beginning must be allowed. */
function checkLocks(mm: Mm, args: MmapArgs, pages: number): Result<void, Refusal> {
  const locked = (args.flags & MAP_LOCKED) !== 0;
  const allowed = locked ? canDoMlock(mm) : ok(undefined);
  if (!allowed.ok) return allowed;
  if (mlockFutureOk(mm, locked ? VM_LOCKED : mm.scalars.defFlags, pages)) return ok(undefined);
  return overLimit('EAGAIN', 'locked memory would exceed RLIMIT_MEMLOCK (mlock_future_ok)');
}

function isFixed({ flags }: MmapArgs): boolean {
  return (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) !== 0;
}

/** get_unmapped_area as far as rules decide: fixed addresses and hints that can be honoured. */
function choosePlace(mm: Mm, args: MmapArgs, pages: number): Result<Vpn | 'anywhere', Refusal> {
  const noReplace = (args.flags & MAP_FIXED_NOREPLACE) !== 0;
  const start = vpnOf(args.addr);
  if (pages > TASK_SIZE_PAGES) return refuse('ENOMEM', 'the length exceeds the address space');
  if (pages % hugePageOf(args.file) !== 0)
    return refuse('EINVAL', 'the length is not a number of huge pages of the file');
  if ((args.flags & MAP_FIXED) !== 0 || noReplace) {
    if (hugePageOf(args.file) > 1 && !hugeAligned(args.file, args.addr))
      return refuse('EINVAL', 'the address is not aligned to the huge pages of the file');
    if (!inTaskSize(start, pages)) return refuse('ENOMEM', 'the range leaves the address space');
    if (offsetInPage(args.addr) !== 0) return refuse('EINVAL', 'the address is not page aligned');
    const there = noReplace ? mm.firstIn(start, vpnAdd(start, pages)) : undefined;
    if (there !== undefined)
      return refuse('EEXIST', 'MAP_FIXED_NOREPLACE: a mapping is there already', there);
    return ok(start);
  }
  // Without MAP_FIXED only: a fixed address is taken as it is.
  const low = (args.flags & MAP_32BIT) !== 0 && mm.rules.map32Bit;
  const hint = hugeHint(mm, args.file, start);
  if (hint === 0 || !hintFits(mm, hint, pages) || (low && hint + pages > LOW_END)) return ok('anywhere');
  return ok(hint);
}

/** Would the kernel put `pages` pages at `start`, asked for without MAP_FIXED (arch_get_unmapped_area)? */
export function hintFits(mm: Mm, start: Vpn, pages: number): boolean {
  const end = vpnAdd(start, pages);
  if (!inTaskSize(start, pages) || mm.firstIn(start, end) !== undefined) return false;
  const next = mm.tree.at(mm.tree.find(end));
  if (next === undefined) return true;
  const guard = hasAny(next.flags, VM_GROWSDOWN) ? STACK_GUARD_PAGES : 0;
  return end <= next.start - guard;
}

/** do_mmap: vm_flags of the new mapping, with the bits of its protection key, or why its kind is refused. */
function mappingFlags(mm: Mm, args: MmapArgs, key: VmFlags): Result<VmFlags, Refusal> {
  const { file } = args;
  let flags = unionOf(protFlags(args.prot), key, VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC, mm.scalars.defFlags);
  if ((args.flags & MAP_GROWSDOWN) !== 0) flags = union(flags, VM_GROWSDOWN);
  if ((args.flags & MAP_LOCKED) !== 0) flags = union(flags, VM_LOCKED);
  if ((args.flags & MAP_SYNC) !== 0) flags = union(flags, VM_SYNC);
  if ((args.flags & MAP_STACK) !== 0) flags = union(flags, stackFlag(mm));
  const kind = file === null ? anonymousKind(mm, args) : fileKind(mm, args, file);
  if (!kind.ok) return kind;
  flags = union(flags, kind.value);
  if (file?.ops === 'secretmem') flags = without(flags, VM_MAYEXEC);
  const sealed = checkWriteSeal(mm, file, flags, 'early');
  if (!sealed.ok) return sealed;
  if (file !== null && file.writable === false && hasAny(flags, VM_SHARED)) {
    flags = without(flags, unionOf(VM_MAYWRITE, VM_SHARED));
  }
  if (writeSeals(mm, file) !== 0 && hasAny(flags, VM_SHARED)) flags = without(flags, VM_MAYWRITE);
  if (hugePageOf(file) > 1) flags = unionOf(flags, VM_HUGETLB, VM_DONTEXPAND);
  // Without overcommit everything is charged, whatever the program asks for; huge pages have a pool of their own.
  const unreserved = mm.system.overcommit !== 'never' || hasAny(flags, VM_HUGETLB);
  if ((args.flags & MAP_NORESERVE) !== 0 && unreserved) flags = union(flags, VM_NORESERVE);
  if (accountable(flags)) flags = union(flags, VM_ACCOUNT);
  return ok(mm.has('soft-dirty') ? union(flags, VM_SOFTDIRTY) : flags);
}

function anonymousKind(mm: Mm, args: MmapArgs): Result<VmFlags, Refusal> {
  switch (args.flags & MAP_TYPE) {
    case MAP_SHARED:
      if ((args.flags & MAP_GROWSDOWN) !== 0) return refuse('EINVAL', 'shared memory cannot grow down');
      return ok(unionOf(VM_SHARED, VM_MAYSHARE));
    case MAP_PRIVATE:
      return ok(VM_NONE);
    case MAP_DROPPABLE:
      if (!mm.rules.droppable) return refuse('EINVAL', 'this kernel has no MAP_DROPPABLE');
      if ((args.flags & (MAP_LOCKED | MAP_GROWSDOWN)) !== 0) {
        return refuse('EINVAL', 'droppable memory is never locked or growing');
      }
      return ok(unionOf(VM_DROPPABLE, VM_NORESERVE, VM_WIPEONFORK, VM_DONTDUMP));
    default:
      return refuse('EINVAL', 'the mapping is neither shared nor private');
  }
}

/** What a file allows; the checks in the order of do_mmap. */
function fileKind(mm: Mm, args: MmapArgs, file: VmFile): Result<VmFlags, Refusal> {
  if (endsPastLargestFile(args, file)) {
    return refuse('EOVERFLOW', 'the range ends past the largest size of a file (file_mmap_ok)');
  }
  const type = args.flags & MAP_TYPE;
  if (type !== MAP_SHARED && type !== MAP_PRIVATE && type !== MAP_SHARED_VALIDATE) {
    return refuse('EINVAL', 'the mapping is neither shared nor private');
  }
  const shared = type !== MAP_PRIVATE;
  const known = LEGACY_MAP_MASK | (mm.rules.mapAbove4g ? MAP_ABOVE4G : 0);
  if (type === MAP_SHARED_VALIDATE && (args.flags & ~known) !== 0) {
    return refuse(
      'EOPNOTSUPP',
      'MAP_SHARED_VALIDATE refuses what the file does not know: MAP_SYNC needs a DAX file',
    );
  }
  if (shared && (args.prot & PROT_WRITE) !== 0 && file.writable === false) {
    return refuse('EACCES', 'the file is not open for writing');
  }
  if (file.readable === false) return refuse('EACCES', 'the file is not open for reading');
  if (file.ops === 'unmappable')
    return refuse('ENODEV', 'there is nothing in such a file that can be mapped');
  if ((args.flags & MAP_GROWSDOWN) !== 0) return refuse('EINVAL', 'a file mapping cannot grow down');
  if (file.ops === 'secretmem') return secretKind(mm, shared, args.prot);
  return ok(shared ? unionOf(VM_SHARED, VM_MAYSHARE) : VM_NONE);
}

/** secretmem_mmap, on a file system that is mounted noexec. */
function secretKind(mm: Mm, shared: boolean, prot: number): Result<VmFlags, Refusal> {
  if ((prot & PROT_EXEC) !== 0) return refuse('EPERM', 'secret memory is never executable');
  if (!shared) return refuse('EINVAL', 'secret memory is mapped shared only');
  return ok(unionOf(VM_SHARED, VM_MAYSHARE, VM_DONTDUMP, mm.rules.secretMemLocked ? VM_LOCKED : VM_NONE));
}

/** file_mmap_ok: offsets of regular files are signed 64-bit numbers, those of devices unsigned. */
function endsPastLargestFile(args: MmapArgs, file: VmFile): boolean {
  const largest = file.ops === 'dev-zero' ? LARGEST_DEVICE_PAGES : LARGEST_FILE_PAGES;
  return vpnOf(args.offset) + pageAlignUp(args.length) > largest;
}

/** Memory from which mmap takes the lock away again. */
function neverLocked(mm: Mm, flags: VmFlags): boolean {
  if (hasAny(flags, unionOf(VM_SPECIAL, VM_HUGETLB))) return true;
  return mm.rules.droppableNeverLocked && hasAny(flags, VM_DROPPABLE);
}

function stackFlag(mm: Mm): VmFlags {
  const rule = mm.rules.stackNoHuge;
  return rule === 'always' || (rule === 'with-thp' && mm.has('thp')) ? VM_NOHUGEPAGE : VM_NONE;
}

/** calc_vm_prot_bits; unknown bits are ignored by mmap. */
export function protFlags(prot: number): VmFlags {
  return unionOf(
    (prot & PROT_READ) !== 0 ? VM_READ : VM_NONE,
    (prot & PROT_WRITE) !== 0 ? VM_WRITE : VM_NONE,
    (prot & PROT_EXEC) !== 0 ? VM_EXEC : VM_NONE,
  );
}

function mapRange(mm: Mm, start: Vpn, end: Vpn, flags: VmFlags, args: MmapArgs, anonymous: boolean): void {
  const shared = hasAny(flags, VM_MAYSHARE);
  // Shared anonymous memory is a shmem file of its own, counted from 0; private memory from its address.
  const file = sharedZeroFile(mm, anonymous, flags, args.file, end - start) ?? (anonymous ? null : args.file);
  const pgoff = anonymous ? (shared ? 0 : start) : vpnOf(args.offset);
  const ksm = mm.scalars.ksmAny && mm.rules.ksmAnyAndMdwe && ksmCompatible(flags);
  const early = mm.rules.ksmAnyBeforeMerge && (file?.ops !== 'dev-zero' || mm.rules.ksmAnyDevZeroEarly);
  const merged = ksm && early ? union(flags, VM_MERGEABLE) : flags;
  const index = placeNew(
    mm,
    {
      start,
      end,
      flags: merged,
      pgoff,
      anonPgoff: start,
      file,
      name: null,
      uffd: null,
      policy: null,
      anonVma: 0,
      forkChild: false,
      untouched: 'sure',
      inferred: false,
    },
    { by: 'mmap' },
  );
  const placed = vmaAt(mm, index);
  const alone = placed.start === start && placed.end === end;
  const marked = ksm && alone ? union(placed.flags, VM_MERGEABLE) : placed.flags;
  // The lock is taken away after the attempt to join neighbours, and what it would have faulted in is.
  const unlocked = neverLocked(mm, flags) ? without(marked, VM_LOCKED_MASK) : marked;
  if (unlocked !== placed.flags) setVma(mm, index, { flags: unlocked });
  const populates = (args.flags & (MAP_POPULATE | MAP_NONBLOCK)) === MAP_POPULATE;
  if (populates || hasAny(flags, VM_LOCKED)) populate(mm, start, end, 'mmap');
}
