import { printable } from '../base/bytes';

/** Why something could not be read. Problems *inside* readable input are ParseProblems instead. */
export interface SourceError {
  readonly code: SourceErrorCode;
  /** What was to be read, as a person named it. */
  readonly subject: string;
  /** What is wrong, in words, without the subject and without a full stop. */
  readonly text: string;
  /** What the person can do, where there is something. */
  readonly help?: string;
}

export type SourceErrorCode =
  /** No such file, or a process that is not (or no longer) there. */
  | 'not-found'
  | 'not-permitted'
  | 'is-directory'
  /** A live process that has no address space: a kernel thread or a zombie. */
  | 'no-memory-map'
  | 'too-large'
  /** Compressed in a way that has to be unpacked first. */
  | 'packed'
  /** Compressed, and nothing at all could be unpacked. */
  | 'damaged'
  /** Readable, but not what was asked for (a folder without a trace, with several). */
  | 'unfit'
  /** This system has no /proc. */
  | 'unsupported'
  | 'cancelled'
  | 'unreadable';

/** One line for a person: `SUBJECT: what is wrong; what helps`, safe to print. */
export function sourceErrorLine(error: SourceError): string {
  const help = error.help === undefined ? '' : `; ${error.help}`;
  return printable(`${error.subject}: ${error.text}${help}`);
}

/** The words for an exception of the file system; `subject` is what was to be read. */
export function sourceErrorOf(subject: string, thrown: unknown): SourceError {
  const code = errorCode(thrown);
  switch (code) {
    case 'ENOENT':
      return { code: 'not-found', subject, text: 'no such file' };
    case 'ENOTDIR':
      return { code: 'not-found', subject, text: 'no such file: a part of the path is not a directory' };
    case 'ESRCH':
      return { code: 'not-found', subject, text: 'the process has ended' };
    case 'EACCES':
    case 'EPERM':
      return { code: 'not-permitted', subject, text: 'not permitted' };
    case 'EISDIR':
      return { code: 'is-directory', subject, text: 'is a directory' };
    case 'ELOOP':
      return { code: 'unreadable', subject, text: 'too many symbolic links' };
    case 'ENAMETOOLONG':
      return { code: 'not-found', subject, text: 'the file name is too long' };
    case 'ABORT_ERR':
      return { code: 'cancelled', subject, text: 'cancelled' };
    default:
      return { code: 'unreadable', subject, text: `cannot be read: ${messageOf(thrown)}` };
  }
}

/** The `code` of a Node.js exception, '' if it has none. */
export function errorCode(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return '';
  return typeof thrown.code === 'string' ? thrown.code : '';
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
