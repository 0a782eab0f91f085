import { bytesOfVpn, VPN_END, type U64 } from '../mm/addr';
import type { KernelRules, KernelVersion } from '../mm/kernel_rules';
import type { MmScalars } from '../mm/mm';
import { vmaIsAnonShmem, type Vma } from '../mm/vma';
import {
  hasAny,
  union,
  VM_EXEC,
  VM_FLAG_TABLE,
  VM_LOCKONFAULT,
  VM_MAYSHARE,
  VM_NONE,
  VM_READ,
  VM_WRITE,
  type VmFlagRow,
  type VmFlags,
} from '../mm/vm_flags';
import { pkeyOf } from '../mm/pkeys';
import type { MapsEntry, SmapsValue } from '../procfs/maps_entry';
import { PROTECTION_KEY } from '../procfs/smaps_fields';

/** A replayed address space as /proc/PID/maps and smaps would print it (show_map_vma, show_smap_vma_flags). */
export function entriesOfVmas(vmas: readonly Vma[], scalars: MmScalars, rules: KernelRules): MapsEntry[] {
  return vmas.map((vma) => entryOfVma(vma, scalars, rules));
}

export function entryOfVma(vma: Vma, scalars: MmScalars, rules: KernelRules): MapsEntry {
  const label = labelOf(vma, scalars, rules);
  return {
    line: 0,
    start: vma.start,
    end: vma.end,
    perms: permsOf(vma.flags),
    offset: vma.file === null ? 0 : bytesOfVpn(vma.pgoff % VPN_END),
    dev: vma.file?.dev ?? '00:00',
    inode: vma.file?.inode ?? '0',
    path: label.path,
    deleted: label.deleted,
    anonName: label.anonName,
    // The flags of inferred memory are not known.
    smaps: {
      fields: keyField(vma),
      vmFlags: vma.inferred ? null : mnemonicsOf(vma.flags, rules),
      complete: !vma.inferred,
    },
    ...(vma.inferred ? { inferred: true as const } : {}),
  };
}

/** Keys other than the default. */
function keyField(vma: Vma): ReadonlyMap<string, SmapsValue> {
  const value = pkeyOf(vma.flags);
  return value === 0 ? new Map() : new Map([[PROTECTION_KEY, { kind: 'number', value, unit: '' }]]);
}

/** The key that an entry shows; undefined where it shows none. */
export function shownKey(entry: MapsEntry | undefined): number | undefined {
  const field = entry?.smaps?.fields.get(PROTECTION_KEY);
  return field?.kind === 'number' && typeof field.value === 'number' && field.value < 16
    ? field.value
    : undefined;
}

/** The last column as one text, the way the kernel prints it. */
export function lastColumn(entry: Pick<MapsEntry, 'path' | 'deleted'>): string {
  return entry.deleted ? `${entry.path} (deleted)` : entry.path;
}

interface Label {
  readonly path: string;
  readonly deleted: boolean;
  readonly anonName: string | null;
}

/** get_vma_name: file, then special name, then [heap], [stack] and the anonymous name. */
function labelOf(vma: Vma, scalars: MmScalars, rules: KernelRules): Label {
  const name = vma.name?.text ?? null;
  if (vma.file !== null) {
    if (name !== null && vmaIsAnonShmem(vma))
      return { path: `[anon_shmem:${name}]`, deleted: false, anonName: name };
    return { path: vma.file.path, deleted: vma.file.deleted, anonName: null };
  }
  if (vma.special !== null) return plain(vma.special);
  if (isHeap(vma, scalars, rules)) return plain('[heap]');
  if (scalars.startStack !== null && vma.start <= scalars.startStack && vma.end >= scalars.startStack) {
    return plain('[stack]');
  }
  return name === null ? plain('') : { path: `[anon:${name}]`, deleted: false, anonName: name };
}

function plain(path: string): Label {
  return { path, deleted: false, anonName: null };
}

/** vma_is_initial_heap: any anonymous VMA inside the heap's bounds; before 6.6 also one that only touches them. */
function isHeap(vma: Vma, { startBrk, brk }: MmScalars, rules: KernelRules): boolean {
  if (startBrk === null || brk === null) return false;
  const start: U64 = bytesOfVpn(vma.start);
  const end: U64 = bytesOfVpn(vma.end);
  return rules.heapLabelStrict ? start < brk && end > startBrk : start <= brk && end >= startBrk;
}

function permsOf(flags: VmFlags): string {
  return (
    (hasAny(flags, VM_READ) ? 'r' : '-') +
    (hasAny(flags, VM_WRITE) ? 'w' : '-') +
    (hasAny(flags, VM_EXEC) ? 'x' : '-') +
    (hasAny(flags, VM_MAYSHARE) ? 's' : 'p')
  );
}

/** Mnemonics in the order of the kernel's bits. */
export function mnemonicsOf(flags: VmFlags, rules: KernelRules): string[] {
  const printed: { readonly bit: number; readonly mnemonic: string }[] = [];
  for (const row of VM_FLAG_TABLE) {
    if (row.mnemonic === null || !hasAny(flags, row.flag)) continue;
    const known = row.flag !== VM_LOCKONFAULT || rules.lockOnFaultMnemonic;
    printed.push({ bit: kernelBit(row, rules), mnemonic: known ? row.mnemonic : '??' });
  }
  return printed.sort((a, b) => a.bit - b.bit).map((flag) => flag.mnemonic);
}

/** Where the flag stands in the kernel's word; `sl` and `ui` moved. */
function kernelBit(row: VmFlagRow, rules: KernelRules): number {
  if (typeof row.kernelBit === 'number') return row.kernelBit;
  const version = rules.flagLayout;
  for (const { before, bit } of row.kernelBit)
    if (before === undefined || olderThan(version, before)) return bit;
  return 63;
}

/** Is version `a` older than release `b`? */
function olderThan(a: KernelVersion, b: string): boolean {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number);
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number);
  return aMajor < bMajor || (aMajor === bMajor && aMinor < bMinor);
}

/** A flag set from mnemonics; unknown ones and `??` are passed over (`rest`). */
export function flagsOfMnemonics(mnemonics: readonly string[]): {
  readonly flags: VmFlags;
  readonly rest: string[];
} {
  let flags: VmFlags = VM_NONE;
  const rest: string[] = [];
  for (const mnemonic of mnemonics) {
    const row = VM_FLAG_TABLE.find((candidate) => candidate.mnemonic === mnemonic);
    if (row === undefined) rest.push(mnemonic);
    else flags = union(flags, row.flag);
  }
  return { flags, rest };
}
