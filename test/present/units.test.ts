import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, formatBytes, formatCount, formatKilobytes, formatShare } from '../../src/present/units';

describe('formatBytes', () => {
  it.each<[number | bigint, string]>([
    [0, '0 B'],
    [1023, '1023 B'],
    [4096, '4 kB'],
    [1048575, '1023 kB'],
    [1048576, '1 MiB'],
    [1048576 + 104858, '1.1 MiB'],
    [1073741823, '1 GiB'],
    [1023.9 * 1048576, '1,023.9 MiB'],
    [128 * 2 ** 40, '128 TiB'],
    [2n ** 63n, '8 EiB'],
    [2n ** 64n - 1n, '16 EiB'],
    [2n ** 75n, '32,768 EiB'],
  ])('%s is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('is never more than a twentieth off', () => {
    const factor: Readonly<Record<string, number>> = {
      B: 1,
      kB: 2 ** 10,
      MiB: 2 ** 20,
      GiB: 2 ** 30,
      TiB: 2 ** 40,
      PiB: 2 ** 50,
    };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (pages) => {
        const bytes = Math.floor(pages / 4096) * 4096;
        const [value = '', unit = ''] = formatBytes(bytes).split(' ');
        const shown = Number(value.replaceAll(',', '')) * (factor[unit] ?? Number.NaN);
        expect(Math.abs(shown - bytes)).toBeLessThanOrEqual(bytes / 20);
      }),
    );
  });
});

describe('other numbers', () => {
  it('kB as smaps gives them', () => {
    expect(formatKilobytes(0)).toBe('0 kB');
    expect(formatKilobytes(1536)).toBe('1.5 MiB');
    expect(formatKilobytes(2n ** 54n)).toBe('16 EiB');
  });

  it('counts', () => {
    expect([0, 999, 1000, 1234567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect(formatCount(10n ** 18n)).toBe('1,000,000,000,000,000,000');
    expect(counted(1, 'mapping')).toBe('1 mapping');
    expect(counted(0, 'mapping')).toBe('0 mappings');
    expect(counted(2, 'process', 'processes')).toBe('2 processes');
  });

  it('shares, never rounded to nothing or to all', () => {
    expect(formatShare(0, 0)).toBe('');
    expect(formatShare(0, 10)).toBe('0%');
    expect(formatShare(1, 1000)).toBe('under 1%');
    expect(formatShare(999, 1000)).toBe('over 99%');
    expect(formatShare(1000, 1000)).toBe('100%');
    expect(formatShare(2n ** 62n, 2n ** 63n)).toBe('50%');
  });
});
