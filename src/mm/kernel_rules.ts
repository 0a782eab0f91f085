/**
 * Where Linux versions differ, one named rule a row. The code of the calls asks for a rule, never for a
 * version number, so that a rule can be overridden one by one: distributions backport.
 */

export const KERNEL_VERSIONS = ['6.1', '6.10', '6.11', '6.12', '6.18', '7.3'] as const;
export type KernelVersion = (typeof KERNEL_VERSIONS)[number];

/** Features that a kernel of any version may have been built without. */
export const KERNEL_FEATURES = [
  'anon-names',
  'ksm',
  'thp',
  'soft-dirty',
  'swap',
  'pkeys',
  'hugetlb',
  'hugetlb-1g',
] as const;
export type KernelFeature = (typeof KERNEL_FEATURES)[number];

interface RuleRow<T extends boolean | string> {
  /** Values for {@link KERNEL_VERSIONS}, in that order. */
  readonly values: readonly [T, T, T, T, T, T];
  /** Every value the rule can take, for overrides. */
  readonly domain: readonly T[];
  /** What the rule decides and which kernel function shows it. */
  readonly why: string;
}

function flag(values: string, why: string): RuleRow<boolean> {
  const bits = values.split('').map((c) => c === '1');
  const [a = false, b = false, c = false, d = false, e = false, f = false] = bits;
  return { values: [a, b, c, d, e, f], domain: [false, true], why };
}

function choice<T extends string>(values: readonly [T, T, T, T, T, T], why: string): RuleRow<T> {
  return { values, domain: [...new Set(values)], why };
}

