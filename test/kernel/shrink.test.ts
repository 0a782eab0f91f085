import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shrinkList, simplerCalls, simplifyList, type Trial } from './shrink';

/** Fails where all of `needed` are there, in any order. Counts the runs. */
function needs<T>(needed: readonly T[]): { trial: Trial<T>; runs: () => number } {
  let runs = 0;
  const trial: Trial<T> = (candidates) => {
    runs++;
    return candidates.map((items) => needed.every((item) => items.includes(item)));
  };
  return { trial, runs: () => runs };
}

describe('shrinkList', () => {
  it('leaves exactly what the failure needs, in order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(200), { minLength: 1, maxLength: 80 }), fc.nat(), (items, salt) => {
        const needed = items.filter((_, index) => (index * 7 + salt) % 11 === 0);
        fc.pre(needed.length > 0);
        expect(shrinkList(items, needs(needed).trial)).toEqual(needed);
      }),
    );
  });

  it('takes few runs: one tests many candidates', () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const { trial, runs } = needs([17, 63]);
    expect(shrinkList(items, trial)).toEqual([17, 63]);
    expect(runs()).toBeLessThan(30);
  });

  it('keeps what cannot go alone together with what needs it', () => {
    // 3 matters only as long as 2 is there.
    const trial: Trial<number> = (candidates) =>
      candidates.map((items) => items.includes(1) && (!items.includes(2) || items.includes(3)));
    expect(shrinkList([1, 2, 3], trial)).toEqual([1]);
  });
});

describe('simplifyList', () => {
  it('takes simpler forms over as long as it still fails', () => {
    const half = (n: number): readonly number[] => (n > 1 ? [Math.floor(n / 2)] : []);
    const trial: Trial<number> = (candidates) => candidates.map(([a = 0, b = 0]) => a >= 5 && b >= 1);
    expect(simplifyList([40, 8], half, trial)).toEqual([5, 1]);
  });
});

describe('simplerCalls', () => {
  it('drops flags one by one and shortens to a page', () => {
    expect(
      simplerCalls('1001 mmap(0x2000000000, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, -1, 0) = 0'),
    ).toEqual([
      '1001 mmap(0x2000000000, 8192, PROT_WRITE, MAP_SHARED, -1, 0) = 0',
      '1001 mmap(0x2000000000, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, -1, 0) = 0',
    ]);
    expect(simplerCalls('1001 munmap(0x2000000000, 4096) = 0')).toEqual([]);
  });
});
