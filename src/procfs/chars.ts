/** Character codes that the scanners of this folder compare with. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const ZERO = 0x30;
const NINE = 0x39;

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Value of a hex digit (either case), -1 for any other character and for NaN past the end. */
export function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** First index at or after `from` that is not a space or tab, at most `to`. */
export function skipBlanks(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isBlank(text.charCodeAt(i))) i++;
  return i;
}

/** First index at or after `from` that is a space or tab, at most `to`. */
export function skipToken(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && !isBlank(text.charCodeAt(i))) i++;
  return i;
}

/** End of the run of hex digits at `from`, at most `to`. */
export function skipHex(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && hexDigit(text.charCodeAt(i)) >= 0) i++;
  return i;
}

/** End of the run of decimal digits at `from`, at most `to`. */
export function skipDigits(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isDigit(text.charCodeAt(i))) i++;
  return i;
}
