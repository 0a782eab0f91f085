import type { Group } from '../analysis/grouping';
import { sealCoverage } from '../analysis/seals';
import { kilobytes, sizeOf, totalsOf, type Totals } from '../analysis/totals';
import type { U64 } from '../mm/addr';
import { coverageText } from '../present/address_space_tree';
import { mappingName, rangeText } from '../present/entry_text';
import { groupDetail, groupLabel } from '../present/kind_words';
import { mappingFacts, type MappingFacts } from '../present/mapping_row';
import { counted, formatBytes, formatKilobytes } from '../present/units';
import type { MapsEntry } from '../procfs/maps_entry';
import type { EntryContext } from './maps_json';
import { fitText, styled, type Line, type Span } from './styled';
import { tableLines, type Column } from './table';

/**
 * What a person reads: a table of mappings in groups, or of the groups alone. `width` is the terminal's,
 * undefined elsewhere.
 */
export function mapsTable(
  groups: readonly Group[],
  context: EntryContext,
  width: number | undefined,
  detail: 'mappings' | 'groups' = 'mappings',
): Line[] {
  const entries = groups.flatMap((group) => group.entries);
  const measured = entries.some((entry) => (entry.smaps?.fields.size ?? 0) > 0);
  const swapped = entries.some((entry) => (kilobytes(entry, 'Swap') ?? 0) > 0);
  const rows: Line[][] = [];
  const layout = { measured, swapped, indent: groups.every((group) => group.by === 'address') ? '' : '  ' };
  const facts = { ...context, changed: new Set<MapsEntry>() };
  for (const group of groups) {
    if (group.by !== 'address') rows.push(groupRow(group, layout));
    for (const entry of detail === 'groups' ? [] : group.entries) {
      rows.push(entryRow(entry, mappingFacts(entry, facts), layout));
    }
  }
  return tableLines(columnsOf(layout), rows, width);
}

interface Layout {
  readonly measured: boolean;
  readonly swapped: boolean;
  /** Before the mappings of a group. */
  readonly indent: string;
}

/** A range of 48-bit addresses; what is longer ([vsyscall]) may stick out. */
const RANGE_WIDTH = 25;

function columnsOf(layout: Layout): readonly Column[] {
  const amount = (title: string): Column => ({ title, align: 'right' });
  return [
    { title: 'range', align: 'left', max: layout.indent.length + RANGE_WIDTH },
    { title: 'perm', align: 'left' },
    amount('size'),
    ...(layout.measured ? [amount('RSS'), amount('PSS')] : []),
    ...(layout.swapped ? [amount('swap')] : []),
    { title: 'name', align: 'left', keep: 'end' },
  ];
}

function groupRow(group: Group, layout: Layout): Line[] {
  const totals = totalsOf(group.entries);
  const sum = (kB: U64 | null): Line => {
    if (kB === null) return styled('dim', '?');
    return kB === 0 ? styled('dim', '0') : styled('heading', formatKilobytes(kB));
  };
  const detail = groupDetail(group);
  return [
    styled('heading', fitText(groupLabel(group), RANGE_WIDTH + 8, 'start')),
    '',
    styled('heading', formatBytes(totals.bytes)),
    ...(layout.measured ? [sum(totals.rss), sum(totals.pss)] : []),
    ...(layout.swapped ? [sum(totals.swap)] : []),
    styled('dim', counted(totals.count, 'mapping') + (detail === '' ? '' : `, ${detail}`)),
  ];
}

function entryRow(entry: MapsEntry, facts: MappingFacts, layout: Layout): Line[] {
  const amount = (field: string): Line => {
    const kB = kilobytes(entry, field);
    if (kB === null) return layout.measured ? styled('dim', '?') : '';
    return kB === 0 ? styled('dim', '0') : formatKilobytes(kB);
  };
  return [
    `${layout.indent}${rangeText(entry)}`,
    facts.writableExecutable ? styled('bad', entry.perms) : entry.perms,
    formatBytes(sizeOf(entry)),
    ...(layout.measured ? [amount('Rss'), amount('Pss')] : []),
    ...(layout.swapped ? [amount('Swap')] : []),
    nameCell(entry, facts),
  ];
}

/** What is special, a word each, then the name as the kernel prints it. */
function nameCell(entry: MapsEntry, facts: MappingFacts): Line {
  const marks: Span[] = [];
  if (facts.inferred) marks.push(styled('warn', 'inferred '));
  if (facts.sealed === true) marks.push(styled('good', 'sealed '));
  if (facts.writableExecutable) marks.push(styled('bad', 'w+x '));
  if (facts.locked) marks.push(styled('accent', 'locked '));
  if (facts.hugePages) marks.push(styled('accent', 'huge '));
  const name = mappingName(entry);
  return [...marks, entry.anonName === null ? name : styled('name', name)];
}

/**
 * The lines under a table: totals of what it shows, and of everything where that is more; what is known of seals.
 */
export function totalsLines(
  shown: readonly MapsEntry[],
  all: readonly MapsEntry[],
  context: EntryContext,
): Line[] {
  const seals = coverageText(sealCoverage(shown, context.sealing), context.sealing, shown);
  const filtered = shown.length < all.length;
  return [
    [styled('heading', filtered ? 'shown   ' : 'total   '), totalsWords(totalsOf(shown))],
    [styled('heading', 'sealed  '), seals],
    ...(filtered ? [[styled('heading', 'of all  '), totalsWords(totalsOf(all))]] : []),
  ];
}

/** `41 mappings, 12.3 MiB; RSS 4.1 MiB, PSS 1.2 MiB, swap 0 kB` */
function totalsWords(totals: Totals): string {
  const space = `${counted(totals.count, 'mapping')}, ${formatBytes(totals.bytes)}`;
  const sums = [
    totals.rss === null ? '' : `RSS ${formatKilobytes(totals.rss)}`,
    totals.pss === null ? '' : `PSS ${formatKilobytes(totals.pss)}`,
    totals.swap === null ? '' : `swap ${formatKilobytes(totals.swap)}`,
  ].filter((text) => text !== '');
  if (sums.length === 0) return space;
  const unknown =
    totals.unmeasured === 0 ? '' : ` (${counted(totals.unmeasured, 'mapping')} not fully measured)`;
  return `${space}; ${sums.join(', ')}${unknown}`;
}
