import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { KERNEL_VERSIONS, type KernelVersion } from '../../src/mm/kernel_rules';
import type { Mm } from '../../src/mm/mm';
import type { Vma } from '../../src/mm/vma';
import { mergeExisting, placeNew } from '../../src/mm/vma_merge';
import { modifyVma } from '../../src/mm/vma_modify';
import {
  union,
  VM_DONTCOPY,
  VM_DONTEXPAND,
  VM_IO,
  VM_MAYBE_GUARD,
  VM_MIXEDMAP,
  VM_PFNMAP,
  VM_SEALED,
  VM_SOFTDIRTY,
  type VmFlags,
} from '../../src/mm/vm_flags';
import { fileOf, mmOf, nameOf, ranges, systemOf, vmaOf } from './vmas';

const PLAIN = vmaOf(0, 1).flags;

/** Pages 0-2 and 4-6 with a hole of two pages, which `range` fills. */
function fill(version: KernelVersion, prev: Partial<Vma>, range: Partial<Vma>, next: Partial<Vma> = {}): Mm {
  const mm = mmOf([vmaOf(0, 2, prev), vmaOf(4, 6, next)], systemOf(version));
  placeNew(mm, vmaOf(2, 4, range), { by: 'mmap' });
  return mm;
}

describe('what keeps neighbours apart', () => {
  it.each<[string, Partial<Vma>, Partial<Vma>]>([
    ['a flag', { flags: union(PLAIN, VM_DONTCOPY) }, {}],
    ['a seal', { flags: union(PLAIN, VM_SEALED) }, {}],
    ['an open file', { file: fileOf(1), pgoff: 0 }, { file: fileOf(2), pgoff: 2 }],
    ['a file and no file', { file: fileOf(1), pgoff: 0 }, { pgoff: 2 }],
    ['an offset that does not go on', { pgoff: 7 }, {}],
    ['a userfaultfd', { uffd: 1 }, { uffd: 2 }],
    ['a userfaultfd and none', { uffd: 1 }, {}],
    ['a memory policy', { policy: 'bind:0' }, { policy: 'bind:1' }],
    ['a mapping that the kernel made', { special: '[vvar]' }, {}],
  ])('%s', (_, prev, range) => {
    for (const version of KERNEL_VERSIONS) {
      expect(ranges(fill(version, prev, range, { flags: union(PLAIN, VM_IO) }))).toBe('0-2 2-4 4-6');
    }
  });

  it('a name: by its text, and none is not the empty one', () => {
    for (const [one, other, joined] of [
      ['x', 'x', true],
      ['x', 'y', false],
      ['', null, false],
    ] as const) {
      const system = systemOf();
      const nameFor = (text: string | null) => (text === null ? null : nameOf(system.names, text));
      const mm = mmOf([vmaOf(0, 2, { name: nameFor(one) })], system);
      placeNew(mm, vmaOf(2, 4, { name: nameFor(other) }), { by: 'mmap' });
      expect(ranges(mm)).toBe(joined ? '0-4' : '0-2 2-4');
      // The text of the first object stays, whatever the second was.
      expect(mm.tree.at(0)?.name?.id).toBe(1);
    }
  });

  it.each([
    ['VM_IO', VM_IO],
    ['VM_DONTEXPAND', VM_DONTEXPAND],
    ['VM_PFNMAP', VM_PFNMAP],
    ['VM_MIXEDMAP', VM_MIXEDMAP],
  ])('%s: equal special mappings never join', (_, flag) => {
    const flags = union(PLAIN, flag);
    expect(ranges(fill('7.3', { flags }, { flags }, { flags }))).toBe('0-2 2-4 4-6');
    const mm = mmOf([vmaOf(0, 2, { flags }), vmaOf(2, 4)]);
    expect(mergeExisting(mm, 1, vpn(2), vpn(4), { flags })).toBeUndefined();
  });
});

describe('what does not', () => {
  it.each([
    ['soft-dirty', VM_SOFTDIRTY],
    ['guard markers', VM_MAYBE_GUARD],
  ])('%s: all of a joined mapping has it', (_, flag: VmFlags) => {
    const flags = union(PLAIN, flag);
    for (const mm of [
      fill('7.3', { flags }, {}),
      fill('7.3', {}, { flags }),
      fill('7.3', {}, {}, { flags }),
    ]) {
      expect(ranges(mm)).toBe('0-6');
      expect(mm.tree.at(0)?.flags).toBe(flags);
    }
  });
});

