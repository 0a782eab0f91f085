import { printable, textOfBytes } from '../base/bytes';

/**
 * Text on its way to a terminal. A span's text is data: whatever it holds, only its printable form is written,
 * so that no name or path of another process can reach the terminal as an escape sequence. Colours are ours and
 * are added after that.
 */
export type Span = string | { readonly text: string; readonly style: Style };

/** One line made of spans; a plain string is a line of one span. */
export type Line = Span | readonly Span[];

export type Style = 'heading' | 'dim' | 'strong' | 'name' | 'good' | 'bad' | 'warn' | 'accent';

export function styled(style: Style, text: string): Span {
  return { text, style };
}

/** The line as it is written: printable, with colours when asked for. */
export function renderLine(line: Line, colour: boolean): string {
  return spansOf(line)
    .map((span) => renderSpan(span, colour))
    .join('');
}

/** Number of terminal columns that a line takes. */
export function lineWidth(line: Line): number {
  let width = 0;
  for (const span of spansOf(line)) width += displayWidth(printable(textOf(span)));
  return width;
}

export function spansOf(line: Line): readonly Span[] {
  return isSpan(line) ? [line] : line;
}

/** Number of terminal columns of printable text: wide characters take two, combining marks none. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += ZERO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/**
 * Cuts a printable text to at most `width` columns, with `…` where something was left out: at the start
 * (`keep: 'end'`, right for paths, whose last part says most) or at the end.
 */
export function fitText(text: string, width: number, keep: 'start' | 'end'): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return '';
  const characters = Array.from(text);
  if (keep === 'end') characters.reverse();
  let used = 1;
  const kept: string[] = [];
  for (const character of characters) {
    used += displayWidth(character);
    if (used > width) break;
    kept.push(character);
  }
  return keep === 'end' ? `…${kept.reverse().join('')}` : `${kept.join('')}…`;
}

/**
 * Cuts words into lines of at most `width` columns. A word longer than that stands alone on its line.
 * Whitespace in the text only separates words.
 */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(/\s+/)) {
    if (word === '') continue;
    if (current === '') current = word;
    else if (displayWidth(current) + 1 + displayWidth(word) <= width) current += ` ${word}`;
    else {
      lines.push(current);
      current = word;
    }
  }
  if (current !== '') lines.push(current);
  return lines;
}

/** A byte string of many lines as a terminal may show it: line by line, each printable. */
export function printableBytes(bytes: string): string {
  return textOfBytes(bytes).split('\n').map(printable).join('\n');
}

function isSpan(line: Line): line is Span {
  return typeof line === 'string' || 'text' in line;
}

function textOf(span: Span): string {
  return typeof span === 'string' ? span : span.text;
}

function renderSpan(span: Span, colour: boolean): string {
  const text = printable(textOf(span));
  if (!colour || typeof span === 'string' || text === '') return text;
  return `\u001b[${SGR[span.style]}m${text}\u001b[0m`;
}

// Only the terminal's own palette, so that light and dark themes both stay readable.
const SGR: Readonly<Record<Style, string>> = {
  heading: '1',
  dim: '2',
  strong: '1',
  name: '36',
  good: '32',
  bad: '31',
  warn: '33',
  accent: '35',
};

const ASCII = /^[\u0000-\u007f]*$/;
const ZERO_WIDTH = /\p{Mark}/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
