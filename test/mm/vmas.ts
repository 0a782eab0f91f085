import { AnonVmaNames, type AnonVmaName } from '../../src/mm/anon_vma_name';
import { vpn } from '../../src/mm/addr';
import { KERNEL_FEATURES, kernelRules, type KernelVersion } from '../../src/mm/kernel_rules';
import { Mm, type MmSystem } from '../../src/mm/mm';
import type { Vma, VmFile } from '../../src/mm/vma';
import { unionOf, VM_MAYEXEC, VM_MAYREAD, VM_MAYWRITE, VM_READ, VM_WRITE } from '../../src/mm/vm_flags';

/** Parts for tests that look at the simulation from inside. */

/** Readable and writable private anonymous memory of pages start..end-1 that nothing has touched, but for `other`. */
export function vmaOf(start: number, end: number, other: Partial<Vma> = {}): Vma {
  return {
    start: vpn(start),
    end: vpn(end),
    flags: unionOf(VM_READ, VM_WRITE, VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC),
    pgoff: start,
    anonPgoff: start,
    file: null,
    special: null,
    name: null,
    anonVma: 0,
    forkChild: false,
    untouched: 'sure',
    uffd: null,
    policy: null,
    inferred: false,
    ...other,
  };
}

/** An ordinary file that is open for reading and writing. */
export function fileOf(id: number, other: Partial<VmFile> = {}): VmFile {
  return {
    id,
    path: `/file${id}`,
    deleted: false,
    dev: '00:00',
    inode: '0',
    ops: 'file',
    writable: true,
    ...other,
  };
}

export function systemOf(version: KernelVersion = '7.3', maxMapCount = 65530): MmSystem {
  return {
    rules: kernelRules(version),
    features: new Set(KERNEL_FEATURES),
    names: new AnonVmaNames(),
    ids: { anonVma: 1, file: 1, mm: 1 },
    maxMapCount,
    overcommit: 'guess',
    commitPages: undefined,
    memfdSeals: new Map(),
    userfaultfds: new Map(),
    pkeys: { traced: false },
    sealVisits: { prePass: 0, inLoop: 0 },
  };
}

export function mmOf(vmas: readonly Vma[], system: MmSystem = systemOf()): Mm {
  return new Mm(system, vmas);
}

/** A name object without references. */
export function nameOf(
  names: AnonVmaNames,
  text: string,
  certainty: AnonVmaName['certainty'] = 'exact',
): AnonVmaName {
  return names.alloc({ text, certainty, createdAt: { line: 1, pid: 1 }, inferred: false });
}

/** Ranges only: `1-3 4-5`. */
export function ranges(mm: Mm): string {
  return mm.tree
    .all()
    .map(({ start, end }) => `${start}-${end}`)
    .join(' ');
}
