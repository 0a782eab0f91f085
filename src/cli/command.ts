import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { ParseProblem } from '../base/parse_problem';
import type { ByteStream } from '../node/source_bytes';
import { UsageError } from './failure';
import type { Output } from './output';

/** Where a command reads, writes and finds things. */
export interface CliContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: ByteStream;
  /** Folder of the installed product, which holds package.json and media. */
  readonly productRoot: string;
  /** Our own process id. */
  readonly pid: number;
}

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole help, beginning with `Usage:`. */
  readonly help: string;
  /** Gives the exit status. */
  readonly run: (args: readonly string[], context: CliContext) => Promise<number>;
}

/** Options and operands of a command; unknown options and missing values are usage errors. */
export function parseCommandLine<O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (thrown) {
    if (thrown instanceof TypeError) throw new UsageError(firstSentence(thrown.message));
    throw thrown;
  }
}

/** The one operand of a command. */
export function oneOperand(operands: readonly string[], what: string): string {
  const [operand, extra] = operands;
  if (operand === undefined) throw new UsageError(`${what} is missing`);
  if (extra !== undefined) throw new UsageError(`one ${what} only; '${extra}' is too much`);
  return operand;
}

/** A whole number of at least 1 as an option's value; undefined stays undefined. */
export function positiveNumber(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9][0-9]{0,14}$/.test(value)) throw new UsageError(`${option} takes a number, not '${value}'`);
  return Number(value);
}

/** One of a closed list as an option's value. */
export function oneOf<T extends string>(value: string, allowed: readonly T[], option: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${option} takes ${allowed.join(', ')}, not '${value}'`);
  return found;
}

/** At most one of these options may be given. */
export function atMostOne(given: Readonly<Record<string, boolean>>): void {
  const chosen = Object.keys(given).filter((option) => given[option] === true);
  if (chosen.length > 1) throw new UsageError(`${chosen.join(' and ')} do not go together`);
}

/** Problems inside readable input: one a line, `FILE:LINE: what`; they do not change the exit status. */
export async function reportProblems(
  context: CliContext,
  file: string,
  problems: readonly ParseProblem[],
): Promise<void> {
  for (const problem of problems) {
    // Some concern the whole file.
    const place = problem.line > 0 ? `${file}:${problem.line}` : file;
    await context.stderr.line(`${place}: ${problem.text}`);
  }
}

function firstSentence(message: string): string {
  return /^(.*?)\.(?:\s|$)/s.exec(message)?.[1] ?? message;
}