// Columns:                         6.1 6.10 6.11 6.12 6.18 7.3
export const RULE_TABLE = {
  sealCheck: choice(
    ['none', 'pre-pass', 'pre-pass', 'in-loop', 'in-loop', 'in-loop'],
    'mseal came in 6.10 with can_modify_mm walking the range first; 6.12 asks can_modify_vma in each operation',
  ),
  sealDiscardTest: choice(
    ['set', 'bit-mask', 'set', 'set', 'set', 'set'],
    'is_madv_discard of 6.10.0 tested low bits of the advice, so nearly every advice was refused on sealed protected anonymous memory',
  ),
  sealProtectsDevZero: flag(
    '000011',
    'since 6.17 "anonymous" for the discard test means no vm_ops, private /dev/zero included',
  ),
  unmergeableClearsHighFlags: flag(
    '011000',
    'the complement of VM_MERGEABLE was 32 bits wide in ksm_madvise: it took VM_SEALED away',
  ),
  uffdUnregistersOnlyItsOwn: flag(
    '000011',
    'userfaultfd_unregister refuses a range that holds memory of another userfaultfd; before, any could unregister it',
  ),
  uffdWatchesDroppable: flag(
    '001100',
    'vma_can_userfault of 6.11 and 6.12 looked for VM_DROPPABLE among the flags asked for instead of those of the memory',
  ),
  uffdDropJoinsFirst: flag(
    '111110',
    'memory that mremap moves joined its neighbours there as watched memory, and then the whole lost its watch; 7.3 lets it join nothing',
  ),
  mergeFaultedIntoUnfaulted: flag(
    '000011',
    'is_mergeable_anon_vma since 6.16: a faulted range may join a neighbour without an anon_vma',
  ),
  newMappingMergesFirstWith: choice(
    ['next', 'next', 'next', 'prev', 'prev', 'prev'],
    'mmap_region looked at the next neighbour first until vma_merge_new_range (6.12)',
  ),
  closeHookBlocks: choice(
    ['any', 'next-or-removal', 'next-or-removal', 'removal', 'removal', 'removal'],
    'is_mergeable_vma and vm_ops->close: any merge, later only one that removes the VMA',
  ),
  joinedSoftDirty: choice(
    ['as-called', 'as-called', 'as-called', 'as-called', 'any-part', 'any-part'],
    'soft-dirty of joined VMAs: VMA_STICKY_FLAGS keep it if any part had it; before, the call gave the whole VMA the flags of its range (vm_flags_reset), or left those of the VMA that grew',
  ),
  privateFileAnonPgoff: flag(
    '000001',
    '7.3 keeps a second offset for private file mappings that must line up too',
  ),
  accountDropped: flag(
    '011111',
    'mprotect_fixup gives the commit charge back for unfaulted anonymous memory made unwritable (6.7)',
  ),
  stackNoHuge: choice(
    ['never', 'always', 'always', 'with-thp', 'with-thp', 'with-thp'],
    'MAP_STACK became VM_NOHUGEPAGE in 6.7, without THP only until 6.11',
  ),
  droppable: flag('001111', 'MAP_DROPPABLE since 6.11'),
  droppableNeverLocked: flag('000111', '6.11 left VM_LOCKED on droppable memory after mlockall(MCL_FUTURE)'),
  fixedUnmapsFirst: flag('111000', 'mmap_region unmapped the old range before its own checks until 6.12'),
  fixedUnmapErrno: choice(
    ['ENOMEM', 'EPERM-or-ENOMEM', 'EPERM-or-ENOMEM', 'real', 'real', 'real'],
    'what mmap(MAP_FIXED) reports when the old range cannot be unmapped',
  ),
  guardRegions: flag('000011', 'MADV_GUARD_INSTALL and MADV_GUARD_REMOVE since 6.13'),
  mremapChecksSourceFirst: flag('000011', '6.17 checks the source VMA before it unmaps the destination'),
  mremapMovesManyVmas: flag(
    '000011',
    'remap_move (6.17): an equal-length fixed move may cross VMAs and gaps',
  ),
  mremapArgumentsFirst: flag(
    '000011',
    'check_mremap_params (6.17): new address, overlap and rounded lengths before the VMA lookup',
  ),
  mremapCountCheckAlways: flag('000001', '7.3 asks for map_count headroom in every mremap'),
  dontunmapSplitsSource: flag(
    '100101',
    'newer point releases split the source of MREMAP_DONTUNMAP and clear VM_LOCKED on that part only',
  ),
  dontunmapResetsPgoff: flag(
    '100101',
    'newer point releases renumber a source that MREMAP_DONTUNMAP left untouched, as if it had just been mapped',
  ),
  dontunmapBesideSource: choice(
    ['no-merge', 'joins-source', 'joins-source', 'skips-source', 'joins-source', 'skips-source'],
    'a MREMAP_DONTUNMAP copy beside its own source: merges with it, with the other neighbour only, or not at all',
  ),
  populateStopsAtGap: flag(
    '011111',
    'MADV_POPULATE_* handles the whole range at once since 6.9 and stops at the first error',
  ),
  shmemNames: flag('011111', 'shared anonymous memory and memfds can be named since 6.2'),
  heapExecutable: flag(
    '000000',
    'VM_DATA_DEFAULT_FLAGS: user-mode kernels make the heap executable; others only under READ_IMPLIES_EXEC',
  ),
  secretMemLocked: flag(
    '111110',
    'mappings of memfd_secret are marked locked; 7.2 and later keep the limit only, not the mark',
  ),
  memfdSealCheck: choice(
    ['write-early', 'late', 'late', 'early', 'early', 'early'],
    'shared writable maps of a memfd with a write seal: refused before what is there is unmapped, or after; 6.1 asks before for F_SEAL_WRITE only',
  ),
  mapAbove4g: flag('011111', 'MAP_ABOVE4G is a flag that MAP_SHARED_VALIDATE knows since 6.6'),
  map32Bit: flag(
    '111111',
    'MAP_32BIT of x86-64: only places below 2 GiB will do; user-mode kernels pass it over',
  ),
  hugetlbHintRounds: choice(
    ['down', 'down', 'down', 'down', 'up', 'up'],
    'hugetlb_get_unmapped_area of x86 took the huge page that an address without MAP_FIXED lies in; since 6.13 the next border',
  ),
  readOnlySharedZero: choice(
    ['private', 'private', 'private', 'private', 'private', 'shmem'],
    'what a shared map of /dev/zero is that was opened for reading only: mmap_zero asked VM_SHARED, which it lacks; 7.3 asks VM_MAYSHARE',
  ),
  heapLabelStrict: flag('011111', 'since 6.6 a VMA that only touches brk or start_brk is not [heap]'),
  lockOnFaultMnemonic: flag('011111', 'smaps prints lf since 6.3, ?? before'),
  flagLayout: choice(
    KERNEL_VERSIONS,
    'which bits the flags have, which is the order in which smaps prints them',
  ),
  processMadviseSelfAny: flag('000011', 'process_madvise on the own process takes any advice since 6.13'),
  ksmAnyBeforeMerge: flag('000011', 'PR_SET_MEMORY_MERGE marks a new mapping before it tries to merge'),
  ksmAnyDevZeroEarly: flag(
    '000001',
    'can_set_ksm_flags_early: 6.17 marks memory of a driver with its own mmap late, as /dev/zero had until mmap_prepare',
  ),
  ksmAnyAndMdwe: flag('011111', 'PR_SET_MEMORY_MERGE (6.4) and PR_SET_MDWE (6.3)'),
} as const;

export type RuleName = keyof typeof RULE_TABLE;
export type KernelRules = { readonly [K in RuleName]: (typeof RULE_TABLE)[K]['domain'][number] };
export type RuleOverrides = Partial<KernelRules>;

/** The column of the table for `version`, with single rules replaced by `overrides`. */
export function kernelRules(version: KernelVersion, overrides: RuleOverrides = {}): KernelRules {
  const column = KERNEL_VERSIONS.indexOf(version);
  const rules = Object.fromEntries(
    Object.entries(RULE_TABLE).map(([name, row]) => [name, row.values[column]]),
  ) as unknown as KernelRules;
  return { ...rules, ...overrides };
}

export function isKernelVersion(text: string): text is KernelVersion {
  return (KERNEL_VERSIONS as readonly string[]).includes(text);
}

/**
 * Reads `NAME=VALUE` (true and false for yes-or-no rules).
 * Returns undefined where no such rule or value exists.
 */
export function parseRuleOverride(text: string): RuleOverrides | undefined {
  const [name = '', value = ''] = text.split('=', 2);
  if (!Object.hasOwn(RULE_TABLE, name)) return undefined;
  const row: RuleRow<boolean | string> = RULE_TABLE[name as RuleName];
  const found = row.domain.find((candidate) => String(candidate) === value);
  return found === undefined ? undefined : { [name]: found };
}
