import type { AnonVmaName } from '../../mm/anon_vma_name';
import { addressText } from '../../present/entry_text';
import { styled, type Line, type Span, type Style } from '../styled';
import type { NamedPiece } from './story_facts';

/** How an object is drawn: a letter, so that the picture needs no colour, and a colour, so that it is seen at once. */
export interface Ink {
  readonly letter: string;
  readonly style: Style;
}

/** Cells that a piece gets at least: its permissions fit inside. */
const LEAST_CELLS = 6;

/**
 * Draws neighbouring mappings to scale in `cells` columns: `40000000 │AAAA rw-│AAA r--│AAAAAAAA rw-│ 40040000`.
 * A small piece is drawn larger than it is, so that it can be seen.
 */
export function stripLine(
  pieces: readonly NamedPiece[],
  inks: ReadonlyMap<AnonVmaName, Ink>,
  cells: number,
): Line {
  const first = pieces[0]?.entry;
  const last = pieces.at(-1)?.entry;
  if (first === undefined || last === undefined) return '';
  const total = last.end - first.start;
  const spans: Span[] = [styled('dim', `${addressText(first.start)} `)];
  for (const { entry, object } of pieces) {
    const width = Math.max(LEAST_CELLS, Math.round(((entry.end - entry.start) / total) * cells));
    const ink = object === undefined ? undefined : inks.get(object);
    const label = ` ${entry.perms.slice(0, 3)}`;
    spans.push(
      '│',
      styled(ink?.style ?? 'dim', (ink?.letter ?? '·').repeat(width - label.length)),
      styled('dim', label),
    );
  }
  return [...spans, '│', styled('dim', ` ${addressText(last.end)}`)];
}
