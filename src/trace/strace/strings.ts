import { textOfBytes } from '../../base/bytes';
import { BACKSLASH, QUOTE, isDigit, trimEnd } from './chars';

/** A string argument. `truncated`: strace printed `"…"...`, so `text` is a prefix (-s). */
export interface StringArg {
  readonly text: string;
  readonly truncated: boolean;
}

/** Position after the closing quote of the string whose opening quote is at `at`; -1 if it is open at `end`. */
export function endOfString(text: string, at: number, end: number): number {
  let p = at + 1;
  while (p < end) {
    const code = text.charCodeAt(p);
    if (code === QUOTE) return p + 1;
    p += code === BACKSLASH ? 2 : 1;
  }
  return -1;
}

/** Decodes the whole of `[start, end)` as a string argument; undefined for anything else (a pointer, NULL). */
export function readString(text: string, start: number, end: number): StringArg | undefined {
  if (text.charCodeAt(start) !== QUOTE) return undefined;
  const close = endOfString(text, start, end);
  if (close < 0) return undefined;
  const rest = trimEnd(text, close, end) - close;
  const truncated = rest === 3 && text.startsWith('...', close);
  if (rest !== 0 && !truncated) return undefined;
  return { text: textOfBytes(unescape(text.slice(start + 1, close - 1))), truncated };
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['e', '\x1b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/**
 * Undoes strace's quoting: the C escapes, octal of one to three digits, `\xNN`. An escape that is none of
 * these stands for its character (`\"`, `\\`). Gives a byte string.
 */
export function unescape(quoted: string): string {
  let at = quoted.indexOf('\\');
  if (at < 0) return quoted;
  const parts: string[] = [];
  let from = 0;
  while (at >= 0) {
    parts.push(quoted.slice(from, at));
    const next = quoted[at + 1];
    if (next === undefined) {
      parts.push('\\');
      from = at + 1;
    } else if (isOctal(quoted.charCodeAt(at + 1))) {
      from = at + 2;
      while (from < at + 4 && isOctal(quoted.charCodeAt(from))) from++;
      parts.push(String.fromCharCode(parseInt(quoted.slice(at + 1, from), 8) & 0xff));
    } else if (next === 'x' && isHex(quoted.charCodeAt(at + 2))) {
      from = isHex(quoted.charCodeAt(at + 3)) ? at + 4 : at + 3;
      parts.push(String.fromCharCode(parseInt(quoted.slice(at + 2, from), 16)));
    } else {
      parts.push(SIMPLE.get(next) ?? next);
      from = at + 2;
    }
    at = quoted.indexOf('\\', from);
  }
  parts.push(quoted.slice(from));
  return parts.join('');
}

function isOctal(code: number): boolean {
  return code >= 0x30 && code <= 0x37;
}

function isHex(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66);
}
