import { expect } from 'vitest';
import { VPN_END } from '../../src/mm/addr';
import { formatMapsDocument, formatMapsSelection } from '../../src/procfs/format_maps';
import { parseMaps } from '../../src/procfs/maps';
import type { MapsDocument } from '../../src/procfs/maps_document';

/**
 * Parses `text` and checks what has to hold for every text, readable or not. Returns the document for what is
 * special about it.
 */
export function parseAndCheck(text: string): MapsDocument {
  const document = parseMaps(text);
  expect(formatMapsDocument(document) === text, 'writes back byte for byte').toBe(true);

  const lines = text.split('\n').length;
  const { entries, problems } = document;
  const wrongEntries = entries.filter(({ line, start, end }, index) => {
    const previous = entries[index - 1]?.line ?? 0;
    return !(
      line > previous &&
      line <= lines &&
      Number.isSafeInteger(start) &&
      end > start &&
      end <= VPN_END
    );
  });
  expect(wrongEntries).toEqual([]);
  const wrongProblems = problems.filter(({ line, code, text }, index) => {
    const previous = problems[index - 1]?.line ?? 1;
    return !(line >= previous && line <= lines && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(code) && text !== '');
  });
  expect(wrongProblems).toEqual([]);
  // Everything written back, but nothing said and nothing read: only for nothing.
  if (document.entries.length === 0 && document.rollup === null) expect(document.problems).not.toEqual([]);

  expect(formatMapsSelection(document, () => false)).toBe('');
  // CR is a line end only when all lines have it, so a selection without the others may read differently.
  if (!text.includes('\r')) checkSelection(document);
  return document;
}

/** A selection of entries reads as these entries. */
function checkSelection(document: MapsDocument): void {
  const kept = document.entries.filter((_, index) => index % 2 === 0);
  const keep = new Set(kept);
  const again = parseMaps(formatMapsSelection(document, (entry) => keep.has(entry)));
  expect(again.entries.map(withoutPlace)).toEqual(kept.map(withoutPlace));
}

/** What an entry says, without its line and without what depends on the entries around it. */
function withoutPlace({ smaps, ...entry }: MapsDocument['entries'][number]): object {
  const fields =
    smaps === null || (smaps.fields.size === 0 && smaps.vmFlags === null) ? null : [...smaps.fields];
  return { ...entry, line: 0, fields, vmFlags: smaps?.vmFlags ?? null };
}

/** `line code` of each problem. */
export function problemCodes(document: MapsDocument): readonly string[] {
  return document.problems.map(({ line, code }) => `${line} ${code}`);
}
