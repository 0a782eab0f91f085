import type { U64 } from '../mm/addr';

/**
 * The exact sum of two counts. A number while it fits one, else a bigint: unlike an address a sum does not
 * wrap at 2^64, because no kernel computed it.
 */
export function addExact(a: U64, b: U64): U64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return canonical(BigInt(a) + BigInt(b));
}

/** Exact product of a count and a small whole number, in the same form as {@link addExact}. */
export function timesExact(a: U64, factor: number): U64 {
  if (typeof a === 'number') {
    const product = a * factor;
    if (product <= Number.MAX_SAFE_INTEGER) return product;
  }
  return canonical(BigInt(a) * BigInt(factor));
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareExact(a: U64, b: U64): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function canonical(value: bigint): U64 {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
