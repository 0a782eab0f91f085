import path from 'node:path';
import { runCli } from '../../src/cli/run';
import { Recorder } from './recorder';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** A file among the fixtures of the command line. */
export function fixture(name: string): string {
  return path.join(ROOT, 'test', 'fixtures', 'cli', name);
}

export interface RunResult {
  readonly status: number;
  readonly out: string;
  readonly bytes: Buffer;
  readonly err: string;
  readonly lines: readonly string[];
}

export interface RunOptions {
  readonly stdin?: Buffer;
  readonly terminal?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly closeAfter?: number;
}

/** Runs the command line in this process. `terminal` is the width of the terminal that it believes to have. */
export async function vmalens(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const sink = options.terminal === undefined ? {} : { isTTY: true, columns: options.terminal };
  const stdout = new Recorder(
    options.closeAfter === undefined ? sink : { ...sink, closeAfter: options.closeAfter },
  );
  const stderr = new Recorder(sink);
  const status = await runCli(args, {
    stdout,
    stderr,
    stdin: chunks(options.stdin ?? Buffer.alloc(0)),
    env: options.env ?? {},
    pid: process.pid,
    productRoot: ROOT,
  });
  return { status, out: stdout.text, bytes: stdout.bytes, err: stderr.text, lines: stdout.lines };
}

/** The parts of the documents that tests look into with more than a matcher. */
export interface MapsDocument {
  readonly target: string;
  readonly source: object;
  readonly vmas: readonly {
    readonly start: string;
    readonly path: string;
    readonly perms: string;
    readonly inode: string;
  }[];
  readonly groups: readonly { readonly label: string; readonly vmas: readonly number[] }[];
  readonly totals: { readonly vmas: number; readonly sealed: object };
  readonly problems: readonly object[];
}

export interface SummaryDocument extends MapsDocument {
  readonly kernel: string;
  readonly processes: readonly object[];
  readonly forks: readonly object[];
  readonly namesAt: { readonly line: number };
  readonly names: readonly object[];
  readonly seals: readonly object[];
  readonly denied: readonly object[];
  readonly mismatches: readonly { readonly line: number; readonly mismatch: { readonly code: string } }[];
  readonly snapshots: readonly object[];
}

export interface StateDocument {
  readonly line: number;
  readonly pid: number;
  readonly call: string;
  readonly vmas: readonly object[];
}

/** JSON of which a test knows what it is. */
export function parsed(text: string): SummaryDocument {
  return JSON.parse(text) as SummaryDocument;
}

/** In small pieces, as a pipe gives them. */
async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) {
    await Promise.resolve();
    yield bytes.subarray(at, at + 1000);
  }
}

/** Every character that a terminal may act on and that is not a newline or one of our own colours. */
export function unsafeCharacters(text: string): string[] {
  const withoutColours = text.replace(/\u001b\[[0-9;]*m/g, '');
  return (
    withoutColours.match(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    ) ?? []
  );
}
