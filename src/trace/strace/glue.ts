import type { ProblemLog } from '../problem_log';
import { BLANK, CLOSE_PAREN, COMMA, QUOTE } from './chars';
import { MessageFinder, debugMessageStart, isBlank } from './messages';

/**
 * What became of a line. `taken`: it gave something. `quiet`: it is strace's but tells nothing. `open`: a
 * call without an end. `foreign`: not strace's.
 */
export type Outcome = 'taken' | 'quiet' | 'open' | 'foreign';

/** Reads a whole line, `[start, end)` of `text`, that stood on the lines `first` to `last`. */
export type LineReader = (text: string, start: number, end: number, first: number, last: number) => Outcome;

/** The beginning of a line whose rest comes later. */
interface Head {
  readonly text: string;
  readonly line: number;
  /** Cut by a message of strace, so that the next line goes on with it; else cut by output of the program. */
  readonly byMessage: boolean;
  readonly joins: number;
}

/** A head that still has no end after so many parts is given up; this also keeps the work linear. */
const MAX_JOINS = 4;

/**
 * Puts lines together again that strace's messages (`strace: Process N attached`, -d) or the output of the
 * traced program have cut in two, as happens where both go to the terminal.
 */
export class LineGluer {
  /** Tasks that strace said it attached. */
  readonly attached = new Set<number>();
  private readonly messages = new MessageFinder();
  private head: Head | undefined;

  constructor(
    private readonly read: LineReader,
    private readonly problems: ProblemLog,
  ) {}

  push(text: string, start: number, end: number, line: number): void {
    const cut = this.messageStart(text, start, end, line);
    if (cut >= 0) {
      if (!isBlank(text, start, cut)) this.keepHead(text.slice(start, cut), line);
      return;
    }
    const { head } = this;
    if (head !== undefined && goesOn(head, text, start, end)) {
      const joined = head.text + text.slice(start, end);
      this.head = undefined;
      this.readLine(joined, 0, joined.length, head.line, line, head.joins + 1);
      return;
    }
    if (this.messages.isOwn(text, start, end)) return;
    this.readLine(text, start, end, line, line, 0);
  }

  end(): void {
    this.giveUp();
  }

  private readLine(
    text: string,
    start: number,
    end: number,
    first: number,
    last: number,
    joins: number,
  ): void {
    const outcome = this.read(text, start, end, first, last);
    // The program's output stands between the two parts of the line that it cut.
    if (outcome === 'foreign' && joins === 0 && this.head?.byMessage !== true) return;
    this.giveUp();
    if (outcome !== 'open') return;
    if (joins < MAX_JOINS) this.head = { text: text.slice(start, end), line: first, byMessage: false, joins };
    else this.reportCut(first);
  }

  /** A piece of a line before a message. */
  private keepHead(text: string, line: number): void {
    const { head } = this;
    if (head !== undefined && goesOn(head, text, 0, text.length)) {
      this.head = { ...head, text: head.text + text, byMessage: true };
      return;
    }
    this.giveUp();
    if (mayBeHead(text)) this.head = { text, line, byMessage: true, joins: 0 };
    else this.read(text, 0, text.length, line, line);
  }

  private giveUp(): void {
    if (this.head !== undefined) this.reportCut(this.head.line);
    this.head = undefined;
  }

  private reportCut(line: number): void {
    this.problems.add('cut-line', line, 'a line that breaks off inside a call; the call is left out');
  }

  private messageStart(text: string, start: number, end: number, line: number): number {
    const message = this.messages.find(text, start, end);
    if (message !== undefined) {
      if (message.attached !== undefined) this.attached.add(message.attached);
      return message.start;
    }
    const debug = debugMessageStart(text, start, end);
    if (debug >= 0)
      this.problems.add(
        'debug-output',
        line,
        'debug messages of strace -d between the calls; they are left out',
      );
    return debug;
  }
}

/** True if the line can be the rest of `head`, and is no line of its own. */
function goesOn(head: Head, text: string, start: number, end: number): boolean {
  if (start === end) return false;
  if (head.byMessage) return !text.startsWith('[pid ', start) && !text.startsWith(' > ', start);
  switch (text.charCodeAt(start)) {
    case CLOSE_PAREN:
    case QUOTE:
    case COMMA:
      return true;
    case BLANK:
      return text.startsWith(' <unfinished ...>', start) || text.startsWith(' <detached ...>', start);
    default:
      return false;
  }
}

/** True if a piece of text can be the beginning of a strace line: a call, a second half, or a lead alone. */
function mayBeHead(text: string): boolean {
  return text.includes('(') || text.includes('<... ') || text.endsWith(' ');
}
