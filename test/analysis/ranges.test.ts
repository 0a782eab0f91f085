import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_CHILDREN, splitIntoRanges } from '../../src/analysis/ranges';

/** Numbers of children of every node below a list of `length` leaves. */
function childCounts(from: number, to: number, max: number): number[] {
  const ranges = splitIntoRanges(from, to, max);
  if (ranges === undefined) return [to - from];
  return [ranges.length, ...ranges.flatMap((range) => childCounts(range.from, range.to, max))];
}

describe('splitIntoRanges', () => {
  it('leaves short lists alone', () => {
    expect(splitIntoRanges(0, 500)).toBeUndefined();
    expect(splitIntoRanges(0, 0)).toBeUndefined();
  });

  it('cuts at full nodes', () => {
    expect(splitIntoRanges(0, 501)).toEqual([
      { from: 0, to: 500 },
      { from: 500, to: 501 },
    ]);
  });

  it('covers every leaf once, with at most so many children a node', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 2, max: 12 }), (length, max) => {
        for (const count of childCounts(0, length, max)) expect(count).toBeLessThanOrEqual(max);
        const ranges = splitIntoRanges(0, length, max);
        if (ranges === undefined) return;
        let at = 0;
        for (const range of ranges) {
          expect(range.from).toBe(at);
          expect(range.to).toBeGreaterThan(at);
          at = range.to;
        }
        expect(at).toBe(length);
      }),
    );
  });

  it('holds for ten million mappings', () => {
    expect(Math.max(...childCounts(0, 10_000_000, MAX_CHILDREN))).toBeLessThanOrEqual(MAX_CHILDREN);
  });
});
