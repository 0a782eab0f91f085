import {
  BACKSLASH,
  BLANK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  EQUALS,
  GREATER,
  LESS,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  QUOTE,
  SLASH,
  STAR,
  skipBlanks,
  trimEnd,
} from './chars';
import { endOfString } from './strings';

/**
 * Splits an argument list at its top-level commas and finds its end. Strings, `/* … *\/` comments (they nest
 * with -X verbose), brackets of all kinds and the `<…>` notes of -y are stepped over whole, so that a comma or
 * `) = ` inside them is text. One pass, no backtracking: linear in the line.
 *
 * The object is used again for the next list; the results are in its fields.
 */
export class ArgumentScanner {
  /** Ranges of the arguments, without blanks around them. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  count = 0;
  /** Position of the bracket that ends the list, -1 if the text ended first. */
  close = -1;
  /** The text ended inside a string. */
  inString = false;

  // Without an end further on, `<` and `/*` are plain text for the rest of the line; asking once keeps it linear.
  private notes = true;
  private comments = true;

  /** Scans `[from, end)` up to `closer` at depth 0. True if it was found. */
  scan(text: string, from: number, end: number, closer: number = CLOSE_PAREN): boolean {
    this.count = 0;
    this.close = -1;
    this.inString = false;
    this.notes = true;
    this.comments = true;
    let depth = 0;
    let start = from;
    let p = from;
    while (p < end) {
      const code = text.charCodeAt(p);
      switch (code) {
        case QUOTE: {
          const after = endOfString(text, p, end);
          if (after < 0) {
            this.inString = true;
            this.addLast(text, start, end);
            return false;
          }
          p = after;
          continue;
        }
        case LESS:
          p = this.afterLess(text, p, end);
          continue;
        case SLASH:
          p = this.afterSlash(text, p, end);
          continue;
        case COMMA:
          if (depth === 0) {
            this.add(text, start, p);
            start = p + 1;
          }
          break;
        case OPEN_PAREN:
        case OPEN_BRACKET:
        case OPEN_BRACE:
          depth++;
          break;
        case CLOSE_PAREN:
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          if (depth > 0) {
            depth--;
          } else if (code === closer) {
            if (this.count > 0) this.add(text, start, p);
            else this.addLast(text, start, p);
            this.close = p;
            return true;
          }
          break;
      }
      p++;
    }
    this.addLast(text, start, end);
    return false;
  }

  private add(text: string, from: number, to: number): void {
    const start = skipBlanks(text, from, to);
    this.starts[this.count] = start;
    this.ends[this.count] = trimEnd(text, start, to);
    this.count++;
  }

  /** Nothing is no argument: `fork()` has none, and `wait4(-1, ` broke off after one. */
  private addLast(text: string, from: number, to: number): void {
    if (skipBlanks(text, from, to) < to) this.add(text, from, to);
  }

  private afterLess(text: string, at: number, end: number): number {
    const next = text.charCodeAt(at + 1);
    // `21<<MAP_HUGE_SHIFT` is a shift and `a < b` a comparison; a note follows its number directly.
    if (next === LESS) return at + 2;
    if (next === BLANK || next === EQUALS || !this.notes) return at + 1;
    const after = endOfNote(text, at, end);
    if (after >= 0) return after;
    this.notes = false;
    return at + 1;
  }

  private afterSlash(text: string, at: number, end: number): number {
    if (!this.comments || text.charCodeAt(at + 1) !== STAR) return at + 1;
    const after = endOfComment(text, at, end);
    if (after >= 0) return after;
    this.comments = false;
    return at + 1;
  }
}

/**
 * Position after the `<…>` note that begins at `at`, -1 if it is open at `end`. Notes nest
 * (`4</dev/zero<char 1:5>>`); in paths strace writes `<` and `>` as \74 and \76. The arrow of a socket
 * (`<TCP:[1.2.3.4:80->…]>`) is text: an address follows it, which cannot follow a note.
 */
export function endOfNote(text: string, at: number, end: number): number {
  let depth = 0;
  let p = at;
  while (p < end) {
    const code = text.charCodeAt(p);
    if (code === BACKSLASH) {
      p += 2;
      continue;
    }
    if (code === LESS) depth++;
    else if (code === GREATER && !(text.charCodeAt(p - 1) === MINUS && isArrow(text, p, end))) {
      depth--;
      if (depth === 0) return p + 1;
    }
    p++;
  }
  return -1;
}

function isArrow(text: string, at: number, end: number): boolean {
  if (at + 1 >= end) return false;
  switch (text.charCodeAt(at + 1)) {
    case BLANK:
    case COMMA:
    case CLOSE_PAREN:
    case CLOSE_BRACKET:
    case CLOSE_BRACE:
    case GREATER:
    case OPEN_PAREN:
      return false;
    default:
      return true;
  }
}

/** Position after the comment that begins at `at`, with comments inside it; -1 if it is open at `end`. */
export function endOfComment(text: string, at: number, end: number): number {
  let depth = 0;
  let p = at;
  while (p + 1 < end) {
    const code = text.charCodeAt(p);
    const next = text.charCodeAt(p + 1);
    if (code === SLASH && next === STAR) {
      depth++;
      p += 2;
    } else if (code === STAR && next === SLASH) {
      depth--;
      p += 2;
      if (depth === 0) return p;
    } else {
      p++;
    }
  }
  return -1;
}
