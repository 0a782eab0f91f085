import type { Result } from '../base/result';
import { sourceErrorLine, type SourceError } from '../node/source_error';

/** Exit statuses; other programs depend on them. */
export const EXIT_OK = 0;
/** A check found differences. */
export const EXIT_DIFFERENT = 1;
export const EXIT_USAGE = 2;
/** Input that cannot be read. */
export const EXIT_INPUT = 3;
/** Our own mistake (EX_SOFTWARE of sysexits.h). */
export const EXIT_BUG = 70;

/** The output cannot be written: a full disk (EX_IOERR of sysexits.h). */
export const EXIT_OUTPUT = 74;

/** The command line was wrong: status 2, with one line that says where the usage is. */
export class UsageError extends Error {}

/** Input cannot be read: status 3, with one line. */
export class InputError extends Error {}

/** The value of a source, or the failure of the command. */
export function readable<T>(result: Result<T, SourceError>): T {
  if (result.ok) return result.value;
  throw new InputError(sourceErrorLine(result.error));
}
