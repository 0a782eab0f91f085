import { textOfBytes } from '../base/bytes';
import { err, ok, type Result } from '../base/result';
import type { ParseProblem } from '../base/parse_problem';
import { parseHex, vpn, type U64, type Vpn } from '../mm/addr';
import { COLON, DASH, hexDigit, isBlank, skipBlanks, skipDigits, skipHex, SPACE } from './chars';
import type { MapsEntry, SmapsFields } from './maps_entry';

/**
 * One line of /proc/PID/maps, the same text that heads an smaps record (show_map_vma in fs/proc/task_mmu.c):
 *
 *   START-END PERMS OFFSET MAJOR:MINOR INODE [blanks PATH]
 *
 * START, END, OFFSET and the device are hex without 0x and of any width, INODE is decimal.
 */

/** A MapsEntry while the document parser still adds to it. */
export interface EntryDraft extends Omit<MapsEntry, 'smaps'> {
  smaps: SmapsFields | null;
}

/** Why a line is not taken as a mapping. */
export interface LineFault {
  readonly code: LineFaultCode;
  readonly text: string;
}

/**
 * - `not-a-maps-line`: it does not begin with `HEX-HEX`
 * - `bad-columns`: it does, but what follows is not a maps line
 * - `cut-off`: it is the beginning of a maps line, and ends before its inode does
 * - `end-below-start`, `empty-range`, `unaligned-address`: all columns are there, the range makes no sense
 * - `second-rollup`: the text has one already
 */
export type LineFaultCode =
  | 'not-a-maps-line'
  | 'bad-columns'
  | 'cut-off'
  | 'end-below-start'
  | 'empty-range'
  | 'unaligned-address'
  | 'second-rollup';

/**
 * Parses one line of maps, or the header line of an smaps record, without its newline.
 *
 * @param line latin1 byte string
 * @returns the entry, with `line` 1 and `smaps` null; or the problem that keeps it from being one
 */
export function parseMapsLine(line: string): Result<MapsEntry, ParseProblem> {
  const scanned = scanHeader(line, 0, line.length, 1);
  return isFault(scanned) ? err({ line: 1, code: scanned.code, text: scanned.text }) : ok(scanned);
}

export function isFault(scanned: EntryDraft | LineFault): scanned is LineFault {
  return 'code' in scanned;
}

/** Most hex digits of an address or offset, most decimal digits of an inode: 64 bits each. */
const HEX_DIGITS = 16;
const DECIMAL_DIGITS = 20;
const PERMS_LENGTH = 4;

/** Path of the one header in smaps_rollup; its range may be empty. */
export const ROLLUP_PATH = '[rollup]';

/**
 * Scans a maps line in `text[from, to)`. `line` is the number that the entry gets.
 * Linear in the length of the line; looks at no more than 100 characters before it knows that it is not one.
 */
export function scanHeader(text: string, from: number, to: number, line: number): EntryDraft | LineFault {
  const startTo = skipHex(text, from, to);
  if (startTo === from || startTo - from > HEX_DIGITS) return NOT_MAPS;
  if (startTo === to) return CUT;
  if (text.charCodeAt(startTo) !== DASH) return NOT_MAPS;
  const endFrom = startTo + 1;
  const endTo = skipHex(text, endFrom, to);
  if (endTo === to) return endTo - endFrom > HEX_DIGITS ? NOT_MAPS : CUT;
  if (endTo === endFrom || endTo - endFrom > HEX_DIGITS || !isBlank(text.charCodeAt(endTo))) return NOT_MAPS;

  const permsFrom = skipBlanks(text, endTo, to);
  const permsTo = skipPerms(text, permsFrom, to);
  if (permsTo === to) return permsTo - permsFrom > PERMS_LENGTH ? BAD_PERMS : CUT;
  if (permsTo - permsFrom !== PERMS_LENGTH || !isBlank(text.charCodeAt(permsTo))) return BAD_PERMS;

  const offsetFrom = skipBlanks(text, permsTo, to);
  const offsetTo = skipHex(text, offsetFrom, to);
  if (offsetTo === to) return CUT;
  if (offsetTo === offsetFrom || offsetTo - offsetFrom > HEX_DIGITS || !isBlank(text.charCodeAt(offsetTo))) {
    return BAD_OFFSET;
  }

  const devFrom = skipBlanks(text, offsetTo, to);
  const majorTo = skipHex(text, devFrom, to);
  if (majorTo === to) return CUT;
  if (majorTo === devFrom || text.charCodeAt(majorTo) !== COLON) return BAD_DEVICE;
  const devTo = skipHex(text, majorTo + 1, to);
  if (devTo === to) return CUT;
  if (devTo === majorTo + 1 || !isBlank(text.charCodeAt(devTo))) return BAD_DEVICE;

  const inodeFrom = skipBlanks(text, devTo, to);
  const inodeTo = skipDigits(text, inodeFrom, to);
  if (inodeTo === inodeFrom) return inodeTo === to ? CUT : BAD_INODE;
  if (inodeTo - inodeFrom > DECIMAL_DIGITS) return BAD_INODE;
  if (inodeTo < to && !isBlank(text.charCodeAt(inodeTo))) return BAD_INODE;

  const name = readPath(text, skipBlanks(text, inodeTo, to), to);
  const fault = checkRange(text, from, startTo, endFrom, endTo, name.path);
  if (fault !== null) return fault;
  return {
    line,
    start: pageOfHex(text, from, startTo),
    end: pageOfHex(text, endFrom, endTo),
    perms: text.slice(permsFrom, permsTo),
    offset: valueOfHex(text, offsetFrom, offsetTo),
    dev: text.slice(devFrom, devTo),
    inode: text.slice(inodeFrom, inodeTo),
    path: name.path,
    deleted: name.deleted,
    anonName: name.anonName,
    smaps: null,
  };
}

