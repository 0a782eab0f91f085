import type { MapsEntry } from '../procfs/maps_entry';
import { KINDS, fileIdentity, kindContext, kindOf, ownerOf, type Kind } from './kind';

export const GROUPINGS = ['address', 'mapping', 'kind', 'name', 'perms'] as const;
export type GroupBy = (typeof GROUPINGS)[number];

export function isGroupBy(value: unknown): value is GroupBy {
  return GROUPINGS.some((grouping) => grouping === value);
}

/** Mappings that belong together under one way of grouping. */
export interface Group {
  /** Unique among the groups of one grouping and stable while the address space changes. */
  readonly key: string;
  readonly by: GroupBy;
  /** By kind: the kind. */
  readonly kind?: Kind;
  /** By kind: the owner that the names announce. */
  readonly owner?: string;
  /** In the order of the input; never empty, except for the one group of an empty list by address. */
  readonly entries: readonly MapsEntry[];
}

/**
 * Sorts mappings into groups.
 * - `address`: one group with everything, as listed.
 * - `mapping`: what is probably one mmap or one loaded file: all pieces of a file; neighbours of equal name.
 * - `kind`: by {@link Kind}, named memory also by the owner of its name.
 * - `name`: by the last column of maps; what has none comes last.
 * - `perms`: by permissions, `rwxp` first.
 */
export function groupEntries(entries: readonly MapsEntry[], by: GroupBy): readonly Group[] {
  switch (by) {
    case 'address':
      return [{ key: 'address', by, entries }];
    case 'mapping':
      return groupsByMapping(entries);
    case 'kind':
      return groupsByKind(entries);
    case 'name':
      return collect(entries, by, (entry) => entry.path).sort((a, b) => compareNames(nameOf(a), nameOf(b)));
    case 'perms':
      return collect(entries, by, (entry) => entry.perms).sort((a, b) => (a.key < b.key ? 1 : -1));
  }
}

/** The last column of maps shared by a group's entries, '' without one. For groups by name or mapping. */
export function nameOf(group: Group): string {
  return group.entries[0]?.path ?? '';
}

function collect(entries: readonly MapsEntry[], by: GroupBy, key: (entry: MapsEntry) => string): Group[] {
  const groups = new Map<string, MapsEntry[]>();
  for (const entry of entries) {
    const k = key(entry);
    const group = groups.get(k);
    if (group === undefined) groups.set(k, [entry]);
    else group.push(entry);
  }
  return [...groups].map(([k, members]) => ({ key: `${by}:${k}`, by, entries: members }));
}

function groupsByMapping(entries: readonly MapsEntry[]): readonly Group[] {
  const groups = new Map<string, MapsEntry[]>();
  let previous: MapsEntry | undefined;
  let runKey = '';
  for (const entry of entries) {
    const isFile = entry.path !== '' && entry.anonName === null && !entry.path.startsWith('[');
    // Pieces of one file are one group wherever they are; anonymous memory only while it has no gap.
    const continues = previous?.end === entry.start && previous.path === entry.path && !isFile;
    if (isFile) runKey = `file ${fileIdentity(entry)}`;
    else if (!continues) runKey = `at ${entry.start.toString(16)}`;
    const group = groups.get(runKey);
    if (group === undefined) groups.set(runKey, [entry]);
    else group.push(entry);
    previous = entry;
  }
  return [...groups].map(([key, members]) => ({ key: `mapping:${key}`, by: 'mapping', entries: members }));
}

function groupsByKind(entries: readonly MapsEntry[]): readonly Group[] {
  const context = kindContext(entries);
  const groups = new Map<string, { kind: Kind; owner: string | undefined; entries: MapsEntry[] }>();
  for (const entry of entries) {
    const kind = kindOf(entry, context);
    const owner = kind === 'named' || kind === 'shared' ? ownerOf(entry) : undefined;
    const key = `kind:${kind}${owner === undefined ? '' : ` ${owner.id}`}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { kind, owner: owner?.label, entries: [entry] });
    else group.entries.push(entry);
  }
  return [...groups]
    .map(([key, group]): Group => {
      const base = { key, by: 'kind', kind: group.kind, entries: group.entries } as const;
      return group.owner === undefined ? base : { ...base, owner: group.owner };
    })
    .sort((a, b) => kindRank(a) - kindRank(b) || compareNames(a.owner ?? '', b.owner ?? ''));
}

function kindRank(group: Group): number {
  return group.kind === undefined ? KINDS.length : KINDS.indexOf(group.kind);
}

/** Text order that does not depend on a locale; what has no name comes last. */
function compareNames(a: string, b: string): number {
  if ((a === '') !== (b === '')) return a === '' ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