describe('anon_vma', () => {
  const touched = (anonVma: number, forkChild = false): Partial<Vma> => ({ anonVma, forkChild });

  it.each<[string, Partial<Vma>, Partial<Vma>, string, string]>([
    ['none and none', {}, {}, '0-4', '0-4'],
    ['an untouched range behind touched memory', touched(1), {}, '0-4', '0-4'],
    ['an untouched range behind inherited memory', touched(1, true), {}, '0-2 2-4', '0-2 2-4'],
    ['a touched range behind untouched memory', {}, touched(1), '0-2 2-4', '0-4'],
    ['an inherited range behind untouched memory', {}, touched(1, true), '0-2 2-4', '0-2 2-4'],
    ['the same', touched(1), touched(1), '0-4', '0-4'],
    ['the same, inherited', touched(1, true), touched(1, true), '0-4', '0-4'],
    ['different ones', touched(1), touched(2), '0-2 2-4', '0-2 2-4'],
  ])('%s', (_, prev, range, until615, since616) => {
    const result = (version: KernelVersion): string => {
      const mm = mmOf([vmaOf(0, 2, prev)], systemOf(version));
      placeNew(mm, vmaOf(2, 4, range), { by: 'mremap', keep: null });
      return ranges(mm);
    };
    expect(KERNEL_VERSIONS.map(result)).toEqual([until615, until615, until615, until615, since616, since616]);
  });

  it('of the touched part goes to the whole', () => {
    const behind = fill('7.3', {}, {}, touched(3, false));
    expect(behind.tree.all()).toMatchObject([{ start: 0, end: 6, anonVma: 3, forkChild: false }]);
  });

  it('two neighbours that exclude each other: who comes first', () => {
    const result = (version: KernelVersion): string => ranges(fill(version, touched(1), {}, touched(2)));
    expect(KERNEL_VERSIONS.map(result)).toEqual([
      '0-2 2-6',
      '0-2 2-6',
      '0-2 2-6',
      '0-4 4-6',
      '0-4 4-6',
      '0-4 4-6',
    ]);
  });
});

describe('the second offset of private files', () => {
  const file = fileOf(1);
  const page = (start: number, anonPgoff: number, other: Partial<Vma> = {}): Vma =>
    vmaOf(start, start + 1, { file, pgoff: start, anonPgoff, ...other });

  it('must go on where it counts', () => {
    const result = (version: KernelVersion, other: Partial<Vma>): string => {
      const mm = mmOf([page(0, 0, other)], systemOf(version));
      placeNew(mm, page(1, 9, other), { by: 'mmap' });
      return ranges(mm);
    };
    expect(result('6.18', {})).toBe('0-2');
    expect(result('7.3', {})).toBe('0-1 1-2');
    expect(result('7.3', { file: null })).toBe('0-2');
  });
});

describe('a change inside a mapping', () => {
  const to = { flags: union(PLAIN, VM_DONTCOPY) };
  const changed = (start: number, end: number): string => {
    // 0-2 dc, 2-6, 6-8 dc
    const mm = mmOf([vmaOf(0, 2, to), vmaOf(2, 6), vmaOf(6, 8, to)]);
    expect(modifyVma(mm, 1, vpn(start), vpn(end), to).ok).toBe(true);
    return ranges(mm);
  };

  it.each([
    [2, 6, '0-8'],
    [2, 4, '0-4 4-6 6-8'],
    [4, 6, '0-2 2-4 4-8'],
    [3, 5, '0-2 2-3 3-5 5-6 6-8'],
  ])('of pages %i to %i', (start, end, after) => {
    expect(changed(start, end)).toBe(after);
  });

  it('says where the range is afterwards', () => {
    const mm = mmOf([vmaOf(0, 2, to), vmaOf(2, 6), vmaOf(6, 8, to)]);
    expect(modifyVma(mm, 1, vpn(3), vpn(4), to)).toEqual({ ok: true, value: 2 });
    expect(modifyVma(mm, 1, vpn(2), vpn(3), to)).toEqual({ ok: true, value: 0 });
    expect(ranges(mm)).toBe('0-4 4-6 6-8');
  });

  it('a merge needs no room, a split does', () => {
    const mm = mmOf([vmaOf(0, 2, to), vmaOf(2, 6)], systemOf('7.3', 2));
    expect(modifyVma(mm, 1, vpn(2), vpn(3), to).ok).toBe(true);
    expect(modifyVma(mm, 1, vpn(4), vpn(5), to)).toMatchObject({ error: { errno: 'ENOMEM' } });
    expect(ranges(mm)).toBe('0-3 3-6');
  });
});

describe('a close hook', () => {
  const file = fileOf(1, { ops: 'sysv' });
  const dc = union(PLAIN, VM_DONTCOPY);

  /** A segment of six pages whose outer pages differ from the middle; the middle becomes like them, all or a half of it. */
  const result = (version: KernelVersion, start: number, end: number): string => {
    const vma = (from: number, to: number, flags: VmFlags): Vma =>
      vmaOf(from, to, { file, pgoff: from, flags });
    const mm = mmOf([vma(0, 2, dc), vma(2, 4, PLAIN), vma(4, 6, dc)], systemOf(version));
    modifyVma(mm, 1, vpn(start), vpn(end), { flags: dc });
    return ranges(mm);
  };

  it.each([
    ['the neighbour before grows', 2, 3, ['0-2 2-3 3-4 4-6', '0-3 3-4 4-6', '0-3 3-4 4-6', '0-3 3-4 4-6']],
    [
      'the neighbour behind grows down',
      3,
      4,
      ['0-2 2-3 3-4 4-6', '0-2 2-3 3-4 4-6', '0-2 2-3 3-4 4-6', '0-2 2-3 3-6'],
    ],
    ['all of it would go', 2, 4, ['0-2 2-4 4-6', '0-2 2-4 4-6', '0-2 2-4 4-6', '0-2 2-4 4-6']],
  ] as const)('%s', (_, start, end, after) => {
    expect((['6.1', '6.10', '6.11', '6.12'] as const).map((version) => result(version, start, end))).toEqual(
      after,
    );
    expect([result('6.18', start, end), result('7.3', start, end)]).toEqual([after[3], after[3]]);
  });
});
