import { assert } from '../base/assert';

/**
 * Addresses. In the model an address is a page number, exact as a plain number for every 64-bit address
 * (52 bits); byte values appear only at the edges, as {@link U64}.
 */

/** A virtual page number: address / 4096. Ranges of them are half-open, `[start, end)`. */
export type Vpn = number & { readonly __brand: 'Vpn' };

/**
 * An exact unsigned 64-bit quantity in bytes: a number up to `Number.MAX_SAFE_INTEGER`, a bigint above.
 * Always in that canonical form, so that `===` compares numbers and bigints right.
 */
export type U64 = number | bigint;

const PAGE_SIZE = 4096;

/** End of the user address space of x86-64 with 4-level paging, in pages (TASK_SIZE = 0x7ffffffff000). */
export const TASK_SIZE_PAGES = vpn(0x7ffffffff);

/** One past the last page number of a 64-bit address space. */
export const VPN_END = 2 ** 52;

const TWO_64 = 2n ** 64n;

export function vpn(page: number): Vpn {
  return page as Vpn;
}

/** `page` moved by `pages` (may be negative). */
export function vpnAdd(page: Vpn, pages: number): Vpn {
  return (page + pages) as Vpn;
}

/** Canonical {@link U64} of a bigint, taken modulo 2^64. */
export function u64(value: bigint): U64 {
  const wrapped = ((value % TWO_64) + TWO_64) % TWO_64;
  return wrapped <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(wrapped) : wrapped;
}

/** True for a byte value on a page boundary. */
export function pageAligned(bytes: U64): boolean {
  return typeof bytes === 'number' ? bytes % PAGE_SIZE === 0 : (bytes & 4095n) === 0n;
}

/** The page that holds a byte address (rounds down). */
export function vpnOf(bytes: U64): Vpn {
  return (typeof bytes === 'number' ? Math.floor(bytes / PAGE_SIZE) : Number(bytes >> 12n)) as Vpn;
}

/** Offset of a byte address inside its page, 0 to 4095. */
export function offsetInPage(bytes: U64): number {
  return typeof bytes === 'number' ? bytes % PAGE_SIZE : Number(bytes & 4095n);
}

/**
 * Length in bytes rounded up to whole pages, as the kernel's PAGE_ALIGN does in 64 bits: a length in the
 * last page below 2^64 wraps to 0.
 */
export function pageAlignUp(bytes: U64): number {
  if (typeof bytes === 'number') return Math.ceil(bytes / PAGE_SIZE);
  const pages = Number((bytes + 4095n) >> 12n);
  return pages >= VPN_END ? 0 : pages;
}

/** Byte address of the start of a page. */
export function bytesOfVpn(page: number): U64 {
  const bytes = page * PAGE_SIZE;
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : u64(BigInt(page) * 4096n);
}

/** Lower-case hex of a page's address without 0x or padding: `7f1000000000`, `0`. */
export function hexOfVpn(page: number): string {
  return page === 0 ? '0' : `${page.toString(16)}000`;
}

/** Lower-case hex of a byte value without 0x. */
export function hexOfU64(bytes: U64): string {
  return bytes.toString(16);
}

/** Parses hex digits (no 0x) of at most 64 bits; undefined if anything else is there. */
export function parseHex(digits: string): U64 | undefined {
  if (!/^[0-9a-fA-F]{1,16}$/.test(digits)) return undefined;
  return digits.length <= 13 ? parseInt(digits, 16) : u64(BigInt(`0x${digits}`));
}

/** Parses decimal digits of at most 64 bits; undefined if anything else is there or it is too large. */
export function parseDecimal(digits: string): U64 | undefined {
  if (!/^[0-9]{1,20}$/.test(digits)) return undefined;
  if (digits.length <= 15) return parseInt(digits, 10);
  const value = BigInt(digits);
  return value < TWO_64 ? u64(value) : undefined;
}

/** Size of a range in bytes: a number when exact, else a bigint. */
export function bytesOfPages(pages: number): U64 {
  assert(pages >= 0, 'a range does not end before it starts');
  return bytesOfVpn(pages);
}
