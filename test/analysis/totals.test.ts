import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addExact, compareExact, timesExact } from '../../src/analysis/exact_sum';
import { fieldTotals, totalsOf, withoutRepeats } from '../../src/analysis/totals';
import { entriesOf, entry } from './entries';

describe('exact sums', () => {
  it('never lose a unit, whatever the size', () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 66n });
    const small = (value: bigint): number | bigint => (value <= 9007199254740991n ? Number(value) : value);
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(BigInt(addExact(small(a), small(b)))).toBe(a + b);
        expect(BigInt(timesExact(small(a), 1024))).toBe(a * 1024n);
        expect(Math.sign(compareExact(small(a), small(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('stay numbers while they can', () => {
    expect(addExact(Number.MAX_SAFE_INTEGER, 1)).toBe(9007199254740992n);
    expect(addExact(9007199254740992n, 0)).toBe(9007199254740992n);
    expect(addExact(1, 2)).toBe(3);
  });
});

describe('totalsOf', () => {
  it('adds sizes and the fields of smaps', () => {
    const entries = entriesOf(
      { pages: 2, kB: { Rss: 8, Pss: 4, Swap: 0 } },
      { pages: 3, kB: { Rss: 4, Pss: 4, Swap: 12 } },
    );
    expect(totalsOf(entries)).toEqual({ count: 2, bytes: 20480, rss: 12, pss: 8, swap: 12, unmeasured: 0 });
  });

  it('says null, not zero, for what the source does not tell', () => {
    expect(totalsOf(entriesOf({}, {}))).toEqual({
      count: 2,
      bytes: 8192,
      rss: null,
      pss: null,
      swap: null,
      unmeasured: 2,
    });
  });

  it('counts an entry that was cut off as not (fully) measured', () => {
    const totals = totalsOf(entriesOf({ kB: { Rss: 64 }, complete: false }, { kB: { Rss: 4, Pss: 4 } }));
    expect(totals).toMatchObject({ rss: 68, pss: 4, unmeasured: 1 });
  });

  it('is exact above 2^53', () => {
    const huge = entry({ at: 0, pages: 2 ** 51, kB: { Rss: 2n ** 60n } });
    const next = entry({ at: 2 ** 51, pages: 1, kB: { Rss: 1 } });
    expect(totalsOf([huge, next])).toMatchObject({ bytes: 2n ** 63n + 4096n, rss: 2n ** 60n + 1n });
  });

  it('counts a line that a torn read repeats once, and a damaged one as empty', () => {
    const [a, b, c] = entriesOf({ path: '/a', pages: 2 }, { path: '/b' }, { path: '/c' });
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were made');
    expect(withoutRepeats([a, b, b, c, a])).toEqual([a, b, c]);
    expect(totalsOf([a, b, b, c, a])).toMatchObject({ count: 3, bytes: 4 * 4096 });
    // Overlapping but different lines are both real.
    const grown = { ...b, end: c.end };
    expect(withoutRepeats([a, b, grown])).toEqual([a, b, grown]);
    const backwards = { ...a, start: a.end, end: a.start };
    expect(totalsOf([backwards]).bytes).toBe(0);
  });

  it('gives the very list back where nothing repeats', () => {
    const entries = entriesOf({}, {}, {});
    expect(withoutRepeats(entries)).toBe(entries);
  });
});

describe('fieldTotals', () => {
  it('sums amounts only, in the order of their first appearance', () => {
    const entries = entriesOf(
      { kB: { Size: 4, KernelPageSize: 4, MMUPageSize: 4, Rss: 4 } },
      { kB: { Rss: 8, FutureField: 2 } },
    );
    expect([...fieldTotals(entries)]).toEqual([
      ['Rss', 12],
      ['FutureField', 2],
    ]);
  });

  it('leaves out fields without a unit', () => {
    const one = entry({ kB: { Rss: 4 } });
    const fields = new Map(one.smaps?.fields).set('THPeligible', { kind: 'number', value: 1, unit: '' });
    expect([...fieldTotals([{ ...one, smaps: { fields, vmFlags: null, complete: true } }]).keys()]).toEqual([
      'Rss',
    ]);
  });
});
