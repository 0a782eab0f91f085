import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GROUPINGS } from '../../src/analysis/grouping';
import { sealCoverage, type SealReporting } from '../../src/analysis/seals';
import { addressSpaceTree, coverageText, type AddressSpaceInput } from '../../src/present/address_space_tree';
import { tooltipText } from '../../src/present/tooltip';
import type { MapsEntry } from '../../src/procfs/maps_entry';
import { entriesOf, entry, type EntrySketch } from '../analysis/entries';
import { expectGoodTree, lines, rowAt } from './rows';

const PROGRAM = entriesOf(
  { perms: 'r--p', path: '/usr/bin/demo', inode: '1', flags: 'rd', kB: { Rss: 4, Pss: 2 }, line: 1 },
  { perms: 'r-xp', path: '/usr/bin/demo', inode: '1', flags: 'rd ex', kB: { Rss: 4, Pss: 4 }, line: 26 },
  { path: '[heap]', flags: 'rd wr', kB: { Rss: 8, Pss: 8, Swap: 4 }, pages: 2 },
  { name: 'jit code', perms: 'rwxp', flags: 'rd wr ex', kB: { Rss: 0, Pss: 0 } },
  { name: 'config', perms: 'r--p', flags: 'rd sl', kB: { Rss: 4, Pss: 4 } },
  { path: '/lib/old.so', deleted: true, flags: 'rd', kB: { Rss: 4, Pss: 4 } },
  { flags: 'rd wr lo', kB: { Rss: 4, Pss: 4, Locked: 4 } },
  { perms: 'rw-s', path: '/memfd:ring', deleted: true, flags: 'rd wr sh', kB: { Rss: 4, Pss: 4 } },
);

function tree(entries: readonly MapsEntry[], more: Partial<AddressSpaceInput> = {}) {
  return addressSpaceTree({
    entries,
    sealing: 'reported',
    groupBy: 'address',
    filter: '',
    changed: new Set(),
    ...more,
  });
}

