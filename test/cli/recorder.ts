import type { ByteSink } from '../../src/cli/output';

/** A sink that keeps what was written. With `closeAfter`, the reader goes away after so many bytes. */
export class Recorder implements ByteSink {
  readonly isTTY: boolean;
  readonly columns: number;
  private readonly chunks: Buffer[] = [];

  constructor(
    private readonly options: {
      readonly isTTY?: boolean;
      readonly columns?: number;
      readonly closeAfter?: number;
    } = {},
  ) {
    this.isTTY = options.isTTY ?? false;
    this.columns = options.columns ?? 80;
  }

  get length(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.bytes.toString('utf8');
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }

  write(chunk: Uint8Array | string, done: (error?: Error | null) => void): boolean {
    if (this.options.closeAfter !== undefined && this.length >= this.options.closeAfter) {
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return false;
    }
    this.chunks.push(Buffer.from(chunk as Uint8Array));
    done();
    return true;
  }

  on(): this {
    return this;
  }
}
