import { SHIFTS, type FlagTable } from './flag_tables';
import { orNumbers, readNumber, skipAsides } from './numbers';
import { BAR, isWord, skipBlanks, skipWord, trimEnd } from './chars';

/** `unknown` is the first name that the table does not have; its bits are missing in `value`. */
export interface FlagsValue {
  readonly value: number;
  readonly unknown?: string;
}

/** More distinct flag texts than any program prints; a bound for input made to fill the memory. */
const MEMO_LIMIT = 4096;

/** Reads flag arguments. The same few texts come again and again, so each is worked out once. */
export class FlagReader {
  private readonly memo = new Map<FlagTable, Map<string, FlagsValue | null>>();

  /** Undefined if the text is no flags: a pointer expression, a string, a number above 2^53. */
  read(text: string, start: number, end: number, table: FlagTable): FlagsValue | undefined {
    const flags = text.slice(start, end);
    let known = this.memo.get(table);
    if (known === undefined) {
      known = new Map();
      this.memo.set(table, known);
    }
    const found = known.get(flags);
    if (found !== undefined) return found ?? undefined;
    const value = parseFlags(flags, table);
    if (known.size < MEMO_LIMIT) known.set(flags, value ?? null);
    return value;
  }
}

/**
 * The forms strace prints: `NAME|NAME`, `NAME|0x40`, `0x4 /* MAP_??? *\/`, `0x3 /* PROT_READ|PROT_WRITE *\/`,
 * a bare number, `21<<MAP_HUGE_SHIFT`. Signal names (the low byte of clone's flags) count as 0.
 */
export function parseFlags(text: string, table: FlagTable): FlagsValue | undefined {
  let value = 0;
  let unknown: string | undefined;
  let p = skipAsides(text, 0, text.length);
  while (p < text.length) {
    const stop = endOfTerm(text, p);
    const term = readTerm(text, p, trimEnd(text, p, stop), table);
    if (typeof term === 'number') value = orNumbers(value, term);
    else if (term === undefined) return undefined;
    else unknown ??= term;
    p = skipAsides(text, stop, text.length);
    if (p === text.length) return unknown === undefined ? { value } : { value, unknown };
    if (text.charCodeAt(p) !== BAR) return undefined;
    p = skipBlanks(text, p + 1, text.length);
  }
  return undefined;
}

/** A term is a word, or a word `<<` a word. */
function endOfTerm(text: string, start: number): number {
  const p = skipWord(text, start, text.length);
  return text.startsWith('<<', p) ? skipWord(text, p + 2, text.length) : p;
}

/** The number of a term, the name itself if nobody knows it, undefined if it is no term. */
function readTerm(text: string, start: number, end: number, table: FlagTable): number | string | undefined {
  if (start === end || !isWord(text.charCodeAt(start))) return undefined;
  const name = text.slice(start, end);
  const bits = table.get(name);
  if (bits !== undefined) return bits;
  const shift = name.indexOf('<<');
  if (shift >= 0) return readShift(name, shift);
  const number = readNumber(name, 0, name.length);
  if (number !== undefined) return typeof number === 'number' ? number : undefined;
  if (name.startsWith('SIG')) return 0;
  return /^[A-Z][A-Z0-9_]*$/.test(name) ? name : undefined;
}

function readShift(term: string, at: number): number | undefined {
  const count = readNumber(term, 0, at);
  const by = SHIFTS.get(term.slice(at + 2)) ?? readNumber(term, at + 2, term.length);
  if (typeof count !== 'number' || typeof by !== 'number' || by > 32 || count > 0xffff) return undefined;
  return count * 2 ** by;
}
