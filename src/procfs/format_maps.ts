import { bytesOfText } from '../base/bytes';
import { hexOfU64, hexOfVpn } from '../mm/addr';
import type { MapsDocument } from './maps_document';
import type { MapsEntry } from './maps_entry';

/** Columns are padded to this width and one more blank, then the name begins; wider ones end in two blanks. */
const NAME_PADDING = 72;

/** Writes a document back: the same bytes as the input of parseMaps, whatever they were. */
export function formatMapsDocument(document: MapsDocument): string {
  return joinBlocks(document, () => true);
}

/**
 * Writes back some entries of a document with their field lines, as they were printed. Lines that belong to
 * no entry are left out.
 *
 * @returns latin1 byte string
 */
export function formatMapsSelection(document: MapsDocument, keep: (entry: MapsEntry) => boolean): string {
  return joinBlocks(document, (owner) => {
    const entry = document.entries[owner];
    return entry !== undefined && keep(entry);
  });
}

function joinBlocks(document: MapsDocument, keep: (owner: number) => boolean): string {
  const { text, blockEnds, blockOwners } = document.source;
  const kept: string[] = [];
  let from = 0;
  blockEnds.forEach((end, block) => {
    const owner = blockOwners[block];
    if (owner !== undefined && keep(owner)) kept.push(text.slice(from, end));
    from = end;
  });
  return kept.join('');
}

/**
 * The maps line of an entry as the kernel of a 64-bit machine prints it (show_map_vma in
 * fs/proc/task_mmu.c), without the newline: an entry without a name ends in one blank.
 *
 * @returns latin1 byte string
 */
export function formatMapsLine(entry: MapsEntry): string {
  const start = hexOfVpn(entry.start).padStart(8, '0');
  const end = hexOfVpn(entry.end).padStart(8, '0');
  const offset = hexOfU64(entry.offset).padStart(8, '0');
  const columns = `${start}-${end} ${entry.perms} ${offset} ${entry.dev} ${entry.inode} `;
  const name = formatPath(entry);
  return name === '' ? columns : `${columns.padEnd(NAME_PADDING)} ${name}`;
}

/** The last column: newlines escaped as the kernel does, and the mark of a deleted file. */
function formatPath(entry: MapsEntry): string {
  const bytes = bytesOfText(entry.path).replaceAll('\n', '\\012');
  return entry.deleted ? `${bytes} (deleted)` : bytes;
}

/** A maps file of these entries, a line each. */
export function formatMapsLines(entries: readonly MapsEntry[]): string {
  return entries.map((entry) => `${formatMapsLine(entry)}\n`).join('');
}

/**
 * What is known of a replayed entry in the form of smaps: its maps line and, where there are flags, the
 * VmFlags line with a blank after each flag. Ends in a newline.
 */
export function formatSmapsHeaderAndFlags(entry: MapsEntry): string {
  const header = `${formatMapsLine(entry)}\n`;
  const flags = entry.smaps?.vmFlags ?? null;
  return flags === null
    ? header
    : `${header}VmFlags: ${flags.map((flag) => `${bytesOfText(flag)} `).join('')}\n`;
}
