import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { inTaskSize } from '../../src/mm/mm';
import { validateMm } from '../../src/mm/validate_mm';
import { mmOf, nameOf, ranges, systemOf, vmaOf } from './vmas';

describe('replacing', () => {
  it('takes and drops name references with the VMAs', () => {
    const system = systemOf();
    const [a, b] = [nameOf(system.names, 'a'), nameOf(system.names, 'b')];
    const mm = mmOf([vmaOf(0, 4, { name: a }), vmaOf(4, 6, { name: b })], system);
    expect([system.names.refs(a), system.names.refs(b)]).toEqual([1, 1]);
    mm.replace(0, 2, [vmaOf(0, 2, { name: a }), vmaOf(2, 4, { name: a }), vmaOf(4, 6, { name: a })]);
    expect([system.names.refs(a), system.names.refs(b)]).toEqual([3, 0]);
    mm.clear();
    expect(system.names.alive().size).toBe(0);
  });

  it('an object that goes and comes in one step is never free', () => {
    const system = systemOf();
    const name = nameOf(system.names, 'a');
    const mm = mmOf([vmaOf(0, 4, { name })], system);
    mm.replace(0, 1, [vmaOf(0, 2, { name })]);
    expect(system.names.refs(name)).toBe(1);
  });

  it.each([
    ['overlap each other', 0, 0, [vmaOf(0, 2), vmaOf(1, 3)]],
    ['are empty', 0, 0, [vmaOf(2, 2)]],
    ['are out of order', 0, 0, [vmaOf(4, 5), vmaOf(2, 3)]],
    ['reach into the next one', 0, 0, [vmaOf(5, 11)]],
    ['begin in the one before', 1, 0, [vmaOf(15, 25)]],
  ])('refuses VMAs that %s', (_, index, removed, inserted) => {
    const mm = mmOf([vmaOf(10, 20)]);
    expect(() => mm.replace(index, removed, inserted)).toThrow('assertion failed');
    expect(ranges(mm)).toBe('10-20');
  });

  it('keeps what was changed for whoever writes history, once', () => {
    const mm = mmOf([vmaOf(0, 4)]);
    expect(mm.takeChanges()).toEqual([{ removed: [], inserted: [vmaOf(0, 4)] }]);
    mm.replace(0, 1, [vmaOf(0, 1)]);
    mm.replace(1, 0, []);
    expect(mm.takeChanges()).toEqual([{ removed: [vmaOf(0, 4)], inserted: [vmaOf(0, 1)] }]);
    expect(mm.takeChanges()).toEqual([]);
  });
});

describe('taking back', () => {
  it('restores VMAs, scalars, counts and numbers of names', () => {
    const system = systemOf();
    const name = nameOf(system.names, 'kept');
    const before = [vmaOf(0, 4, { name }), vmaOf(6, 8)];
    const mm = mmOf(before, system);
    const { scalars } = mm;
    const mark = mm.begin();
    const fresh = nameOf(system.names, 'fresh');
    mm.replace(0, 1, [vmaOf(0, 1), vmaOf(1, 4, { name: fresh })]);
    mm.replace(2, 1, []);
    mm.replace(2, 0, [vmaOf(20, 30)]);
    mm.scalars = { ...scalars, brk: 1 };
    mm.rollback(mark);
    expect(mm.tree.all()).toEqual(before);
    expect(mm.scalars).toBe(scalars);
    expect([...system.names.alive()]).toEqual([[name, 1]]);
    expect(nameOf(system.names, 'next').id).toBe(fresh.id);
    validateMm([mm], system.names);
  });

  it('forgets the changes, but not those before', () => {
    const mm = mmOf([vmaOf(0, 4)]);
    const mark = mm.begin();
    mm.replace(0, 1, []);
    mm.rollback(mark);
    expect(mm.takeChanges()).toEqual([{ removed: [], inserted: [vmaOf(0, 4)] }]);
  });

  it('goes back to the inner of two marks, then to the outer', () => {
    const mm = mmOf([vmaOf(0, 4)]);
    const outer = mm.begin();
    mm.replace(0, 1, [vmaOf(0, 3)]);
    const inner = mm.begin();
    mm.replace(0, 1, [vmaOf(0, 2)]);
    mm.rollback(inner);
    expect(ranges(mm)).toBe('0-3');
    mm.rollback(outer);
    expect(ranges(mm)).toBe('0-4');
  });
});

describe('ranges', () => {
  const mm = mmOf([vmaOf(2, 4), vmaOf(4, 6), vmaOf(8, 9)]);

  it.each([
    [0, 2, ''],
    [0, 3, '2-4'],
    [3, 5, '2-4 4-6'],
    [5, 9, '4-6 8-9'],
    [6, 8, ''],
    [9, 20, ''],
    [4, 4, ''],
  ])('[%i, %i) overlaps %j', (start, end, found) => {
    const vmas = mm.vmasIn(vpn(start), vpn(end));
    expect(ranges(mmOf(vmas))).toBe(found);
    expect(mm.firstIn(vpn(start), vpn(end))).toBe(vmas[0]);
  });

  it('end where the user address space ends', () => {
    expect(inTaskSize(vpn(0x7fffffffe), 1)).toBe(true);
    expect(inTaskSize(vpn(0x7fffffffe), 2)).toBe(false);
    expect(inTaskSize(vpn(0), 0x7ffffffff)).toBe(true);
    expect(inTaskSize(vpn(0), 0x800000000)).toBe(false);
    expect(inTaskSize(vpn(2 ** 51), 1)).toBe(false);
  });
});