describe('addressSpaceTree', () => {
  it('lists mappings with range, permissions, size and memory, below the pinned Sealed group', () => {
    expect(lines(tree(PROGRAM).roots)).toEqual([
      'Sealed: 1 of 8 mappings · 4 kB of 36 kB (11%)',
      'demo: r--p 4 kB · RSS 4 kB · PSS 2 kB · 01000000-01001000',
      'demo: r-xp 4 kB · RSS 4 kB · 01001000-01002000',
      '[heap]: rw-p 8 kB · RSS 8 kB · 01002000-01004000',
      '[anon:jit code]: rwxp 4 kB · writable and executable · RSS 0 kB · 01004000-01005000',
      '[anon:config]: r--p 4 kB · sealed · RSS 4 kB · 01005000-01006000',
      'old.so: rw-p 4 kB · deleted · RSS 4 kB · 01006000-01007000',
      'anonymous: rw-p 4 kB · locked · RSS 4 kB · 01007000-01008000',
      // A memfd is always "deleted": that says nothing of a file on disk.
      'memfd:ring: rw-s 4 kB · RSS 4 kB · 01008000-01009000',
    ]);
  });

  it('draws what matters most: writable code, seals, deleted files, locks; else the kind', () => {
    expect(tree(PROGRAM).roots.map((row) => row.icon?.id)).toEqual([
      'lock',
      'file-binary',
      'file-code',
      'database',
      'warning',
      'lock',
      'trash',
      'pinned',
      'file-submodule',
    ]);
  });

  it('groups by kind, with sums', () => {
    const { roots } = tree(PROGRAM, { groupBy: 'kind' });
    expect(lines(roots)).toEqual([
      'Sealed: 1 of 8 mappings · 4 kB of 36 kB (11%)',
      'Code: 1 mapping · 4 kB · RSS 4 kB',
      'Data: 1 mapping · 4 kB · RSS 4 kB',
      'Heap: 1 mapping · 8 kB · RSS 8 kB · swap 4 kB',
      'Anonymous: 1 mapping · 4 kB · RSS 4 kB',
      'Named: JIT code: 1 mapping · 4 kB · RSS 0 kB',
      'Named anonymous: 1 mapping · 4 kB · RSS 4 kB',
      'memfd: 1 mapping · 4 kB · RSS 4 kB',
      'Files: 1 mapping · 4 kB · RSS 4 kB',
    ]);
    expect(lines(rowAt(roots, 'Heap').children())).toEqual([
      '[heap]: rw-p 8 kB · RSS 8 kB · 01002000-01004000',
    ]);
  });

  it('groups by permissions in words', () => {
    const { roots } = tree(PROGRAM, { groupBy: 'perms' });
    expect(lines(roots)[1]).toBe('rwxp: read, write, execute, private · 1 mapping · 4 kB · RSS 0 kB');
    expect(roots[1]?.icon).toEqual({ id: 'warning', color: 'writableExecutable' });
  });

  it('shows a group of one as the mapping itself', () => {
    const { roots } = tree(PROGRAM, { groupBy: 'mapping' });
    expect(lines(roots).slice(1, 3)).toEqual([
      'demo: 2 mappings · 8 kB · RSS 8 kB',
      '[heap]: rw-p 8 kB · RSS 8 kB · 01002000-01004000',
    ]);
    expect(lines(tree(PROGRAM, { groupBy: 'name' }).roots)[1]).toBe(
      'old.so: rw-p 4 kB · deleted · RSS 4 kB · 01006000-01007000',
    );
  });

  it('filters, and says how much is left', () => {
    const made = tree(PROGRAM, { filter: 'perm:x' });
    expect([made.shown, made.total]).toEqual([2, 8]);
    expect(lines(made.roots)).toEqual([
      'Sealed: none',
      'demo: r-xp 4 kB · RSS 4 kB · 01001000-01002000',
      '[anon:jit code]: rwxp 4 kB · writable and executable · RSS 0 kB · 01004000-01005000',
    ]);
  });

  it('does not let a filter change what is data', () => {
    const { roots } = tree(PROGRAM, { filter: 'perm:r--', groupBy: 'kind' });
    expect(roots.some((row) => row.label === 'Data')).toBe(true);
  });

  it('marks what the last step changed, in words and colour', () => {
    const changed = PROGRAM[2];
    if (changed === undefined) throw new Error('the program has a heap');
    const row = rowAt(tree(PROGRAM, { changed: new Set([changed]) }).roots, '[heap]');
    expect(row.description).toBe('rw-p 8 kB · changed · RSS 8 kB · 01002000-01004000');
    expect(row.icon).toEqual({ id: 'database', color: 'changed' });
  });

  it('says what a screen reader needs, without hex before the name', () => {
    expect(rowAt(tree(PROGRAM).roots, '[anon:config]').accessibility).toBe(
      '[anon:config], sealed, Named anonymous, read, private, 4 kB, 4 kB in memory, at 01005000-01006000',
    );
  });

  it('is empty without mappings, so that a view can say what to do', () => {
    expect(tree([]).roots).toEqual([]);
  });

  it('keeps ids while the address space changes', () => {
    const before = tree(PROGRAM, { groupBy: 'kind' }).roots;
    const after = tree(PROGRAM.slice(1), { groupBy: 'kind' }).roots;
    expect(rowAt(after, 'Heap').id).toBe(rowAt(before, 'Heap').id);
    expect(rowAt(after, 'Heap', '[heap]').id).toBe(rowAt(before, 'Heap', '[heap]').id);
  });
});

describe('the Sealed group', () => {
  const plain = entriesOf({}, {});
  const flagged = entriesOf({ flags: 'rd' }, { flags: 'rd wr' });
  const sealed = entriesOf({ flags: 'rd sl' }, { kB: { Rss: 4 } });

  it.each<[string, readonly MapsEntry[], SealReporting, string]>([
    ['plain maps', plain, 'unknown', 'unknown: plain maps do not show seals'],
    ['plain maps of a kernel with seals', plain, 'reported', 'unknown: plain maps do not show seals'],
    ['smaps of an unknown kernel', flagged, 'unknown', 'unknown: this kernel may not show seals'],
    ['a kernel without mseal', flagged, 'impossible', 'none: this kernel has no mseal'],
    ['a kernel that shows seals', flagged, 'reported', 'none'],
    ['a record that was cut', sealed, 'reported', '1 of 2 mappings · 4 kB of 8 kB (50%) · 1 unknown'],
  ])('%s', (_, entries, sealing, text) => {
    expect(coverageText(sealCoverage(entries, sealing), sealing, entries)).toBe(text);
    expect(rowAt(tree(entries, { sealing }).roots, 'Sealed').description).toBe(text);
  });

  it('has the sealed mappings below it, and no twistie without any', () => {
    const { roots } = tree(PROGRAM);
    expect(lines(rowAt(roots, 'Sealed').children())).toEqual([
      '[anon:config]: r--p 4 kB · sealed · RSS 4 kB · 01005000-01006000',
    ]);
    expect(rowAt(tree(flagged).roots, 'Sealed').expansion).toBe('leaf');
  });
});

