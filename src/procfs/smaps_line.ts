import { textOfBytes } from '../base/bytes';
import { parseDecimal, type U64 } from '../mm/addr';
import { COLON, CR, isBlank, isDigit, skipBlanks, skipDigits, skipToken, ZERO } from './chars';
import type { SmapsValue } from './maps_entry';

/**
 * One field line of smaps or smaps_rollup (show_smap, __show_smap and show_smap_vma_flags in
 * fs/proc/task_mmu.c): `NAME:` and after blanks a number with or without a unit, flags, or anything else.
 */
export type FieldLine =
  | { readonly kind: 'value'; readonly name: string; readonly value: SmapsValue }
  | { readonly kind: 'flags'; readonly flags: readonly string[] };

export const VM_FLAGS = 'VmFlags';

export function nameOfField(field: FieldLine): string {
  return field.kind === 'flags' ? VM_FLAGS : field.name;
}

/**
 * Keeps one string a field name and one list a set of flags: a large smaps holds the same few dozen names
 * and flag lines a hundred thousand times. One lives as long as the parse of one document.
 */
export class FieldScanner {
  /** Names in the order of the previous record: the next record nearly always has the same. */
  private order: string[] = [];
  private readonly names = new Map<string, string>();
  private readonly flagLines = new Map<string, readonly string[]>();

  /**
   * Scans a field line in `text[from, to)`; `nth` is how many field lines its record already has.
   * Null when the line is not one: no name of letters, digits and underscores with a colon at its start.
   */
  scan(text: string, from: number, to: number, nth: number): FieldLine | null {
    const name = this.nameAt(text, from, to, nth);
    if (name === null) return null;
    const valueFrom = skipBlanks(text, from + name.length + 1, to);
    const valueTo = trimEnd(text, valueFrom, to);
    if (name === VM_FLAGS) return { kind: 'flags', flags: this.flagsIn(text, valueFrom, valueTo) };
    return { kind: 'value', name, value: readValue(text, valueFrom, valueTo) };
  }

  private nameAt(text: string, from: number, to: number, nth: number): string | null {
    const expected = this.order[nth];
    if (expected !== undefined && from + expected.length < to) {
      if (text.startsWith(expected, from) && text.charCodeAt(from + expected.length) === COLON)
        return expected;
    }
    const nameTo = skipName(text, from, to);
    if (nameTo === from || text.charCodeAt(nameTo) !== COLON) return null;
    const found = text.slice(from, nameTo);
    let name = this.names.get(found);
    if (name === undefined) {
      name = found;
      this.names.set(found, found);
    }
    this.order[nth] = name;
    return name;
  }

  private flagsIn(text: string, from: number, to: number): readonly string[] {
    const line = text.slice(from, to);
    let flags = this.flagLines.get(line);
    if (flags === undefined) {
      flags = splitFlags(line);
      this.flagLines.set(line, flags);
    }
    return flags;
  }
}

/** Mnemonics between blanks, in printed order. */
function splitFlags(line: string): readonly string[] {
  const flags: string[] = [];
  let from = skipBlanks(line, 0, line.length);
  while (from < line.length) {
    const to = skipToken(line, from, line.length);
    flags.push(textOfBytes(line.slice(from, to)));
    from = skipBlanks(line, to, line.length);
  }
  return flags;
}

/**
 * The value in `text[from, to)`: digits alone, digits and one word as unit, else text. A number of more than
 * 64 bits stays text.
 */
function readValue(text: string, from: number, to: number): SmapsValue {
  const digitsTo = skipDigits(text, from, to);
  if (digitsTo > from && (digitsTo === to || isBlank(text.charCodeAt(digitsTo)))) {
    const unitFrom = skipBlanks(text, digitsTo, to);
    if (skipToken(text, unitFrom, to) === to) {
      const value = decimal(text, from, digitsTo);
      if (value !== undefined) return numberOf(value, text, unitFrom, to);
    }
  }
  return { kind: 'text', text: textOfBytes(text.slice(from, to)) };
}

function numberOf(value: U64, text: string, unitFrom: number, unitTo: number): SmapsValue {
  if (unitTo - unitFrom === 2 && text.startsWith('kB', unitFrom)) return kilobytes(value);
  return { kind: 'number', value, unit: textOfBytes(text.slice(unitFrom, unitTo)) };
}

function decimal(text: string, from: number, to: number): U64 | undefined {
  if (to - from > 15) return parseDecimal(text.slice(from, to));
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + (text.charCodeAt(i) - ZERO);
  return value;
}

/** Most values of an smaps are small (most are 0 kB): they share one object each. */
const SMALL_KILOBYTES: readonly SmapsValue[] = Array.from({ length: 256 }, (_, value) => kB(value));

function kilobytes(value: U64): SmapsValue {
  return (typeof value === 'number' ? SMALL_KILOBYTES[value] : undefined) ?? kB(value);
}

function kB(value: U64): SmapsValue {
  return { kind: 'number', value, unit: 'kB' };
}

/** End of a field name: a letter, then letters, digits and underscores. */
function skipName(text: string, from: number, to: number): number {
  return from < to && isLetter(text.charCodeAt(from)) ? skipWord(text, from, to) : from;
}

/** End of a run of letters, digits and underscores: what is left of a field's name when its line is cut. */
export function skipWord(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isNameCharacter(text.charCodeAt(i))) i++;
  return i;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isNameCharacter(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === 0x5f;
}

/** Blanks and carriage returns at the end of a field are never part of its value. */
function trimEnd(text: string, from: number, to: number): number {
  let i = to;
  while (i > from && (isBlank(text.charCodeAt(i - 1)) || text.charCodeAt(i - 1) === CR)) i--;
  return i;
}
