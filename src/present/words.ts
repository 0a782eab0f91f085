import { VM_FLAG_TABLE, type VmFlagRow } from '../mm/vm_flags';

/** Permissions as printed, in words: `read, write, private`. Letters that are not known are shown as they are. */
export function permsInWords(perms: string): string {
  // The process maps that sanitizers print have no permissions.
  if (perms === '') return 'unknown';
  const words = Array.from(perms, (letter) => (letter === '-' ? '' : (PERM_WORDS[letter] ?? `'${letter}'`)));
  const access = words.slice(0, 3).filter((word) => word !== '');
  const rest = words.slice(3).filter((word) => word !== '');
  return [...(access.length === 0 ? ['no access'] : access), ...rest].join(', ');
}

const PERM_WORDS: Readonly<Record<string, string>> = {
  r: 'read',
  w: 'write',
  x: 'execute',
  p: 'private',
  s: 'shared',
};

const FLAG_ROWS: ReadonlyMap<string, VmFlagRow> = new Map(
  VM_FLAG_TABLE.flatMap((row) => (row.mnemonic === null ? [] : [[row.mnemonic, row] as const])),
);

/** What a two-letter flag of the VmFlags line means. */
export function flagInWords(mnemonic: string): string {
  if (mnemonic === '??') return 'a flag that this kernel itself has no letters for';
  return FLAG_ROWS.get(mnemonic)?.words ?? 'a flag that VMA Lens does not know';
}

/** What a field of smaps counts; undefined for a field that is not known here. */
export function smapsFieldInWords(field: string): string | undefined {
  return Object.hasOwn(FIELD_WORDS, field) ? FIELD_WORDS[field] : undefined;
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  Size: 'address space',
  KernelPageSize: 'size of a page for the kernel here',
  MMUPageSize: 'size of a page for the hardware here',
  Rss: 'in memory',
  Pss: 'in memory, shared parts divided',
  Pss_Dirty: 'of Pss, changed',
  Pss_Anon: 'of Pss, anonymous',
  Pss_File: 'of Pss, from files',
  Pss_Shmem: 'of Pss, shared memory',
  Shared_Clean: 'shared with others, unchanged',
  Shared_Dirty: 'shared with others, changed',
  Private_Clean: 'its own, unchanged',
  Private_Dirty: 'its own, changed',
  Referenced: 'touched lately',
  Anonymous: 'belongs to no file',
  KSM: 'merged with equal pages',
  LazyFree: 'may be dropped (MADV_FREE)',
  AnonHugePages: 'in transparent huge pages',
  ShmemPmdMapped: 'shared memory in huge pages',
  FilePmdMapped: 'file in huge pages',
  Shared_Hugetlb: 'hugetlb pages, shared',
  Private_Hugetlb: 'hugetlb pages, its own',
  Swap: 'swapped out',
  SwapPss: 'swapped out, divided by users',
  Locked: 'locked in memory',
  THPeligible: 'may use transparent huge pages (1: yes)',
  ProtectionKey: 'protection key',
};
