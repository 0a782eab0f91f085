import { errnoName } from '../../mm/errno';
import type { U64 } from '../../mm/addr';
import type { SyscallResult } from '../event';
import { endOfNote } from './arguments';
import {
  BLANK,
  CLOSE_PAREN,
  DOT,
  EQUALS,
  GREATER,
  LESS,
  MINUS,
  QUESTION,
  isDigit,
  isWord,
  skipBlanks,
  skipWord,
  trimEnd,
} from './chars';
import { readNote } from './fd';
import { readNumber } from './numbers';

/** Values from -4095 to -1 are errors in the kernel's calling convention. */
const MAX_ERRNO = 4095;

/** Reads what stands after the closing parenthesis of a call. Used again for every line; results in its fields. */
export class ResultReader {
  result: SyscallResult = { kind: 'unknown', text: '' };
  /** Seconds, as -T prints them. */
  duration: string | undefined;
  /** Path of the descriptor returned (-y). */
  path: string | undefined;
  /** N of `2 /* N in strace's PID NS *\/` (--decode-pids=pidns). */
  tracerPid: number | undefined;

  /** `at` is the position after the parenthesis. False if no `= result` stands there. */
  read(text: string, at: number, lineEnd: number): boolean {
    this.clear();
    let p = skipBlanks(text, at, lineEnd);
    if (text.charCodeAt(p) !== EQUALS || p >= lineEnd) return false;
    p = skipBlanks(text, p + 1, lineEnd);
    const end = this.readDuration(text, p, trimEnd(text, p, lineEnd));
    if (p === end) return false;
    const first = text.charCodeAt(p);
    if (first === QUESTION) {
      this.result = { kind: 'unknown', text: text.slice(p, end) };
      return true;
    }
    const stop = skipWord(text, first === MINUS ? p + 1 : p, end);
    const value = readNumber(text, p, stop);
    if (value === undefined) return false;
    if (first === MINUS) return this.readError(text, p, stop, end);
    return this.readValue(value, text, stop, end);
  }

  /** Forgets the last result. */
  clear(): void {
    this.duration = undefined;
    this.path = undefined;
    this.tracerPid = undefined;
  }

  private readValue(value: U64, text: string, at: number, end: number): boolean {
    if (at === end) {
      this.result = { kind: 'value', value, injected: false };
      return true;
    }
    let p = at;
    if (text.charCodeAt(p) === LESS) {
      const after = endOfNote(text, p, end);
      if (after < 0) return false;
      this.path = readNote(text, p + 1, after - 1).path;
      p = after;
    } else if (text.charCodeAt(p) !== BLANK) {
      return false;
    }
    const rest = text.slice(p, end);
    const pid = /\/\* (\d{1,10}) in strace's PID NS \*\//.exec(rest)?.[1];
    if (pid !== undefined) this.tracerPid = Number(pid);
    this.result = { kind: 'value', value, injected: isInjected(rest) };
    return true;
  }

  /** `-1 ENAME (text)`, `-1 (errno N)`, or the bare negative number of other tracers. */
  private readError(text: string, start: number, stop: number, end: number): boolean {
    const rest = text.slice(stop, end);
    const injected = isInjected(rest);
    const p = skipBlanks(text, stop, end);
    if (p < end && isWord(text.charCodeAt(p))) {
      this.result = { kind: 'errno', errno: text.slice(p, skipWord(text, p, end)), injected };
      return true;
    }
    const printed = /^ \(errno (\d{1,10})\)/.exec(rest)?.[1];
    const number = Number(printed ?? text.slice(start + 1, stop));
    if (printed === undefined && number > MAX_ERRNO) {
      const value = readNumber(text, start, stop);
      if (value === undefined) return false;
      this.result = { kind: 'value', value, injected };
      return true;
    }
    this.result = { kind: 'errno', errno: errnoName(number) ?? String(number), injected };
    return true;
  }

  /** Takes ` <0.000009>` off the end; returns the new end. */
  private readDuration(text: string, start: number, end: number): number {
    if (text.charCodeAt(end - 1) !== GREATER) return end;
    let p = end - 2;
    while (p > start && text.charCodeAt(p) !== LESS) p--;
    if (p <= start || text.charCodeAt(p - 1) !== BLANK) return end;
    const first = text.charCodeAt(p + 1);
    if (isDigit(first) || first === DOT) this.duration = text.slice(p + 1, end - 1);
    else if (!text.startsWith('unavailable>', p + 1)) return end;
    return trimEnd(text, start, p - 1);
  }
}

/** `(INJECTED)`: strace gave this result in the kernel's place. `(INJECTED: args)` only changed what was passed in. */
function isInjected(rest: string): boolean {
  if (rest.charCodeAt(rest.length - 1) !== CLOSE_PAREN) return false;
  const at = rest.lastIndexOf('(INJECTED');
  return at >= 0 && (rest.startsWith('(INJECTED)', at) || rest.includes('retval', at));
}
