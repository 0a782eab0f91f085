import { printable } from '../base/bytes';
import { displayWidth, fitText, lineWidth, spansOf, type Line, type Span } from './styled';

/** One column of a table. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** The column gets no wider than this for the sake of its rows; a longer cell sticks out and the next ones give way. */
  readonly max?: number;
  /** This column gives way when a line is wider than the terminal; which end of its text to keep. */
  readonly keep?: 'start' | 'end';
}

/** Blanks between columns. */
const GAP = 2;

/**
 * Lays rows out in aligned columns, two blanks apart, the titles (if any) first. `width` is the terminal's:
 * where a line would be longer, the last column with `keep` is cut (never below {@link LEAST} columns).
 * Without `width` nothing is cut. Trailing blanks are not written.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Line[])[],
  width?: number,
): Line[] {
  const titles = columns.some((column) => column.title !== '')
    ? [columns.map((column): Line => ({ text: column.title, style: 'dim' }))]
    : [];
  const all: readonly (readonly Line[])[] = [...titles, ...rows];
  const widths = columns.map((column, c) => {
    const widest = maxOf(all, (row) => lineWidth(row[c] ?? ''));
    return Math.min(widest, column.max ?? widest);
  });
  const elastic = columns.findLastIndex((column) => column.keep !== undefined);
  if (width !== undefined && elastic >= 0) {
    const total = widths.reduce((sum, w) => sum + w, 0) + GAP * (columns.length - 1);
    const own = widths[elastic] ?? 0;
    if (total > width) widths[elastic] = Math.min(own, Math.max(LEAST, own - (total - width)));
  }
  return all.map((row) => rowLine(columns, widths, row));
}

/** The least that a cut column keeps. */
const LEAST = 12;

function rowLine(columns: readonly Column[], widths: readonly number[], row: readonly Line[]): Line {
  const spans: Span[] = [];
  // Columns written so far, and where the next cell would begin if none stuck out.
  let written = 0;
  let next = 0;
  columns.forEach((column, c) => {
    const width = widths[c] ?? 0;
    const whole = row[c] ?? '';
    const cell = column.keep === undefined ? whole : fitCell(whole, width, column.keep);
    const cellWidth = lineWidth(cell);
    const start = column.align === 'right' ? next + width - cellWidth : next;
    next += width + GAP;
    if (cellWidth === 0) return;
    const blanks = Math.max(start - written, written === 0 ? 0 : GAP);
    spans.push(' '.repeat(blanks), ...spansOf(cell));
    written += blanks + cellWidth;
  });
  return withoutTrailingBlanks(spans);
}

/** A cell may end in a blank: a mark before a name that is not there. */
function withoutTrailingBlanks(spans: readonly Span[]): Span[] {
  const kept = [...spans];
  for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
    const text = (typeof last === 'string' ? last : last.text).trimEnd();
    if (text !== '') return [...kept, typeof last === 'string' ? text : { text, style: last.style }];
  }
  return kept;
}

/**
 * Cuts a cell to `width` columns: its last span at the end that `keep` says, the ones before it only if they
 * must. Where spans are left out the cell ends in `…`.
 */
function fitCell(cell: Line, width: number, keep: 'start' | 'end'): Line {
  if (lineWidth(cell) <= width) return cell;
  const spans = spansOf(cell);
  const fitted: Span[] = [];
  let left = width;
  for (const [i, span] of spans.entries()) {
    const last = i === spans.length - 1;
    // Something follows a span that is not the last one: the mark has to stand at its end.
    if (last) return [...fitted, fitSpan(span, left, keep)];
    if (lineWidth(span) >= left) return [...fitted, fitSpan(withMark(span), left, 'start')];
    fitted.push(span);
    left -= lineWidth(span);
  }
  return fitted;
}

function withMark(span: Span): Span {
  return typeof span === 'string' ? `${span}…` : { text: `${span.text}…`, style: span.style };
}

function fitSpan(span: Span, width: number, keep: 'start' | 'end'): Span {
  const text = printable(typeof span === 'string' ? span : span.text);
  const fitted = displayWidth(text) <= width ? text : fitText(text, width, keep);
  return typeof span === 'string' ? fitted : { text: fitted, style: span.style };
}

function maxOf<T>(items: readonly T[], measure: (item: T) => number): number {
  let max = 0;
  for (const item of items) max = Math.max(max, measure(item));
  return max;
}
