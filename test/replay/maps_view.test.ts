import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { kernelRules, type KernelVersion } from '../../src/mm/kernel_rules';
import type { Mm, MmScalars } from '../../src/mm/mm';
import type { Vma } from '../../src/mm/vma';
import { unionOf, VM_EXEC, VM_MAYSHARE, VM_READ, VM_SHARED, VM_WRITE } from '../../src/mm/vm_flags';
import type { MapsEntry } from '../../src/procfs/maps_entry';
import { entryOfVma, lastColumn } from '../../src/replay/maps_view';
import { fileOf, mmOf, nameOf, systemOf, vmaOf } from '../mm/vmas';

const { names } = systemOf();
const x = nameOf(names, 'x');
const page = 4096;

/** One VMA of an address space whose heap is pages 10 to 12 and whose stack pointer was in page 50. */
function entry(vma: Vma, version: KernelVersion = '7.3', scalars: Partial<MmScalars> = {}): MapsEntry {
  const mm: Mm = mmOf([]);
  const known = { startBrk: 10 * page, brk: 12 * page, startStack: vpn(50), ...scalars };
  return entryOfVma(vma, { ...mm.scalars, ...known }, kernelRules(version));
}

const label = (vma: Vma, version: KernelVersion = '7.3'): string => lastColumn(entry(vma, version));

describe('the last column', () => {
  it.each<[string, Partial<Vma>, string]>([
    ['nothing', {}, ''],
    ['a name', { name: x }, '[anon:x]'],
    ['the empty name', { name: nameOf(names, '') }, '[anon:]'],
    ['a file', { file: fileOf(1) }, '/file1'],
    ['a deleted file', { file: fileOf(1, { deleted: true }) }, '/file1 (deleted)'],
    ['a file with a name: the file', { file: fileOf(1), name: x }, '/file1'],
    [
      'shared memory with a name: the name',
      { file: fileOf(1, { ops: 'anon-shmem', deleted: true }), name: x },
      '[anon_shmem:x]',
    ],
    ['a mapping that the kernel made: its own name', { special: '[vdso]', name: x }, '[vdso]'],
  ])('%s', (_, other, text) => {
    expect(label(vmaOf(0, 1, other))).toBe(text);
  });

  it.each([
    [8, 10, ['[heap]', '']],
    [8, 11, ['[heap]', '[heap]']],
    [10, 11, ['[heap]', '[heap]']],
    [11, 20, ['[heap]', '[heap]']],
    [12, 13, ['[heap]', '']],
    [13, 14, ['', '']],
    [5, 9, ['', '']],
  ])('pages %i to %i: the heap, before 6.6 also what only touches it', (start, end, texts) => {
    expect([label(vmaOf(start, end), '6.1'), label(vmaOf(start, end), '6.10')]).toEqual(texts);
  });

  it('the heap hides a name, a file there hides the heap', () => {
    expect(label(vmaOf(10, 11, { name: x }))).toBe('[heap]');
    expect(label(vmaOf(10, 11, { file: fileOf(1) }))).toBe('/file1');
  });

  it.each([
    [40, 50, '[stack]'],
    [40, 49, ''],
    [50, 60, '[stack]'],
    [51, 60, ''],
  ])('pages %i to %i and the stack', (start, end, text) => {
    expect(label(vmaOf(start, end))).toBe(text);
  });

  it('without a known heap and stack there is none', () => {
    const unknown = { startBrk: null, brk: null, startStack: null };
    expect([10, 50].map((start) => entry(vmaOf(start, start + 1), '7.3', unknown).path)).toEqual(['', '']);
  });
});

describe('permissions', () => {
  it.each([
    [VM_READ, 'r--p'],
    [unionOf(VM_READ, VM_WRITE), 'rw-p'],
    [VM_EXEC, '--xp'],
    [unionOf(VM_READ, VM_SHARED, VM_MAYSHARE), 'r--s'],
    // A shared map of a file that is not open for writing is not VM_SHARED, and prints as shared.
    [unionOf(VM_READ, VM_MAYSHARE), 'r--s'],
    [unionOf(VM_READ, VM_SHARED), 'r--p'],
  ])('of flags %i: %s', (flags, perms) => {
    expect(entry(vmaOf(0, 1, { flags })).perms).toBe(perms);
  });
});

describe('the offset', () => {
  it('is that of the file in bytes, exact', () => {
    expect(entry(vmaOf(0, 1, { file: fileOf(1), pgoff: 5 })).offset).toBe(20480);
    expect(entry(vmaOf(0, 1, { file: fileOf(1), pgoff: 2 ** 51 - 1 })).offset).toBe(2n ** 63n - 4096n);
  });

  it('of memory without a file is 0, whatever decides its merges', () => {
    expect(entry(vmaOf(7, 8)).offset).toBe(0);
  });
});

it('the flags of what is only concluded are not known', () => {
  const vma = vmaOf(0, 1, { inferred: true });
  expect(entry(vma)).toMatchObject({ inferred: true, smaps: { vmFlags: null, complete: false } });
  expect(entry({ ...vma, inferred: false }).smaps?.vmFlags).toEqual(['rd', 'wr', 'mr', 'mw', 'me']);
});
