import {
  BACKSLASH,
  BLANK,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  DOT,
  GREATER,
  LESS,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  ZERO,
  isDigit,
  skipBlanks,
  skipDigits,
} from './chars';

/** A line that names no task. */
export const NO_PID = -1;

/** PID_MAX_LIMIT has 7 digits; seconds since 1970 have 9 and more. */
const MAX_PID_DIGITS = 7;

/**
 * What stands before the call on a line, every part optional, always in this order:
 * `PID` or `PID<comm>` or `[pid PID<comm>]`, SELinux context in brackets, absolute time, relative time,
 * `[syscall number]`, `[instruction pointer]`. Used again for every line; results in its fields.
 */
export class LeadReader {
  pid = NO_PID;
  /** Absolute time as printed, else the relative one with `+` before it. */
  time: string | undefined;
  /** Where the call (or whatever else) begins. */
  body = 0;

  read(text: string, start: number, end: number): void {
    this.pid = NO_PID;
    this.time = undefined;
    let p = this.readPid(text, skipBlanks(text, start, end), end);
    for (;;) {
      p = skipBlanks(text, p, end);
      const after = this.readTimeOrBracket(text, p, end);
      if (after === p) break;
      p = after;
    }
    // Blanks alone are no lead: a line that begins with them is no call.
    this.body = p === skipBlanks(text, start, end) ? start : p;
  }

  /** Position after the pid, or `at` if there is none. */
  private readPid(text: string, at: number, end: number): number {
    const first = text.charCodeAt(at);
    if (first === OPEN_BRACKET) return this.readBracketedPid(text, at, end);
    if (!isDigit(first)) return at;
    let p = skipDigits(text, at, end);
    const digits = p - at;
    if (text.charCodeAt(p) === LESS) p = endOfComm(text, p, end);
    if (p < 0 || p >= end || text.charCodeAt(p) !== BLANK || digits > MAX_PID_DIGITS) return at;
    this.pid = number(text, at, at + digits);
    return p;
  }

  private readBracketedPid(text: string, at: number, end: number): number {
    if (!text.startsWith('[pid ', at)) return at;
    const start = skipBlanks(text, at + 5, end);
    let p = skipDigits(text, start, end);
    const digits = p - start;
    if (text.charCodeAt(p) === LESS) p = endOfComm(text, p, end);
    if (digits === 0 || digits > MAX_PID_DIGITS || p < 0 || text.charCodeAt(p) !== CLOSE_BRACKET) return at;
    this.pid = number(text, start, start + digits);
    return p + 1;
  }

  /** Position after one more part of the lead, or `at` if the body begins here. */
  private readTimeOrBracket(text: string, at: number, end: number): number {
    const first = text.charCodeAt(at);
    if (isDigit(first)) return this.readTime(text, at, end);
    if (first === OPEN_PAREN && text.charCodeAt(at + 1) === PLUS) {
      const close = endOfRun(text, at + 2, end, isRelative);
      if (text.charCodeAt(close) !== CLOSE_PAREN || close >= end) return at;
      this.time ??= `+${text.slice(skipBlanks(text, at + 2, close), close)}`;
      return close + 1;
    }
    if (first === OPEN_BRACKET && !text.startsWith('[ Process ', at)) {
      const close = endOfRun(text, at + 1, end, isBracketed);
      if (text.charCodeAt(close) === CLOSE_BRACKET && text.charCodeAt(close + 1) === BLANK) return close + 1;
    }
    return at;
  }

  private readTime(text: string, at: number, end: number): number {
    const p = endOfRun(text, at, end, isClock);
    if (p >= end || text.charCodeAt(p) !== BLANK) return at;
    const time = text.slice(at, p);
    const colon = time.indexOf(':') >= 0;
    const dot = time.indexOf('.');
    // Seconds since 1970, since boot or since the line before: only the last are a relative time.
    const absolute = colon || (dot < 0 ? time.length : dot) > MAX_PID_DIGITS || this.time !== undefined;
    if (!colon && dot < 0 && !absolute && this.pid === NO_PID) return at;
    this.time ??= absolute ? time : `+${time}`;
    return p;
  }
}

/** Position after the `<comm>` at `at`, -1 without an end. strace writes `<` and `>` in it as \74 and \76. */
function endOfComm(text: string, at: number, end: number): number {
  for (let p = at + 1; p < end; p++) {
    const code = text.charCodeAt(p);
    if (code === BACKSLASH) p++;
    else if (code === GREATER) return p + 1;
  }
  return -1;
}

function number(text: string, start: number, end: number): number {
  let value = 0;
  for (let p = start; p < end; p++) value = value * 10 + (text.charCodeAt(p) - ZERO);
  return value;
}

function endOfRun(text: string, at: number, end: number, accepts: (code: number) => boolean): number {
  let p = at;
  while (p < end && accepts(text.charCodeAt(p))) p++;
  return p;
}

function isClock(code: number): boolean {
  return isDigit(code) || code === DOT || code === COLON;
}

function isRelative(code: number): boolean {
  return isDigit(code) || code === DOT || code === BLANK;
}

/** A syscall number, an instruction pointer (`?` if unknown), a SELinux context. */
function isBracketed(code: number): boolean {
  return code !== CLOSE_BRACKET && code !== OPEN_PAREN && code !== LESS;
}
