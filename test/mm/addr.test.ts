import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesOfPages,
  bytesOfVpn,
  hexOfU64,
  hexOfVpn,
  offsetInPage,
  pageAligned,
  pageAlignUp,
  parseDecimal,
  parseHex,
  u64,
  VPN_END,
  vpn,
  vpnAdd,
  vpnOf,
  type U64,
} from '../../src/mm/addr';

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const TOP = 2n ** 64n - 1n;

/** Any 64-bit value, those at the borders of number, page and 64 bits more often. */
const anyU64 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: TOP }),
    fc.bigInt({ min: -5000n, max: 5000n }).map((delta) => SAFE + delta),
    fc.bigInt({ min: 0n, max: 10000n }).map((delta) => TOP - delta),
    fc.bigInt({ min: 0n, max: 10000n }),
  )
  .map((value) => ({ value, bytes: u64(value) }));

describe('canonical form', () => {
  it.each<[bigint, U64]>([
    [0n, 0],
    [SAFE, Number.MAX_SAFE_INTEGER],
    [SAFE + 1n, 2n ** 53n],
    [TOP, TOP],
    [TOP + 1n, 0],
    [-1n, TOP],
    [-4096n, TOP - 4095n],
  ])('%s', (value, canonical) => {
    expect(u64(value)).toBe(canonical);
  });

  it('makes === right', () => {
    fc.assert(
      fc.property(anyU64, anyU64, (a, b) => {
        expect(a.bytes === b.bytes).toBe(a.value === b.value);
      }),
    );
  });
});

describe('bytes and pages', () => {
  it('agree with exact arithmetic for every 64-bit value', () => {
    fc.assert(
      fc.property(anyU64, ({ value, bytes }) => {
        expect(BigInt(vpnOf(bytes))).toBe(value / 4096n);
        expect(BigInt(offsetInPage(bytes))).toBe(value % 4096n);
        expect(pageAligned(bytes)).toBe(value % 4096n === 0n);
        expect(bytesOfVpn(vpnOf(bytes))).toBe(u64(value - (value % 4096n)));
        // PAGE_ALIGN in 64 bits.
        expect(BigInt(pageAlignUp(bytes))).toBe(((value + 4095n) / 4096n) % 2n ** 52n);
        expect(hexOfU64(bytes)).toBe(value.toString(16));
        expect(hexOfVpn(vpnOf(bytes))).toBe((value - (value % 4096n)).toString(16));
      }),
    );
  });

  it.each<[string, U64, number]>([
    ['nothing', 0, 0],
    ['a byte', 1, 1],
    ['a page', 4096, 1],
    ['a byte more', 4097, 2],
    ['36028797018963969 bytes, which no number holds', 36028797018963969n, 2 ** 43 + 1],
    ['the last length that does not wrap', TOP - 4095n, VPN_END - 1],
    ['the first that wraps to nothing', TOP - 4094n, 0],
    ['2^64 - 1', TOP, 0],
  ])('a length of %s in pages', (_, bytes, pages) => {
    expect(pageAlignUp(bytes)).toBe(pages);
  });

  it('the end of the address space', () => {
    expect(vpnOf(TOP)).toBe(VPN_END - 1);
    expect(bytesOfVpn(VPN_END - 1)).toBe(TOP - 4095n);
    expect(hexOfVpn(vpn(VPN_END - 1))).toBe('fffffffffffff000');
    expect(vpnAdd(vpn(VPN_END - 1), 1)).toBe(VPN_END);
    // What ends there has an end of 2^64, which is 0.
    expect(bytesOfVpn(VPN_END)).toBe(0);
  });

  it('a size is never negative', () => {
    expect(bytesOfPages(3)).toBe(12288);
    expect(() => bytesOfPages(-1)).toThrow('a range does not end before it starts');
  });
});

describe('digits', () => {
  it('are read back exactly', () => {
    fc.assert(
      fc.property(anyU64, ({ value, bytes }) => {
        expect(parseHex(value.toString(16))).toBe(bytes);
        expect(parseHex(value.toString(16).toUpperCase().padStart(16, '0'))).toBe(bytes);
        expect(parseDecimal(value.toString())).toBe(bytes);
      }),
    );
  });

  it.each(['', '0x1', 'g', '-1', ' 1', '10000000000000000', '1.5'])('%j is no 64-bit hex number', (text) => {
    expect(parseHex(text)).toBeUndefined();
  });

  it.each(['', '1e3', '-1', '1 ', '18446744073709551616', '100000000000000000000', '0x1'])(
    '%j is no 64-bit decimal number',
    (text) => {
      expect(parseDecimal(text)).toBeUndefined();
    },
  );

  it('the largest numbers', () => {
    expect(parseDecimal('18446744073709551615')).toBe(TOP);
    expect(parseDecimal('999999999999999')).toBe(999999999999999);
    expect(parseHex('fffffffffffff')).toBe(2 ** 52 - 1);
    expect(parseHex('1fffffffffffff')).toBe(Number.MAX_SAFE_INTEGER);
    expect(parseHex('20000000000000')).toBe(2n ** 53n);
  });
});
