import { bytesOfVpn } from '../mm/addr';
import { DASH, isBlank, skipBlanks, skipHex, skipToken, TAB } from './chars';
import {
  checkRange,
  isPerms,
  pageOfHex,
  readPath,
  valueOfHex,
  type EntryDraft,
  type LineFault,
} from './maps_line';

/**
 * Address spaces in the words of other programs: gdb's `info proc mappings` and the process map that
 * sanitizers print. They have fewer columns than maps: what is not there is unknown, and stands in the entry
 * as `????` (permissions), '' (device, inode) or 0 (offset).
 */

/** Permissions of an entry whose source does not tell them. */
const UNKNOWN_PERMS = '????';

/** Lines that gdb prints before the rows of its table. */
export function isGdbFrame(line: string): boolean {
  if (line.includes('Start Addr') && line.includes('End Addr')) return true;
  return line.startsWith('Mapped address spaces:') || /^process \d+$/.test(line);
}

/**
 * A row of gdb's table: `0xSTART 0xEND 0xSIZE 0xOFFSET [PERMS] [OBJFILE]`. Null when it is not one. SIZE has
 * to be END - START, so that no other four numbers pass for a row.
 */
export function scanGdbRow(row: string, line: number): EntryDraft | LineFault | null {
  const to = row.length;
  const start = hexNumber(row, skipBlanks(row, 0, to));
  const end = start === null ? null : hexNumber(row, skipBlanks(row, start.to, to));
  const size = end === null ? null : hexNumber(row, skipBlanks(row, end.to, to));
  const offset = size === null ? null : hexNumber(row, skipBlanks(row, size.to, to));
  if (start === null || end === null || size === null || offset === null) return null;
  const fault = checkRange(row, start.from, start.to, end.from, end.to, '');
  if (fault !== null) return fault;
  const firstPage = pageOfHex(row, start.from, start.to);
  const endPage = pageOfHex(row, end.from, end.to);
  if (valueOfHex(row, size.from, size.to) !== bytesOfVpn(endPage - firstPage)) return null;

  let nameFrom = skipBlanks(row, offset.to, to);
  const tokenTo = skipToken(row, nameFrom, to);
  const hasPerms = isPerms(row, nameFrom, tokenTo);
  const perms = hasPerms ? row.slice(nameFrom, tokenTo) : UNKNOWN_PERMS;
  if (hasPerms) nameFrom = skipBlanks(row, tokenTo, to);
  return {
    line,
    start: firstPage,
    end: endPage,
    perms,
    offset: valueOfHex(row, offset.from, offset.to),
    dev: '',
    inode: '',
    ...readPath(row, nameFrom, to),
    smaps: null,
  };
}

/**
 * A row of a sanitizer's process map: `<tab>0xSTART-0xEND<tab>PATH`, after whatever a logger put before it.
 * Null when it is not one.
 */
export function scanSanitizerRow(row: string, line: number): EntryDraft | LineFault | null {
  for (let at = row.indexOf('0x'); at >= 0; at = row.indexOf('0x', at + 2)) {
    if (at > 0 && row.charCodeAt(at - 1) !== TAB) continue;
    const start = hexNumber(row, at);
    if (start === null || row.charCodeAt(start.to) !== DASH) continue;
    const end = hexNumber(row, start.to + 1);
    if (end === null || (end.to < row.length && row.charCodeAt(end.to) !== TAB)) continue;
    const fault = checkRange(row, start.from, start.to, end.from, end.to, '');
    if (fault !== null) return fault;
    return {
      line,
      start: pageOfHex(row, start.from, start.to),
      end: pageOfHex(row, end.from, end.to),
      perms: UNKNOWN_PERMS,
      offset: 0,
      dev: '',
      inode: '',
      ...readPath(row, skipBlanks(row, end.to, row.length), row.length),
      smaps: null,
    };
  }
  return null;
}

/** Lines that a sanitizer prints around its process map. */
export function isSanitizerFrame(line: string): boolean {
  return line.includes('Process memory map follows:') || line.includes('End of process memory map.');
}

/** `0x` and 1 to 16 hex digits at `from`, before a blank, a dash or the end; where the digits are. */
function hexNumber(row: string, from: number): { from: number; to: number } | null {
  if (!row.startsWith('0x', from)) return null;
  const digitsTo = skipHex(row, from + 2, row.length);
  const digits = digitsTo - from - 2;
  if (digits === 0 || digits > 16) return null;
  if (digitsTo < row.length && !isBlank(row.charCodeAt(digitsTo)) && row.charCodeAt(digitsTo) !== DASH)
    return null;
  return { from: from + 2, to: digitsTo };
}
