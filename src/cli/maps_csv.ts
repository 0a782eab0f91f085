import type { Group } from '../analysis/grouping';
import { kindOf } from '../analysis/kind';
import { sealedOf } from '../analysis/seals';
import { sizeOf } from '../analysis/totals';
import { printable } from '../base/bytes';
import { hexOfU64, hexOfVpn } from '../mm/addr';
import { groupLabel } from '../present/kind_words';
import type { MapsEntry } from '../procfs/maps_entry';
import type { EntryContext } from './maps_json';

/**
 * The mappings as CSV (RFC 4180): a head row, then one row each, group by group. Texts are printable: what a
 * terminal would act on is escaped, and a text that a spreadsheet would run as a formula begins with `'`.
 * Exact texts are in the JSON.
 */
export function* csvLines(groups: readonly Group[], context: EntryContext): Generator<string> {
  const fields = fieldNames(groups);
  const grouped = groups.some((group) => group.by !== 'address');
  yield csvRow([...(grouped ? ['group'] : []), ...COLUMNS, ...fields]);
  for (const group of groups) {
    const label = grouped ? [quoted(groupLabel(group))] : [];
    for (const entry of group.entries)
      yield csvRow([...label, ...cells(entry, context), ...fieldCells(entry, fields)]);
  }
}

const COLUMNS = [
  'start',
  'end',
  'perms',
  'offset',
  'dev',
  'inode',
  'path',
  'name',
  'kind',
  'sealed',
  'deleted',
  'bytes',
  'flags',
];

function cells(entry: MapsEntry, context: EntryContext): readonly string[] {
  const sealed = sealedOf(entry, context.sealing);
  return [
    hexOfVpn(entry.start),
    hexOfVpn(entry.end),
    /^[r-][w-][x-][ps-]$/.test(entry.perms) ? entry.perms : quoted(entry.perms),
    hexOfU64(entry.offset),
    quoted(entry.dev),
    entry.inode,
    quoted(entry.path),
    // An empty name is not the same as none.
    entry.anonName === null ? '' : entry.anonName === '' ? '""' : quoted(entry.anonName),
    kindOf(entry, context.kinds),
    sealed === null ? '' : String(sealed),
    String(entry.deleted),
    sizeOf(entry).toString(),
    quoted((entry.smaps?.vmFlags ?? []).join(' ')),
  ];
}

function fieldCells(entry: MapsEntry, fields: readonly string[]): readonly string[] {
  return fields.map((field) => {
    const value = entry.smaps?.fields.get(field);
    if (value === undefined) return '';
    return value.kind === 'text' ? quoted(value.text) : value.value.toString();
  });
}

/** Every field that some mapping has, in the order in which they first appear. */
function fieldNames(groups: readonly Group[]): readonly string[] {
  const names = new Set<string>();
  for (const group of groups) {
    for (const entry of group.entries) for (const name of entry.smaps?.fields.keys() ?? []) names.add(name);
  }
  return [...names];
}

function csvRow(row: readonly string[]): string {
  return `${row.join(',')}\r\n`;
}

function quoted(text: string): string {
  const safe = printable(text);
  const inert = /^[=+\-@]/.test(safe) ? `'${safe}` : safe;
  return /[",]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
