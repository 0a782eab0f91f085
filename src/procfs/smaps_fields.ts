/**
 * What is known of the fields of smaps and smaps_rollup (show_smap and __show_smap in fs/proc/task_mmu.c).
 * A field that is not here is kept and shown all the same.
 */

/** Fields that kernels before 3.8 print, where records do not end in VmFlags. */
const OLD_FIELDS: readonly string[] = [
  'Size',
  'Rss',
  'Pss',
  'Shared_Clean',
  'Shared_Dirty',
  'Private_Clean',
  'Private_Dirty',
  'Referenced',
  'Anonymous',
  'AnonHugePages',
  'Swap',
  'KernelPageSize',
  'MMUPageSize',
  'Locked',
  'Nonlinear',
];

const NEWER_FIELDS: readonly string[] = [
  'Pss_Dirty',
  'Pss_Anon',
  'Pss_File',
  'Pss_Shmem',
  'KSM',
  'LazyFree',
  'ShmemHugePages',
  'ShmemPmdMapped',
  'FilePmdMapped',
  'Shared_Hugetlb',
  'Private_Hugetlb',
  'SwapPss',
];

const KILOBYTE_FIELDS: ReadonlySet<string> = new Set([...OLD_FIELDS, ...NEWER_FIELDS]);

/** The protection key of a mapping, printed where the processor has keys. */
export const PROTECTION_KEY = 'ProtectionKey';

/** Is it an amount in kB in every kernel that prints it? False for unknown fields. */
export function isKilobyteField(name: string): boolean {
  return KILOBYTE_FIELDS.has(name);
}

export const FIELDS_BEFORE_VM_FLAGS: ReadonlySet<string> = new Set(OLD_FIELDS);

/** The fields that can be the last of a record where VmFlags does not exist. */
export const LAST_BEFORE_VM_FLAGS: ReadonlySet<string> = new Set(['Locked', 'Nonlinear']);
