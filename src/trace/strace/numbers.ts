import { parseDecimal, parseHex, u64, type U64 } from '../../mm/addr';
import { endOfComment, endOfNote } from './arguments';
import {
  BACKSLASH,
  LESS,
  LOWER_X,
  MINUS,
  SLASH,
  STAR,
  ZERO,
  isDigit,
  isWord,
  skipBlanks,
  skipWord,
} from './chars';

/** Digits that a plain number holds exactly whatever they are. */
const SAFE_DECIMAL_DIGITS = 15;
const SAFE_HEX_DIGITS = 13;

/**
 * The number that is the whole of `[start, end)`: decimal, `0x…`, `NULL`, a negative one taken modulo 2^64.
 * Undefined for anything else and above 64 bits. Exact.
 */
export function readNumber(text: string, start: number, end: number): U64 | undefined {
  const length = end - start;
  if (length <= 0) return undefined;
  const first = text.charCodeAt(start);
  if (first === ZERO && length > 2 && (text.charCodeAt(start + 1) | 0x20) === LOWER_X) {
    return readHex(text, start + 2, end);
  }
  if (isDigit(first)) return readDecimal(text, start, end);
  if (first === MINUS) {
    const magnitude = readDecimal(text, start + 1, end);
    return magnitude === undefined ? undefined : u64(-BigInt(magnitude));
  }
  return length === 4 && text.startsWith('NULL', start) ? 0 : undefined;
}

function readHex(text: string, start: number, end: number): U64 | undefined {
  if (end - start > SAFE_HEX_DIGITS) return parseHex(text.slice(start, end));
  let value = 0;
  for (let p = start; p < end; p++) {
    const code = text.charCodeAt(p);
    if (isDigit(code)) {
      value = value * 16 + (code - ZERO);
      continue;
    }
    const lower = code | 0x20;
    if (lower < 0x61 || lower > 0x66) return undefined;
    value = value * 16 + (lower - 0x57);
  }
  return value;
}

function readDecimal(text: string, start: number, end: number): U64 | undefined {
  if (start >= end) return undefined;
  if (end - start > SAFE_DECIMAL_DIGITS) return parseDecimal(text.slice(start, end));
  let value = 0;
  for (let p = start; p < end; p++) {
    const code = text.charCodeAt(p);
    if (!isDigit(code)) return undefined;
    value = value * 10 + (code - ZERO);
  }
  return value;
}

/**
 * End of the number or word at `start`, if nothing but a comment (`0x3 /* PROT_READ *\/`) or a note
 * (`2<name>`) follows it up to `end`; -1 otherwise.
 */
export function endOfPlain(text: string, start: number, end: number): number {
  let p = start;
  if (text.charCodeAt(p) === MINUS) p++;
  p = skipWord(text, p, end);
  if (p === start || p === end) return p === end ? p : -1;
  const rest = skipAsides(text, p, end);
  return rest === end ? p : -1;
}

/** Steps over blanks, comments and notes from `at`. */
export function skipAsides(text: string, at: number, end: number): number {
  let p = skipBlanks(text, at, end);
  while (p < end) {
    const code = text.charCodeAt(p);
    let after = -1;
    if (code === SLASH && text.charCodeAt(p + 1) === STAR) after = endOfComment(text, p, end);
    else if (code === LESS) after = endOfNote(text, p, end);
    if (after < 0) return p;
    p = skipBlanks(text, after, end);
  }
  return p;
}

/** Position of the last `<` in `[start, end)` that is not escaped, -1 if there is none. */
export function lastOpening(text: string, start: number, end: number): number {
  let found = -1;
  for (let p = start; p < end; p++) {
    const code = text.charCodeAt(p);
    if (code === BACKSLASH) p++;
    else if (code === LESS) found = p;
  }
  return found;
}

/** Bitwise or of two non-negative numbers below 2^53. */
export function orNumbers(a: number, b: number): number {
  const high = Math.floor(a / 0x1_0000_0000) | Math.floor(b / 0x1_0000_0000);
  return high * 0x1_0000_0000 + ((a | b) >>> 0);
}

/** Start of the value of an argument that -N may have named: `addr=0x…`, `addr: 0x…` give the place of `0x…`. */
export function startOfValue(text: string, start: number, end: number): number {
  const first = text.charCodeAt(start);
  if (first < 0x61 || first > 0x7a) return start;
  let p = start + 1;
  while (p < end && isWord(text.charCodeAt(p))) p++;
  if (p >= end) return start;
  if (text[p] === '=') return p + 1;
  return text[p] === ':' && text[p + 1] === ' ' ? p + 2 : start;
}