describe('tooltips of mappings', () => {
  it('have every field and every flag in words', () => {
    const one = entry({
      path: '[heap]',
      flags: 'rd wr zz ??',
      kB: { Size: 4, KernelPageSize: 4, MMUPageSize: 4, Rss: 4, New: 8, Swap: 0 },
    });
    const text = tooltipText(rowAt(tree([one]).roots, '[heap]').tooltip() ?? { title: '', blocks: [] });
    expect(text.split('\n')).toEqual([
      '[heap]',
      'Range  01000000-01001000',
      'Size  4 kB (1 page)',
      'Permissions  rw-p (read, write, private)',
      'Kind  Heap',
      'Sealed  no',
      'Flags: rd (readable), wr (writable), zz (a flag that VMA Lens does not know), ?? (a flag that this kernel itself has no letters for)',
      'Memory',
      'Rss  4 kB  in memory',
      'New  8 kB',
      'Zero: Swap',
      'KernelPageSize, MMUPageSize: 4 kB',
    ]);
  });

  it('show sizes that are not what one expects', () => {
    const kB = { Size: 8, KernelPageSize: 2048, MMUPageSize: 4 };
    const tooltip = tree([entry({ kB, flags: '' })]).roots[1]?.tooltip();
    const text = tooltip === undefined ? '' : tooltipText(tooltip);
    expect(text).toContain(
      'Size  8 kB  address space\nKernelPageSize  2 MiB  size of a page for the kernel here\nMMUPageSize  4 kB',
    );
    expect(text).toContain('Flags: none');
  });

  it('say what is unknown', () => {
    const text = (sketch: EntrySketch, sealing: SealReporting): string =>
      tooltipText(tree([entry(sketch)], { sealing }).roots[1]?.tooltip() ?? { title: '', blocks: [] });
    expect(text({}, 'unknown')).toContain('Sealed  unknown: only the flags of smaps show it');
    expect(text({}, 'unknown')).toContain('only in smaps');
    expect(text({ flags: 'rd' }, 'unknown')).toContain(
      'Sealed  unknown: the kernel that wrote this may not show seals',
    );
    expect(text({ flags: 'rd' }, 'impossible')).toContain('Sealed  no: this kernel has no mseal');
    const cut = text({ kB: { Rss: 4 }, complete: false }, 'reported');
    expect(cut).toContain('unknown, not zero');
    expect(cut).toContain('no VmFlags line');
  });

  it('show device, inode and offset of a file, and text fields as they are', () => {
    const file = entry({
      path: '/a',
      inode: '18446744073709551615',
      dev: 'fe:12',
      offset: 2n ** 60n,
      kB: {},
    });
    const smaps = {
      fields: new Map([['Name', { kind: 'text', text: '[anon:x]' } as const]]),
      vmFlags: [],
      complete: true,
    };
    const text = tooltipText(tree([{ ...file, smaps }]).roots[1]?.tooltip() ?? { title: '', blocks: [] });
    expect(text).toContain('Offset  0x1000000000000000\nDevice  fe:12\nInode  18446744073709551615');
    expect(text).toContain('Name  [anon:x]');
  });
});

describe('large and odd address spaces', () => {
  it('put 1,200 mappings into ranges of at most 500', () => {
    const entries = entriesOf(...Array.from({ length: 1200 }, () => ({})));
    for (const groupBy of GROUPINGS) {
      const { roots } = tree(entries, { groupBy });
      expectGoodTree(roots);
    }
    const { roots } = tree(entries);
    expect(lines(roots)).toEqual([
      'Sealed: unknown: plain maps do not show seals',
      '01000000-011f3000: 499 mappings · 1.9 MiB',
      '011f3000-013e6000: 499 mappings · 1.9 MiB',
      '013e6000-014b0000: 202 mappings · 808 kB',
    ]);
  });

  it('put groups into ranges as well', () => {
    const entries = entriesOf(
      ...Array.from({ length: 700 }, (_, i) => ({ name: `n${i}`, at: 0x1000 + 2 * i })),
    );
    expectGoodTree(tree(entries, { groupBy: 'name' }).roots);
    expect(tree(entries, { groupBy: 'name' }).roots).toHaveLength(3);
  });

  it('hold whatever a text may say', () => {
    const sketch = fc.record({
      at: fc.integer({ min: 0, max: 40 }),
      pages: fc.integer({ min: -2, max: 4 }),
      perms: fc.constantFrom('rw-p', 'rwxs', '', 'r', '????'),
      path: fc.oneof(
        fc.constant(''),
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constant('/a\u001b[1m'),
      ),
      deleted: fc.boolean(),
      flags: fc.constantFrom('rd', 'rd sl lo', ''),
    });
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 12 }), fc.constantFrom(...GROUPINGS), (sketches, groupBy) => {
        expectGoodTree(tree(sketches.map(entry), { groupBy }).roots);
      }),
    );
  });
});
