import { detectTrace } from './detect';
import { parseStrace } from './strace/importer';
import type { Trace } from './event';

/** What is known about a capture besides its content. */
export interface TraceHint {
  /** Taken instead of what the content says. */
  readonly format?: 'strace';
  /** Pid of lines that name none. */
  readonly pid?: number;
  /** File name; `NAME.PID` as `strace -ff` writes it tells the pid if no line does. */
  readonly fileName?: string;
}

type Importer = (bytes: string, hint: TraceHint) => Trace;

/** One importer a format. */
const IMPORTERS: ReadonlyMap<string, Importer> = new Map([['strace', readStrace]]);

/**
 * Reads a capture of system calls, whatever tool made it. `bytes` is a latin1 byte string. Never throws on bad
 * input: a format that is known but not read, or not known, gives a trace without events whose `format` says
 * so (`unknown` for the latter) and whose one problem says what to do.
 */
export function readTrace(bytes: string, hint: TraceHint = {}): Trace {
  const { format, advice } =
    hint.format === undefined ? detectTrace(bytes) : { format: hint.format, advice: '' };
  const importer = IMPORTERS.get(format);
  if (importer !== undefined) return importer(bytes, hint);
  return {
    format,
    events: [],
    problems: [
      format === 'unknown'
        ? { line: 1, code: 'unknown-format', text: 'No line here looks like a system call trace.' }
        : { line: 1, code: 'unsupported-format', text: advice },
    ],
    lineCount: bytes.split('\n').length - (bytes === '' || bytes.endsWith('\n') ? 1 : 0),
    lacks: [],
  };
}

function readStrace(bytes: string, hint: TraceHint): Trace {
  const trace = parseStrace(bytes, hint.pid === undefined ? {} : { pid: hint.pid });
  const suffix = /\.(\d{1,7})$/.exec(hint.fileName ?? '')?.[1];
  const madeUp = trace.lacks.some((lack) => lack.code === 'no-pids');
  return suffix !== undefined && madeUp ? parseStrace(bytes, { pid: Number(suffix) }) : trace;
}
