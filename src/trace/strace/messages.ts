import { BLANK, COLON } from './chars';

/** What strace itself says about attaching and detaching, at the end of a line. */
export interface Message {
  /** Where the message begins, with the program name before it. */
  readonly start: number;
  /** Task that was attached; undefined for any other message. */
  readonly attached: number | undefined;
}

const MESSAGE =
  /Process (\d{1,10}) (?:(attached)(?: with \d{1,10} threads| \(waiting for parent\))?|detached|suspended|resumed(?: \(parent \d{1,10} ready\))?)$/;

/** Longer than any of the messages. */
const TAIL = 80;
/** Longest program name (argv[0] with its path) that is looked for. */
const MAX_PROGRAM = 4096;

/**
 * Finds such messages at the end of a line. On a terminal (without -o) they are written in the middle of a
 * half-printed call: `clone(…|SIGCHLDstrace: Process 1849 attached`. The word before the colon is strace's
 * argv[0] and may be a whole path; without it in old versions.
 */
export class MessageFinder {
  /** Program names seen alone on a line, so that where they begin is certain. */
  private readonly programs = new Set<string>();

  find(text: string, start: number, end: number): Message | undefined {
    if (!mayEndMessage(text, start, end)) return undefined;
    const tailStart = Math.max(start, end - TAIL);
    const match = MESSAGE.exec(text.slice(tailStart, end));
    if (match === null) return undefined;
    const at = tailStart + match.index;
    return {
      start: this.startOfProgram(text, start, at),
      attached: match[2] === undefined ? undefined : Number(match[1]),
    };
  }

  /** True for any line that begins with strace's own name: `strace: Can't stat 'x': No such file or directory`. */
  isOwn(text: string, start: number, end: number): boolean {
    if (text.startsWith('strace: ', start)) return end - start >= 8;
    for (const program of this.programs) {
      if (text.startsWith(program, start) && text.startsWith(': ', start + program.length)) return true;
    }
    return false;
  }

  /** `at` is where `Process` begins; goes back over `argv[0]: ` if that is there. */
  private startOfProgram(text: string, start: number, at: number): number {
    if (at - start < 3 || text.charCodeAt(at - 1) !== BLANK || text.charCodeAt(at - 2) !== COLON) return at;
    const end = at - 2;
    for (const program of this.programs) {
      if (end - program.length >= start && text.startsWith(program, end - program.length))
        return end - program.length;
    }
    const run = text.slice(startOfRun(text, Math.max(start, end - MAX_PROGRAM), end), end);
    const begin = end - run.length + programIn(run);
    if (begin === start && this.programs.size < 16) this.programs.add(text.slice(start, end));
    return begin;
  }
}

/** Cheap test of the last character: most lines end in a digit, `>` or `?`. */
function mayEndMessage(text: string, start: number, end: number): boolean {
  if (end - start < 16) return false;
  switch (text.charAt(end - 1)) {
    case 'd':
      return text.endsWith('ed', end);
    case 's':
      return text.endsWith('threads', end);
    case ')':
      return text.endsWith('parent)', end) || text.endsWith('ready)', end);
    default:
      return false;
  }
}

/** Start of the characters before `end` that a path or name consists of. */
function startOfRun(text: string, start: number, end: number): number {
  let p = end;
  while (p > start && /[\w./+@~-]/.test(text.charAt(p - 1))) p--;
  return p;
}

/**
 * Where the program's name begins in a run of name characters that may have the end of an argument glued
 * before it: at the first path separator (with the dots of `./` and `../`), else at the last `strace`.
 */
function programIn(run: string): number {
  let p = run.indexOf('/');
  if (p >= 0) {
    while (p > 0 && run[p - 1] === '.') p--;
    return p;
  }
  p = run.lastIndexOf('strace');
  return Math.max(p, 0);
}

/** `… [wait(0x057f) = 23] WIFSTOPPED,sig=SIGTRAP` of -d, written in the middle of calls; -1 if there is none. */
export function debugMessageStart(text: string, start: number, end: number): number {
  // Only lines that end in a signal or event name; a result never does.
  const last = text.charCodeAt(end - 1);
  if (last < 0x41 || last > 0x5a || end - start > MAX_PROGRAM) return -1;
  const at = text.slice(start, end).indexOf(' [wait(0x');
  return at < 0 ? -1 : start + at;
}

/** True if `[start, end)` is blanks only. */
export function isBlank(text: string, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (text.charCodeAt(p) !== BLANK) return false;
  return true;
}
