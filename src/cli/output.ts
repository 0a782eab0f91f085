import { errorCode } from '../node/source_error';
import { renderLine, type Line } from './styled';

/** What an {@link Output} writes to: a Node.js stream, or a test's recorder. */
export interface ByteSink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(chunk: Uint8Array | string, done: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * A stream of lines that is collected into large chunks and written in order, waiting for the reader.
 * When the reader goes away (`vmalens … | head`), writing ends quietly: `closed` says so, and nothing throws.
 * Any other failure (a full disk) ends it too, and is kept for the end of the program to report.
 */
export class Output {
  /** True once nobody reads any more. Long outputs look at it to stop early. */
  closed = false;
  /** Why writing ended, unless it was the reader's choice. */
  failure: Error | undefined;
  private pending: string[] = [];
  private pendingLength = 0;

  constructor(
    private readonly sink: ByteSink,
    /** Colours are written. */
    readonly colour: boolean,
  ) {
    // A broken pipe arrives here as well as in the callback of write.
    sink.on('error', (error) => {
      this.end(error);
    });
  }

  /** A person reads this directly. */
  get isTerminal(): boolean {
    return this.sink.isTTY === true;
  }

  /** Columns of the terminal; undefined where the output goes elsewhere and lines are never cut. */
  get columns(): number | undefined {
    return this.isTerminal ? (this.sink.columns ?? 80) : undefined;
  }

  /** Writes one line of data and our own colours; see {@link Line} for what is made safe. */
  async line(line: Line = ''): Promise<void> {
    await this.raw(`${renderLine(line, this.colour)}\n`);
  }

  async lines(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      await this.line(line);
      if (this.closed) return;
    }
  }

  /** Writes text that is known to be safe, or that must not be changed. */
  async raw(text: string): Promise<void> {
    if (this.closed) return;
    this.pending.push(text);
    this.pendingLength += text.length;
    if (this.pendingLength >= CHUNK) await this.flush();
  }

  /** Writes a byte string (one character a byte) as those bytes. */
  async bytes(bytes: string): Promise<void> {
    await this.flush();
    for (let at = 0; at < bytes.length && !this.closed; at += CHUNK) {
      await this.send(Buffer.from(bytes.slice(at, at + CHUNK), 'latin1'));
    }
  }

  /** Hands everything to the system. To be called before the program ends. */
  async flush(): Promise<void> {
    if (this.pending.length === 0) return;
    const text = this.pending.join('');
    this.pending = [];
    this.pendingLength = 0;
    if (!this.closed) await this.send(text);
  }

  private end(error: Error): void {
    this.closed = true;
    if (errorCode(error) !== 'EPIPE') this.failure ??= error;
  }

  private async send(chunk: Uint8Array | string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.sink.write(chunk, (error) => {
        if (error !== undefined && error !== null) this.end(error);
        resolve();
      });
    });
  }
}

const CHUNK = 1 << 16;

/** What `--color` can be. */
export type ColourChoice = 'auto' | 'always' | 'never';

/**
 * Colours only on a terminal, unless asked for; NO_COLOR (set and not empty) and TERM=dumb say never.
 * `--color=always|never` has the last word.
 */
export function wantsColour(
  choice: ColourChoice,
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}
