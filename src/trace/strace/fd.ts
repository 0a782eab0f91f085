import { textOfBytes } from '../../base/bytes';
import { endOfNote } from './arguments';
import { LESS, skipBlanks, skipWord } from './chars';
import { lastOpening, readNumber, skipAsides } from './numbers';
import { unescape } from './strings';
import type { FdArg } from '../event';

const AT_FDCWD = -100;
const OLD_DELETED = ' (deleted)';

/**
 * A file descriptor as strace prints it: `3`, `-1`, `0xffffffff` (-e raw), `AT_FDCWD`, with -y
 * `3</path>`, `3</path>(deleted)` or before strace 5.19 `3</path (deleted)>`, with -yy
 * `3</dev/zero<char 1:5>>`. Undefined for anything else.
 */
export function readFd(text: string, start: number, end: number): FdArg | undefined {
  let p = text[start] === '-' ? start + 1 : start;
  p = skipWord(text, p, end);
  const fd = fdNumber(text, start, p);
  if (fd === undefined) return undefined;
  if (p === end) return { fd };
  if (text.charCodeAt(p) !== LESS) return skipAsides(text, p, end) === end ? { fd } : undefined;
  const after = endOfNote(text, p, end);
  if (after < 0) return undefined;
  const rest = text.slice(skipBlanks(text, after, end), end);
  const note = readNote(text, p + 1, after - 1);
  const deleted = rest.startsWith('(deleted)');
  return deleted ? { fd, ...note, deleted: true } : { fd, ...note };
}

/** What a note says without its angle brackets; also used for results. */
export function readNote(text: string, start: number, end: number): Omit<FdArg, 'fd'> {
  let pathEnd = end;
  let device: string | undefined;
  if (text[end - 1] === '>') {
    const inner = lastOpening(text, start, end);
    const kind = inner < 0 ? '' : text.slice(inner + 1, end - 1);
    if (/^(?:char|block) /.test(kind)) {
      device = kind;
      pathEnd = inner;
    }
  }
  let path = textOfBytes(unescape(text.slice(start, pathEnd)));
  const deleted = path.endsWith(OLD_DELETED);
  if (deleted) path = path.slice(0, -OLD_DELETED.length);
  return {
    path,
    ...(deleted ? { deleted: true } : {}),
    ...(device === undefined ? {} : { device }),
  };
}

/** The kernel takes an fd as a 32-bit signed number. */
function fdNumber(text: string, start: number, end: number): number | undefined {
  if (end - start === 8 && text.startsWith('AT_FDCWD', start)) return AT_FDCWD;
  const value = readNumber(text, start, end);
  if (value === undefined) return undefined;
  return typeof value === 'number' && value <= 0x7fff_ffff ? value : Number(BigInt.asIntN(32, BigInt(value)));
}
