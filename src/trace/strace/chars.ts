/** Character codes that the strace grammar turns on, and the small steps over them. All ranges are half-open. */
export const CR = 0x0d;
export const ESC = 0x1b;
export const BLANK = 0x20;
export const QUOTE = 0x22;
export const PERCENT = 0x25;
export const OPEN_PAREN = 0x28;
export const CLOSE_PAREN = 0x29;
export const STAR = 0x2a;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const SLASH = 0x2f;
export const ZERO = 0x30;
export const COLON = 0x3a;
export const LESS = 0x3c;
export const EQUALS = 0x3d;
export const GREATER = 0x3e;
export const QUESTION = 0x3f;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
const UNDERSCORE = 0x5f;
export const LOWER_X = 0x78;
export const OPEN_BRACE = 0x7b;
export const BAR = 0x7c;
export const CLOSE_BRACE = 0x7d;

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLower(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

/** A letter, a digit or `_`. */
export function isWord(code: number): boolean {
  return isLower(code) || (code >= 0x41 && code <= 0x5a) || isDigit(code) || code === UNDERSCORE;
}

/** First position from `at` that is not a blank. */
export function skipBlanks(text: string, at: number, end: number): number {
  let p = at;
  while (p < end && text.charCodeAt(p) === BLANK) p++;
  return p;
}

/** End of `[start, end)` without the blanks before it. */
export function trimEnd(text: string, start: number, end: number): number {
  let p = end;
  while (p > start && text.charCodeAt(p - 1) === BLANK) p--;
  return p;
}

/** First position from `at` that is not a decimal digit. */
export function skipDigits(text: string, at: number, end: number): number {
  let p = at;
  while (p < end && isDigit(text.charCodeAt(p))) p++;
  return p;
}

/** First position from `at` that is not a letter, digit or `_`. */
export function skipWord(text: string, at: number, end: number): number {
  let p = at;
  while (p < end && isWord(text.charCodeAt(p))) p++;
  return p;
}
