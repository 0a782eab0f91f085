import type { SignalEvent, SyscallEvent } from '../event';
import { readNumber } from './numbers';
import type { CallDecoder } from './decoder';
import type { Item } from './items';
import type { LeadReader } from './lead';
import {
  BLANK,
  DOT,
  GREATER,
  LESS,
  MINUS,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  QUESTION,
  isDigit,
  skipWord,
} from './chars';

/** Longest `<… ...>` mark at the end of a line. */
const MAX_MARK = 48;

/** A line that gave no item: see `Outcome`. */
type Without = 'quiet' | 'open' | 'foreign';

/** Reads what follows the lead of a line: a call, half a call, a signal, an end. */
export class BodyReader {
  constructor(
    private readonly lead: LeadReader,
    private readonly decoder: CallDecoder,
  ) {}

  /** `first` and `last` are the lines on which it stood. */
  read(text: string, end: number, first: number, last: number): Item | Without {
    const start = this.lead.body;
    const code = text.charCodeAt(start);
    if (start >= end) return 'foreign';
    switch (code) {
      case LESS:
        return this.readResume(text, start, end, last);
      case PLUS:
        return this.readEnd(text, start, end, last);
      case MINUS:
        return this.readSignal(text, start, end, last);
      case OPEN_BRACKET:
        return text.startsWith('[ Process PID=', start) ? 'quiet' : 'foreign';
      default:
        return this.readCall(text, start, end, first, last);
    }
  }

  private readCall(text: string, start: number, end: number, first: number, last: number): Item | Without {
    const open = endOfName(text, start, end);
    if (open < 0) return 'foreign';
    const name = text.slice(start, open);
    const args = open + 1;
    const mark = startOfMark(text, args, end);
    if (mark >= 0) {
      return {
        kind: 'entry',
        line: first,
        pid: this.lead.pid,
        ...this.time(),
        name,
        args: text.slice(args, mark),
        mark: text.slice(mark + 2, end - 5),
      };
    }
    const decoded = this.decoder.decode(name, text, args, end, first);
    if (decoded === 'not-a-call') return 'foreign';
    return decoded === 'open' ? 'open' : this.call(first, last);
  }

  /** The event of the call that the decoder has just read. */
  private call(entryLine: number, line: number): { -readonly [K in keyof SyscallEvent]: SyscallEvent[K] } {
    const { call, result, duration } = this.decoder;
    const { pid, time } = this.lead;
    if (time === undefined) {
      return duration === undefined
        ? { kind: 'syscall', line, pid, entryLine, call, result }
        : { kind: 'syscall', line, pid, entryLine, call, result, duration };
    }
    return duration === undefined
      ? { kind: 'syscall', line, pid, time, entryLine, call, result }
      : { kind: 'syscall', line, pid, time, entryLine, call, result, duration };
  }

  /** `<... munmap resumed>…`; strace before 5 or so put a blank after the `>`, which is part of the rest. */
  private readResume(text: string, start: number, end: number, line: number): Item | Without {
    if (!text.startsWith('<... ', start)) return 'foreign';
    let p = start + 5;
    while (p < end && text.charCodeAt(p) !== BLANK) p++;
    if (!text.startsWith(' resumed>', p) || p + 9 > end) return 'foreign';
    return {
      kind: 'resume',
      line,
      pid: this.lead.pid,
      ...this.time(),
      name: text.slice(start + 5, p),
      rest: text.slice(p + 9, end),
    };
  }

  /** `+++ exited with N +++`, `+++ killed by SIGX +++`, `+++ superseded by execve in pid N +++` */
  private readEnd(text: string, start: number, end: number, line: number): Item | Without {
    if (!text.startsWith('+++ ', start) || !text.endsWith(' +++', end) || end - start < 9) return 'foreign';
    const how = text.slice(start + 4, end - 4);
    const { pid } = this.lead;
    const by = /^superseded by execve in pid (\d{1,10})/.exec(how)?.[1];
    if (by !== undefined) return { kind: 'superseded', line, pid, ...this.time(), by: Number(by) };
    if (!how.startsWith('exited ') && !how.startsWith('killed ')) return 'foreign';
    return { kind: 'exit', line, pid, ...this.time(), how };
  }

  /** `--- SIGSEGV {si_signo=…, si_code=…, si_addr=…} ---`, `--- stopped by SIGSTOP ---` */
  private readSignal(text: string, start: number, end: number, line: number): Item | Without {
    if (!text.startsWith('--- ', start) || !text.endsWith(' ---', end) || end - start < 9) return 'foreign';
    const what = text.slice(start + 4, end - 4);
    const signal = /^(?:stopped by )?(SIG[A-Z0-9_+]+)/.exec(what)?.[1];
    if (signal === undefined) return 'foreign';
    const event: { -readonly [K in keyof SignalEvent]: SignalEvent[K] } = {
      kind: 'signal',
      line,
      pid: this.lead.pid,
      ...this.time(),
      signal,
    };
    const address = /si_addr=(\w+)/.exec(what)?.[1];
    const faultAddr = address === undefined ? undefined : readNumber(address, 0, address.length);
    if (faultAddr !== undefined) event.faultAddr = faultAddr;
    const code = /si_code=(\w+)/.exec(what)?.[1];
    if (code !== undefined) event.code = code;
    return event;
  }

  private time(): { time?: string } {
    const { time } = this.lead;
    return time === undefined ? {} : { time };
  }
}

/** Position of the parenthesis after a name at `start` (`mmap(`, `???(`), -1 if there is none. */
function endOfName(text: string, start: number, end: number): number {
  let p = start;
  while (p < end && text.charCodeAt(p) === QUESTION) p++;
  if (p === start) {
    if (isDigit(text.charCodeAt(p))) return -1;
    p = skipWord(text, p, end);
  }
  return p > start && p < end && text.charCodeAt(p) === OPEN_PAREN ? p : -1;
}

/** Position of ` <unfinished ...>`, ` <detached ...>` or ` <pid changed to N ...>` at the end of a line, -1 without. */
export function startOfMark(text: string, start: number, end: number): number {
  if (
    text.charCodeAt(end - 1) !== GREATER ||
    text.charCodeAt(end - 2) !== DOT ||
    !text.endsWith(' ...>', end)
  )
    return -1;
  for (let p = end - 6; p >= start && p > end - MAX_MARK; p--) {
    if (text.charCodeAt(p) !== LESS) continue;
    return p > start && text.charCodeAt(p - 1) === BLANK ? p - 1 : -1;
  }
  return -1;
}
