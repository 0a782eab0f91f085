import { printable } from '../base/bytes';
import { escapeMarkdown } from './safe_text';

/** What a tooltip says, as values; every text is data and is escaped where it becomes Markdown. */
export interface Tooltip {
  readonly title: string;
  readonly blocks: readonly TooltipBlock[];
}

export type TooltipBlock =
  /** A sentence. */
  | { readonly kind: 'text'; readonly text: string }
  /** Rows of cells, all of the same length; a heading above where there is one. */
  | { readonly kind: 'table'; readonly heading: string; readonly rows: readonly (readonly string[])[] };

export function textBlock(text: string): TooltipBlock {
  return { kind: 'text', text };
}

export function tableBlock(heading: string, rows: readonly (readonly string[])[]): TooltipBlock {
  return { kind: 'table', heading, rows };
}

/** The tooltip as Markdown in which no text can be markup. */
export function tooltipMarkdown(tooltip: Tooltip): string {
  return [`**${escapeMarkdown(tooltip.title)}**`, ...tooltip.blocks.map(blockMarkdown)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function blockMarkdown(block: TooltipBlock): string {
  if (block.kind === 'text') return escapeMarkdown(block.text);
  const columns = block.rows[0]?.length ?? 0;
  if (columns === 0) return '';
  // GFM wants a head row: the heading stands in its first cell.
  const head = [block.heading, ...Array.from({ length: columns - 1 }, () => '')];
  const lines = [head, ...block.rows].map(tableLine);
  lines.splice(1, 0, `|${' :--- |'.repeat(columns)}`);
  return lines.join('\n');
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => unbrokenAmounts(escapeMarkdown(cell))).join(' | ')} |`;
}

/** Keeps a number and its unit on one line of a narrow column. */
function unbrokenAmounts(text: string): string {
  return text.replace(/(\d) (?=(?:B|kB|[KMGTPE]iB|pages?)\b)/g, '$1\u00a0');
}

/** The tooltip as plain text, one line a row: for places without Markdown. */
export function tooltipText(tooltip: Tooltip): string {
  const lines = [tooltip.title];
  for (const block of tooltip.blocks) {
    if (block.kind === 'text') lines.push(block.text);
    else {
      if (block.heading !== '') lines.push(block.heading);
      for (const row of block.rows) lines.push(row.filter((cell) => cell !== '').join('  '));
    }
  }
  return lines.map(printable).join('\n');
}
