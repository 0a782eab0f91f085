/**
 * VMA flags (`vm_flags`), as an opaque set.
 *
 * JavaScript's bit operators cut at 32 bits and the kernel's flags do not, so a set is a branded number
 * (exact up to 53 bits) that only the functions here take apart. The bit a flag has in *our* sets is its
 * row in the table and fixed; the bit it has in a kernel, which decides the order of smaps' `VmFlags:`
 * line, depends on the version and is `VM_FLAG_TABLE[..].kernelBit`.
 */

/** A set of flags. Equal sets are equal numbers. */
export type VmFlags = number & { readonly __brand: 'VmFlags' };

const HALF = 2 ** 32;

function bit(n: number): VmFlags {
  return (2 ** n) as VmFlags;
}

export const VM_NONE = 0 as VmFlags;
export const VM_READ = bit(0);
export const VM_WRITE = bit(1);
export const VM_EXEC = bit(2);
export const VM_SHARED = bit(3);
export const VM_MAYREAD = bit(4);
export const VM_MAYWRITE = bit(5);
export const VM_MAYEXEC = bit(6);
export const VM_MAYSHARE = bit(7);
export const VM_GROWSDOWN = bit(8);
export const VM_UFFD_MISSING = bit(9);
export const VM_PFNMAP = bit(10);
export const VM_MAYBE_GUARD = bit(11);
export const VM_UFFD_WP = bit(12);
export const VM_LOCKED = bit(13);
export const VM_IO = bit(14);
export const VM_SEQ_READ = bit(15);
export const VM_RAND_READ = bit(16);
export const VM_DONTCOPY = bit(17);
export const VM_DONTEXPAND = bit(18);
export const VM_LOCKONFAULT = bit(19);
export const VM_ACCOUNT = bit(20);
export const VM_NORESERVE = bit(21);
export const VM_HUGETLB = bit(22);
export const VM_SYNC = bit(23);
export const VM_ARCH_1 = bit(24);
export const VM_WIPEONFORK = bit(25);
export const VM_DONTDUMP = bit(26);
export const VM_SOFTDIRTY = bit(27);
export const VM_MIXEDMAP = bit(28);
export const VM_HUGEPAGE = bit(29);
export const VM_NOHUGEPAGE = bit(30);
export const VM_MERGEABLE = bit(31);
export const VM_PKEY_BIT0 = bit(32);
export const VM_PKEY_BIT1 = bit(33);
export const VM_PKEY_BIT2 = bit(34);
export const VM_PKEY_BIT3 = bit(35);
export const VM_SHADOW_STACK = bit(36);
export const VM_UFFD_MINOR = bit(37);
export const VM_DROPPABLE = bit(38);
export const VM_SEALED = bit(39);
export const VM_UFFD_RWP = bit(40);

/** Is every flag of `mask` in `flags`? */
export function hasAll(flags: VmFlags, mask: VmFlags): boolean {
  return intersect(flags, mask) === mask;
}

/** Is any flag of `mask` in `flags`? */
export function hasAny(flags: VmFlags, mask: VmFlags): boolean {
  return (flags & mask) !== 0 || ((flags / HALF) & (mask / HALF)) !== 0;
}

export function union(a: VmFlags, b: VmFlags): VmFlags {
  return join((a / HALF) | (b / HALF), a | b);
}

export function intersect(a: VmFlags, b: VmFlags): VmFlags {
  return join((a / HALF) & (b / HALF), a & b);
}

export function without(flags: VmFlags, mask: VmFlags): VmFlags {
  return join((flags / HALF) & ~(mask / HALF), flags & ~mask);
}

export function unionOf(...sets: readonly VmFlags[]): VmFlags {
  let all: VmFlags = VM_NONE;
  for (const set of sets) all = union(all, set);
  return all;
}

function join(high: number, low: number): VmFlags {
  return ((high >>> 0) * HALF + (low >>> 0)) as VmFlags;
}

export const VM_ACCESS_FLAGS = unionOf(VM_READ, VM_WRITE, VM_EXEC);
export const VM_PKEY_MASK = unionOf(VM_PKEY_BIT0, VM_PKEY_BIT1, VM_PKEY_BIT2, VM_PKEY_BIT3);
/** VM_SPECIAL: such a mapping never merges and most advice leaves it alone. */
export const VM_SPECIAL = unionOf(VM_IO, VM_DONTEXPAND, VM_PFNMAP, VM_MIXEDMAP);
export const VM_LOCKED_MASK = unionOf(VM_LOCKED, VM_LOCKONFAULT);
export const VM_UFFD_FLAGS = unionOf(VM_UFFD_MISSING, VM_UFFD_WP, VM_UFFD_MINOR, VM_UFFD_RWP);

