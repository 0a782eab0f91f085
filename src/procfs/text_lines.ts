import { CR, isBlank, LF } from './chars';

/** One line of a text, as indices; one object is used for all lines of a parse. */
export interface LineCursor {
  /** 1-based. */
  number: number;
  from: number;
  /** End of what the line says: before its newline, and before its CRs where those are line ends. */
  to: number;
  /** Where the next line begins. */
  after: number;
  /** It is the last one and has no newline: it may be cut. */
  open: boolean;
}

/** Calls `take` for each line of `text`. The cursor is only valid during the call. */
export function forEachLine(text: string, take: (line: LineCursor) => void): void {
  const stripCr = everyLineEndsInCr(text);
  const line: LineCursor = { number: 0, from: 0, to: 0, after: 0, open: false };
  while (line.after < text.length) {
    line.number++;
    line.from = line.after;
    const newline = text.indexOf('\n', line.from);
    line.open = newline < 0;
    line.to = line.open ? text.length : newline;
    line.after = line.open ? text.length : newline + 1;
    if (stripCr) line.to = trimCr(text, line.from, line.to);
    take(line);
  }
}

/**
 * CR is part of the line ends (CR LF, or CR CR LF from adb on Windows) only when every line has it: a path
 * may end in one. The last line may lack its newline, and then its CR.
 */
function everyLineEndsInCr(text: string): boolean {
  let from = 0;
  for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', from)) {
    if (newline === 0 || text.charCodeAt(newline - 1) !== CR) return false;
    from = newline + 1;
  }
  return from > 0 || text.charCodeAt(text.length - 1) === CR;
}

/** Start of the run of carriage returns that ends at `to`. */
export function trimCr(text: string, from: number, to: number): number {
  let i = to;
  while (i > from && text.charCodeAt(i - 1) === CR) i--;
  return i;
}

/** First index at or after `from` of something visible, `to` if there is nothing. */
export function skipInvisible(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isInvisible(text.charCodeAt(i))) i++;
  return i;
}

function isInvisible(code: number): boolean {
  return isBlank(code) || code === LF || code === CR;
}

/** 1-based number of the line that holds index `at`. */
export function lineNumberAt(text: string, at: number): number {
  let line = 1;
  for (
    let newline = text.indexOf('\n');
    newline >= 0 && newline < at;
    newline = text.indexOf('\n', newline + 1)
  )
    line++;
  return line;
}
