import { DASH, hexDigit, isBlank } from './chars';
import { isFault, scanHeader, type EntryDraft, type LineFault } from './maps_line';

/** A maps line behind something that a logger put before it. */
export interface PrefixedHeader {
  /** Characters before the maps line. */
  readonly prefixLength: number;
  readonly scanned: EntryDraft | LineFault;
}

const ADDRESS_DIGITS = 16;

/**
 * Finds the maps line in a logged line such as `I0612 10:00:00.123  42 demo.cc:10] 7f10…-7f20… r-xp …`,
 * `[  123.456789] …`, `[tag] …`. No form of prefix is asked for: all columns from the range to the inode have
 * to follow, and the range has to begin after a blank, `]`, `:`, `|` or `>`. The first such place wins, so a
 * path further right is never read as a line. Null where there is none. Linear in the length of the line.
 */
export function findPrefixedHeader(
  text: string,
  from: number,
  to: number,
  line: number,
): PrefixedHeader | null {
  for (let dash = nextDash(text, from, to); dash >= 0; dash = nextDash(text, dash + 1, to)) {
    let start = dash;
    while (start > from && dash - start <= ADDRESS_DIGITS && hexDigit(text.charCodeAt(start - 1)) >= 0)
      start--;
    if (start === dash || start === from || !isPrefixEnd(text, start - 1)) continue;
    const scanned = scanHeader(text, start, to, line);
    if (isFault(scanned) && !hasAllColumns(scanned)) continue;
    return { prefixLength: start - from, scanned };
  }
  return null;
}

/** The line is a maps line, only its range makes no sense. */
export function hasAllColumns(fault: LineFault): boolean {
  return (
    fault.code === 'end-below-start' || fault.code === 'empty-range' || fault.code === 'unaligned-address'
  );
}

function nextDash(text: string, from: number, to: number): number {
  for (let i = from; i < to; i++) {
    if (text.charCodeAt(i) === DASH) return i;
  }
  return -1;
}

/** May a logger's prefix end in the character at `at`? */
export function isPrefixEnd(text: string, at: number): boolean {
  return isBlank(text.charCodeAt(at)) || ']:|>'.includes(text.charAt(at));
}
