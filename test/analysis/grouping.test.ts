import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GROUPINGS, groupEntries } from '../../src/analysis/grouping';
import { entriesOf, entry, type EntrySketch } from './entries';

const PROGRAM: readonly EntrySketch[] = [
  { perms: 'r--p', path: '/usr/bin/demo', inode: '1' },
  { perms: 'r-xp', path: '/usr/bin/demo', inode: '1' },
  { perms: 'rw-p', path: '/usr/bin/demo', inode: '1' },
  { path: '[heap]' },
  { name: ' Go: heap', at: 0x5000 },
  { name: ' Go: heap' },
  { perms: 'r-xp', name: 'jit code' },
  {},
  { perms: '---p' },
  { at: 0x9000 },
  { path: '[stack]' },
];

describe('groupEntries', () => {
  const program = entriesOf(...PROGRAM);
  const sizes = (by: (typeof GROUPINGS)[number]): readonly (readonly [string, number])[] =>
    groupEntries(program, by).map((group) => [group.key, group.entries.length]);

  it('by address is the list as it stands', () => {
    expect(groupEntries(program, 'address')[0]?.entries).toBe(program);
    expect(groupEntries([], 'address')).toHaveLength(1);
  });

  it('by mapping joins the pieces of a file and neighbours of one name', () => {
    expect(sizes('mapping')).toEqual([
      ['mapping:file 00:00 1 /usr/bin/demo', 3],
      ['mapping:at 1003', 1],
      ['mapping:at 5000', 2],
      ['mapping:at 5002', 1],
      // An arena and the reservation behind it are one mmap; the memory at 9000 is another.
      ['mapping:at 5003', 2],
      ['mapping:at 9000', 1],
      ['mapping:at 9001', 1],
    ]);
  });

  it('by kind follows the order of kinds and tells owners apart', () => {
    expect(groupEntries(program, 'kind').map((g) => [g.kind, g.owner, g.entries.length])).toEqual([
      ['code', undefined, 1],
      ['data', undefined, 2],
      ['heap', undefined, 1],
      ['stack', undefined, 1],
      ['anonymous', undefined, 3],
      ['named', 'Go', 2],
      ['named', 'JIT code', 1],
    ]);
  });

  it('by name puts what has no name last', () => {
    expect(groupEntries(program, 'name').map((g) => g.entries[0]?.path)).toEqual([
      '/usr/bin/demo',
      '[anon: Go: heap]',
      '[anon:jit code]',
      '[heap]',
      '[stack]',
      '',
    ]);
  });

  it('by permissions begins with what can be written and executed', () => {
    const entries = entriesOf({ perms: '---p' }, { perms: 'rwxp' }, { perms: 'r--p' }, { perms: 'rw-p' });
    expect(groupEntries(entries, 'perms').map((g) => g.entries[0]?.perms)).toEqual([
      'rwxp',
      'rw-p',
      'r--p',
      '---p',
    ]);
  });

  it('keeps a name apart from the kind or grouping of the same text', () => {
    const entries = [entry({ path: 'kind:heap' }), entry({ path: '[heap]' })];
    expect(new Set(groupEntries(entries, 'name').map((g) => g.key)).size).toBe(2);
  });

  it('loses and repeats nothing, whatever the grouping', () => {
    const sketch = fc.record({
      pages: fc.integer({ min: 1, max: 3 }),
      perms: fc.constantFrom('rw-p', 'r-xp', '---p', 'rw-s'),
      path: fc.constantFrom('', '/a', '/b', '[heap]', '[anon:x]', '[vdso]'),
    });
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 30 }), fc.constantFrom(...GROUPINGS), (sketches, by) => {
        const entries = entriesOf(...sketches);
        const groups = groupEntries(entries, by);
        const all = groups.flatMap((group) => group.entries);
        expect(new Set(all)).toEqual(new Set(entries));
        expect(all).toHaveLength(entries.length);
        expect(new Set(groups.map((group) => group.key)).size).toBe(groups.length);
        for (const group of groups) {
          const order = group.entries.map((each) => entries.indexOf(each));
          expect(order).toEqual([...order].sort((a, b) => a - b));
        }
      }),
    );
  });
});