/** What the last column says. */
export interface PathColumn {
  readonly path: string;
  readonly deleted: boolean;
  readonly anonName: string | null;
}

const NO_PATH: PathColumn = { path: '', deleted: false, anonName: null };
const DELETED = ' (deleted)';
const OPEN_BRACKET = 0x5b;

/**
 * Reads the path column `text[from, to)`: nothing is trimmed, tabs, spaces and U+00A0 are part of it. The
 * kernel escapes only the newline (as `\012`), so a file that really holds a backslash and 012 reads the same.
 */
export function readPath(text: string, from: number, to: number): PathColumn {
  if (from >= to) return NO_PATH;
  let bytes = text.slice(from, to);
  const deleted = bytes.endsWith(DELETED);
  if (deleted) bytes = bytes.slice(0, -DELETED.length);
  if (bytes.includes('\\012')) bytes = bytes.replaceAll('\\012', '\n');
  const path = textOfBytes(bytes);
  const anonName = path.charCodeAt(0) === OPEN_BRACKET ? anonNameOf(path) : null;
  return { path, deleted, anonName };
}

/** NAME of `[anon:NAME]` or `[anon_shmem:NAME]`; only one such wrapping is taken off. */
function anonNameOf(path: string): string | null {
  if (!path.endsWith(']')) return null;
  if (path.startsWith('[anon:')) return path.slice('[anon:'.length, -1);
  if (path.startsWith('[anon_shmem:')) return path.slice('[anon_shmem:'.length, -1);
  return null;
}

/**
 * Page number of the address in `text[from, to)`, hex digits only. The last three digits are the offset in
 * the page, so at most 13 are left: exact as a number for every 64-bit address.
 */
export function pageOfHex(text: string, from: number, to: number): Vpn {
  let page = 0;
  for (let i = from; i < to - 3; i++) page = page * 16 + hexDigit(text.charCodeAt(i));
  return vpn(page);
}

/** Is the address in `text[from, to)` a multiple of 4096? */
export function isPageAlignedHex(text: string, from: number, to: number): boolean {
  for (let i = Math.max(from, to - 3); i < to; i++) {
    if (hexDigit(text.charCodeAt(i)) !== 0) return false;
  }
  return true;
}

/** Value of at most 16 hex digits. */
export function valueOfHex(text: string, from: number, to: number): U64 {
  if (to - from > 13) return parseHex(text.slice(from, to)) ?? 0;
  let value = 0;
  for (let i = from; i < to; i++) value = value * 16 + hexDigit(text.charCodeAt(i));
  return value;
}

/** The range `text[from, startTo)` to `text[endFrom, endTo)` as a fault, or null if it is one. */
export function checkRange(
  text: string,
  from: number,
  startTo: number,
  endFrom: number,
  endTo: number,
  path: string,
): LineFault | null {
  if (!isPageAlignedHex(text, from, startTo) || !isPageAlignedHex(text, endFrom, endTo)) {
    return fault(
      'unaligned-address',
      `${text.slice(from, startTo)}-${text.slice(endFrom, endTo)} is not on page boundaries`,
    );
  }
  const start = pageOfHex(text, from, startTo);
  const end = pageOfHex(text, endFrom, endTo);
  if (end > start || (end === start && path === ROLLUP_PATH)) return null;
  const range = `${text.slice(from, startTo)}-${text.slice(endFrom, endTo)}`;
  return end < start
    ? fault('end-below-start', `${range} ends below its start`)
    : fault('empty-range', `${range} holds no page`);
}

/**
 * End of a run of permission characters: `rwxsp` and `-` as Linux prints them, `=` as Cygwin does. Stops one
 * past the length, which is enough to refuse it.
 */
function skipPerms(text: string, from: number, to: number): number {
  const limit = Math.min(to, from + PERMS_LENGTH + 1);
  let i = from;
  while (i < limit && text.charCodeAt(i) !== SPACE && PERMS.includes(text.charAt(i))) i++;
  return i;
}

const PERMS = 'rwxps-=';

/** Could these four characters be permissions? For layouts with other columns. */
export function isPerms(text: string, from: number, to: number): boolean {
  return to - from === PERMS_LENGTH && skipPerms(text, from, to) === to;
}

function fault(code: LineFaultCode, text: string): LineFault {
  return { code, text };
}

const NOT_MAPS = fault('not-a-maps-line', 'not a maps line: it does not begin with an address range');
const CUT = fault('cut-off', 'the line ends before its inode does');
const BAD_PERMS = fault('bad-columns', 'not a maps line: no permissions like rw-p after the address range');
const BAD_OFFSET = fault('bad-columns', 'not a maps line: no hex offset after the permissions');
const BAD_DEVICE = fault('bad-columns', 'not a maps line: no device like 08:01 after the offset');
const BAD_INODE = fault('bad-columns', 'not a maps line: no decimal inode after the device');