/** One flag: how kernels call and print it, since when, and what it means in one sentence. */
export interface VmFlagRow {
  readonly flag: VmFlags;
  /** Kernel name. */
  readonly name: string;
  /** Two letters in smaps; null for flags that smaps does not print (protection key bits). */
  readonly mnemonic: string | null;
  /** Bit in kernels where it did not move; else by version, first match wins (`before` is exclusive). */
  readonly kernelBit: number | readonly { readonly before?: string; readonly bit: number }[];
  /** What a person reads in a tooltip. */
  readonly words: string;
  /** Release whose smaps first names it, where that is known and later than 3.8. */
  readonly since?: string;
}

export const VM_FLAG_TABLE: readonly VmFlagRow[] = [
  { flag: VM_READ, name: 'VM_READ', mnemonic: 'rd', kernelBit: 0, words: 'readable' },
  { flag: VM_WRITE, name: 'VM_WRITE', mnemonic: 'wr', kernelBit: 1, words: 'writable' },
  { flag: VM_EXEC, name: 'VM_EXEC', mnemonic: 'ex', kernelBit: 2, words: 'executable' },
  { flag: VM_SHARED, name: 'VM_SHARED', mnemonic: 'sh', kernelBit: 3, words: 'shared mapping' },
  { flag: VM_MAYREAD, name: 'VM_MAYREAD', mnemonic: 'mr', kernelBit: 4, words: 'may be made readable' },
  { flag: VM_MAYWRITE, name: 'VM_MAYWRITE', mnemonic: 'mw', kernelBit: 5, words: 'may be made writable' },
  { flag: VM_MAYEXEC, name: 'VM_MAYEXEC', mnemonic: 'me', kernelBit: 6, words: 'may be made executable' },
  { flag: VM_MAYSHARE, name: 'VM_MAYSHARE', mnemonic: 'ms', kernelBit: 7, words: 'may be shared' },
  {
    flag: VM_GROWSDOWN,
    name: 'VM_GROWSDOWN',
    mnemonic: 'gd',
    kernelBit: 8,
    words: 'grows down, as a stack does',
  },
  {
    flag: VM_UFFD_MISSING,
    name: 'VM_UFFD_MISSING',
    mnemonic: 'um',
    kernelBit: 9,
    words: 'userfaultfd gets missing pages',
    since: '4.3',
  },
  {
    flag: VM_PFNMAP,
    name: 'VM_PFNMAP',
    mnemonic: 'pf',
    kernelBit: 10,
    words: 'pure page frame range, no struct page',
  },
  {
    flag: VM_MAYBE_GUARD,
    name: 'VM_MAYBE_GUARD',
    mnemonic: 'gu',
    kernelBit: 11,
    words: 'may contain guard regions',
    since: '6.18',
  },
  {
    flag: VM_UFFD_WP,
    name: 'VM_UFFD_WP',
    mnemonic: 'uw',
    kernelBit: 12,
    words: 'userfaultfd gets write-protect faults',
    since: '4.3',
  },
  { flag: VM_LOCKED, name: 'VM_LOCKED', mnemonic: 'lo', kernelBit: 13, words: 'locked in memory' },
  { flag: VM_IO, name: 'VM_IO', mnemonic: 'io', kernelBit: 14, words: 'memory mapped I/O' },
  {
    flag: VM_SEQ_READ,
    name: 'VM_SEQ_READ',
    mnemonic: 'sr',
    kernelBit: 15,
    words: 'sequential reads expected',
  },
  { flag: VM_RAND_READ, name: 'VM_RAND_READ', mnemonic: 'rr', kernelBit: 16, words: 'random reads expected' },
  { flag: VM_DONTCOPY, name: 'VM_DONTCOPY', mnemonic: 'dc', kernelBit: 17, words: 'not copied at fork' },
  {
    flag: VM_DONTEXPAND,
    name: 'VM_DONTEXPAND',
    mnemonic: 'de',
    kernelBit: 18,
    words: 'cannot grow with mremap',
  },
  {
    flag: VM_LOCKONFAULT,
    name: 'VM_LOCKONFAULT',
    mnemonic: 'lf',
    kernelBit: 19,
    words: 'locked page by page when touched',
    since: '6.3',
  },
  {
    flag: VM_ACCOUNT,
    name: 'VM_ACCOUNT',
    mnemonic: 'ac',
    kernelBit: 20,
    words: 'counted against the commit limit',
  },
  {
    flag: VM_NORESERVE,
    name: 'VM_NORESERVE',
    mnemonic: 'nr',
    kernelBit: 21,
    words: 'no swap space reserved',
  },
  { flag: VM_HUGETLB, name: 'VM_HUGETLB', mnemonic: 'ht', kernelBit: 22, words: 'huge pages (hugetlb)' },
  {
    flag: VM_SYNC,
    name: 'VM_SYNC',
    mnemonic: 'sf',
    kernelBit: 23,
    words: 'synchronous page faults (MAP_SYNC)',
    since: '4.15',
  },
  { flag: VM_ARCH_1, name: 'VM_ARCH_1', mnemonic: 'ar', kernelBit: 24, words: 'architecture-specific' },
  {
    flag: VM_WIPEONFORK,
    name: 'VM_WIPEONFORK',
    mnemonic: 'wf',
    kernelBit: 25,
    words: 'empty in a forked child',
    since: '4.14',
  },
  { flag: VM_DONTDUMP, name: 'VM_DONTDUMP', mnemonic: 'dd', kernelBit: 26, words: 'not in core dumps' },
  {
    flag: VM_SOFTDIRTY,
    name: 'VM_SOFTDIRTY',
    mnemonic: 'sd',
    kernelBit: 27,
    words: 'soft-dirty: new or written since the last clear',
    since: '3.11',
  },
  {
    flag: VM_MIXEDMAP,
    name: 'VM_MIXEDMAP',
    mnemonic: 'mm',
    kernelBit: 28,
    words: 'mixed map: pages and page frames',
  },
  {
    flag: VM_HUGEPAGE,
    name: 'VM_HUGEPAGE',
    mnemonic: 'hg',
    kernelBit: 29,
    words: 'transparent huge pages wanted',
  },
  {
    flag: VM_NOHUGEPAGE,
    name: 'VM_NOHUGEPAGE',
    mnemonic: 'nh',
    kernelBit: 30,
    words: 'no transparent huge pages',
  },
  {
    flag: VM_MERGEABLE,
    name: 'VM_MERGEABLE',
    mnemonic: 'mg',
    kernelBit: 31,
    words: 'equal pages may be merged (KSM)',
  },
  { flag: VM_PKEY_BIT0, name: 'VM_PKEY_BIT0', mnemonic: null, kernelBit: 32, words: 'protection key, bit 0' },
  { flag: VM_PKEY_BIT1, name: 'VM_PKEY_BIT1', mnemonic: null, kernelBit: 33, words: 'protection key, bit 1' },
  { flag: VM_PKEY_BIT2, name: 'VM_PKEY_BIT2', mnemonic: null, kernelBit: 34, words: 'protection key, bit 2' },
  { flag: VM_PKEY_BIT3, name: 'VM_PKEY_BIT3', mnemonic: null, kernelBit: 35, words: 'protection key, bit 3' },
  {
    flag: VM_SHADOW_STACK,
    name: 'VM_SHADOW_STACK',
    mnemonic: 'ss',
    kernelBit: 37,
    words: 'shadow stack',
    since: '6.6',
  },
  {
    flag: VM_UFFD_MINOR,
    name: 'VM_UFFD_MINOR',
    mnemonic: 'ui',
    kernelBit: [{ before: '6.6', bit: 37 }, { before: '6.18', bit: 38 }, { bit: 41 }],
    words: 'userfaultfd gets minor faults',
    since: '5.13',
  },
  {
    flag: VM_DROPPABLE,
    name: 'VM_DROPPABLE',
    mnemonic: 'dp',
    kernelBit: 40,
    words: 'may be dropped under memory pressure',
    since: '6.11',
  },
  {
    flag: VM_SEALED,
    name: 'VM_SEALED',
    mnemonic: 'sl',
    kernelBit: [{ before: '6.13', bit: 63 }, { bit: 42 }],
    words: 'sealed by mseal: cannot be unmapped, moved or re-protected',
    since: '6.10',
  },
  {
    flag: VM_UFFD_RWP,
    name: 'VM_UFFD_RWP',
    mnemonic: 'ur',
    kernelBit: 43,
    words: 'userfaultfd gets read and write protect faults',
    since: '7.0',
  },
];
