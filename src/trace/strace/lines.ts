import { CR, ESC } from './chars';

/** Takes one physical line: `[start, end)` of `text`, without its line end. */
export type LineSink = (text: string, start: number, end: number) => void;

/**
 * Cuts chunks of any size into lines. A line that lies inside one chunk is handed on as a range of it, so that
 * nothing is copied; `\r` before the line end and colours (`strace --color`, SGR sequences) are taken away.
 */
export class LineSplitter {
  private readonly pieces: string[] = [];
  private colours = false;

  constructor(private readonly sink: LineSink) {}

  push(chunk: string): void {
    if (!this.colours && chunk.includes('\x1b')) this.colours = true;
    let start = 0;
    for (let lineEnd = chunk.indexOf('\n'); lineEnd >= 0; lineEnd = chunk.indexOf('\n', start)) {
      if (this.pieces.length === 0) {
        this.emit(chunk, start, lineEnd);
      } else {
        this.pieces.push(chunk.slice(start, lineEnd));
        this.emitPieces();
      }
      start = lineEnd + 1;
    }
    if (start < chunk.length) this.pieces.push(chunk.slice(start));
  }

  /** The last line, if no line end followed it. */
  end(): void {
    if (this.pieces.length > 0) this.emitPieces();
  }

  private emitPieces(): void {
    const line = this.pieces.join('');
    this.pieces.length = 0;
    this.emit(line, 0, line.length);
  }

  private emit(text: string, start: number, end: number): void {
    let last = end;
    while (last > start && text.charCodeAt(last - 1) === CR) last--;
    if (!this.colours) {
      this.sink(text, start, last);
      return;
    }
    const plain = withoutColours(text.slice(start, last));
    this.sink(plain, 0, plain.length);
  }
}

/** Removes SGR sequences (`ESC [ digits ; … m`); any other escape stays. */
export function withoutColours(line: string): string {
  let escape = line.indexOf('\x1b');
  if (escape < 0) return line;
  const kept: string[] = [];
  let from = 0;
  while (escape >= 0) {
    const after = endOfSgr(line, escape);
    if (after > escape) {
      kept.push(line.slice(from, escape));
      from = after;
    }
    escape = line.indexOf('\x1b', Math.max(after, escape + 1));
  }
  kept.push(line.slice(from));
  return kept.join('');
}

/** Position after the SGR sequence at `at`, or `at` if none begins there. */
function endOfSgr(line: string, at: number): number {
  if (line.charCodeAt(at) !== ESC || line[at + 1] !== '[') return at;
  let p = at + 2;
  for (; p < line.length; p++) {
    const code = line.charCodeAt(p);
    // Digits, `:` and `;` are what parameters consist of.
    if (code < 0x30 || code > 0x3b) break;
  }
  return line[p] === 'm' ? p + 1 : at;
}
