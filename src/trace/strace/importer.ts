import type { Trace } from '../event';
import { ProblemLog } from '../problem_log';
import { BodyReader } from './body';
import { PERCENT } from './chars';
import { CallDecoder } from './decoder';
import { LineGluer, type Outcome } from './glue';
import type { Item } from './items';
import { findLacks } from './lacks';
import { LeadReader } from './lead';
import { LineSplitter } from './lines';
import { Pairing } from './pairing';
import { resolvePids } from './pids';
import { callsInside } from './recover';

/** Of `[pid N<comm>] ` with a time. */
const LONGEST_PREFIX = 80;

export interface StraceOptions {
  /** Pid of lines that name none, where it is known from elsewhere (the file name of `strace -ff`). */
  readonly pid?: number;
}

/**
 * Reads the text that strace prints, in chunks of any size; the result does not depend on where they are
 * cut. Never throws on bad input: what cannot be taken is in `Trace.problems`.
 */
export class StraceImporter {
  private readonly problems = new ProblemLog();
  private readonly decoder = new CallDecoder(this.problems);
  private readonly lead = new LeadReader();
  private readonly body = new BodyReader(this.lead, this.decoder);
  private readonly items: Item[] = [];
  /** Lines that are not strace's. */
  private foreign = 0;
  private lineCount = 0;
  /** Inside the table of -c or -C. */
  private inSummary = false;

  private readonly gluer = new LineGluer((text, start, end, first, last) => {
    return this.readLine(text, start, end, first, last);
  }, this.problems);
  private readonly splitter = new LineSplitter((text, start, end) => {
    this.lineCount++;
    if (start < end) this.gluer.push(text, start, end, this.lineCount);
  });

  constructor(private readonly options: StraceOptions = {}) {}

  /** Takes more of the capture: a latin1 byte string. */
  push(chunk: string): void {
    this.splitter.push(chunk);
  }

  /** How many lines so far were calls, signals or ends, and how many were nothing that strace prints. */
  counts(): { readonly taken: number; readonly foreign: number } {
    return { taken: this.items.length, foreign: this.foreign };
  }

  /** The whole, once everything has been pushed. */
  end(): Trace {
    this.splitter.end();
    this.gluer.end();
    const madeUpPid = resolvePids(this.items, this.gluer.attached, this.options.pid);
    const events = new Pairing(this.decoder, this.problems).run(this.items);
    return {
      format: 'strace',
      events,
      problems: this.problems.problems(),
      lineCount: this.lineCount,
      lacks: findLacks(events, { madeUpPid, numberedCalls: this.decoder.numberedCalls }),
    };
  }

  private readLine(text: string, begin: number, end: number, first: number, last: number): Outcome {
    // A frame of -k.
    if (text.startsWith(' > ', begin)) return 'quiet';
    // What the terminal shows for Ctrl-C.
    const start = text.startsWith('^C', begin) ? begin + 2 : begin;
    this.lead.read(text, start, end);
    const read = this.body.read(text, end, first, last);
    if (typeof read === 'object') {
      this.inSummary = false;
      this.items.push(read);
      return 'taken';
    }
    if (read !== 'foreign') return read;
    if (this.isSummary(text, start, end, first)) return 'quiet';
    if (this.takeUnmarkedRest(text, start, end, last)) return 'taken';
    if (text.startsWith('Unknown syscall ', this.lead.body)) {
      this.problems.add('unknown-call', first, 'a call that this strace did not know');
      return 'quiet';
    }
    return this.recover(text, start, end, first, last);
  }

  /** With -z strace writes the rest of a split call on the next line, without pid and `resumed>`. */
  private takeUnmarkedRest(text: string, start: number, end: number, line: number): boolean {
    const entry = this.items.at(-1);
    if (entry?.kind !== 'entry' || entry.line !== line - 1 || entry.mark !== 'unfinished') return false;
    const rest = text.slice(start, end);
    const whole = entry.args + rest;
    if (this.decoder.decode(entry.name, whole, 0, whole.length, line) !== 'call') return false;
    this.items.push({ kind: 'resume', line, pid: entry.pid, name: entry.name, rest });
    return true;
  }

  /** Not a strace line, but one may stand at its end. */
  private recover(text: string, start: number, end: number, first: number, last: number): Outcome {
    for (const place of callsInside(text, start, end)) {
      // `[pid N]` before the name belongs to the call.
      const before = Math.max(start, place - LONGEST_PREFIX);
      const prefix = text.slice(before, place).lastIndexOf('[pid ');
      this.lead.read(text, prefix < 0 ? place : before + prefix, end);
      if (this.lead.body !== place) this.lead.read(text, place, end);
      const read = this.body.read(text, end, first, last);
      if (typeof read !== 'object') continue;
      this.problems.add(
        'recovered-call',
        first,
        'something else stands before a call on its line; the call is taken',
      );
      this.items.push(read);
      return 'taken';
    }
    this.foreign++;
    this.problems.add(
      'foreign-line',
      first,
      'not a line of strace (output of the traced program?); left out',
    );
    return 'foreign';
  }

  /** The table of -c: from its heading to the line `total`. */
  private isSummary(text: string, start: number, end: number, line: number): boolean {
    if (this.inSummary) {
      if (text.endsWith(' total', end)) this.inSummary = false;
      return true;
    }
    if (text.charCodeAt(start) !== PERCENT || !text.startsWith('% time ', start)) return false;
    this.inSummary = true;
    this.problems.add('summary-table', line, 'the table of strace -c holds no calls and is left out');
    return true;
  }
}

/** {@link StraceImporter} for a capture that is in memory. */
export function parseStrace(bytes: string, options: StraceOptions = {}): Trace {
  const importer = new StraceImporter(options);
  importer.push(bytes);
  return importer.end();
}
