import type { MapsEntry } from '../procfs/maps_entry';
import { totalsOf } from '../analysis/totals';
import { printable } from '../base/bytes';
import type { Instant, NameHolder, NameObject, ProcessLife, Replay } from '../replay/replay_types';
import { rangeText } from './entry_text';
import { totalsText } from './address_space_tree';
import { tableBlock, textBlock, type Tooltip } from './tooltip';
import { makeNode, rowsOf, type TreeNode } from './tree_node';
import { counted, formatBytes } from './units';
import { bytesOfPages } from '../mm/addr';

/** A name as people write it, with what the capture left out. */
export function nameText(object: NameObject['object']): string {
  const text = printable(object.text);
  switch (object.certainty) {
    case 'exact':
      return `"${text}"`;
    case 'prefix':
      return `"${text}…"`;
    case 'pointer':
      return `unknown text (${text})`;
  }
}

/** Name objects of one instant of a replay, in order of creation. */
export function nameObjectsTree(replay: Replay, instant: Instant, traceId: string): readonly TreeNode[] {
  const lives = new Map(instant.lives.map((life) => [life.id, life]));
  const names = instant.names();
  return rowsOf({
    id: 'names',
    items: names,
    row: (name) => nameRow(name, { replay, lives, traceId }),
    range: (from, to) => ({
      label: `#${names[from]?.object.id ?? ''} to #${names[to - 1]?.object.id ?? ''}`,
      description: counted(to - from, 'name object'),
    }),
  });
}

interface NameContext {
  readonly replay: Replay;
  readonly lives: ReadonlyMap<string, ProcessLife>;
  readonly traceId: string;
}

function nameRow(name: NameObject, context: NameContext): TreeNode {
  const object = name.object;
  const holders = holdersByLife(name.holders);
  const parts = [`#${object.id}`, counted(name.refs, 'reference')];
  if (holders.size > 1) parts.push(`shared by ${counted(holders.size, 'process', 'processes')}`);
  if (object.inferred) parts.push('inferred');
  return makeNode({
    id: `name ${object.id}`,
    label: nameText(object),
    description: parts.join(' · '),
    icon: { id: holders.size > 1 ? 'references' : 'tag' },
    context: 'name',
    accessibility: `name ${nameText(object)}, object ${object.id}, ${parts.slice(1).join(', ')}`,
    tooltip: () => nameTooltip(name, holders.size),
    children: () => [creatorRow(name, context), ...holderRows(name, holders, context)],
  });
}

function nameTooltip(name: NameObject, processes: number): Tooltip {
  const object = name.object;
  const rows: [string, string][] = [
    ['Object', `#${object.id}`],
    ['References', `${name.refs}: one for each mapping that carries the name`],
    ['Held by', counted(processes, 'process', 'processes')],
    ['Created', creatorText(name)],
  ];
  const notes = [textBlock(CERTAINTY_WORDS[object.certainty])];
  if (object.inferred) {
    notes.push(
      textBlock(
        'Found in a snapshot: which mappings share one object is concluded, not shown by the kernel.',
      ),
    );
  }
  return { title: nameText(object), blocks: [tableBlock('', rows), ...notes] };
}

const CERTAINTY_WORDS = {
  exact: 'The text of an object never changes: renaming a mapping points it to a new object.',
  prefix: 'The capture cut the text: only its beginning is known (strace -s sets how much is kept).',
  pointer: 'The capture shows only where the text was, not the text.',
} as const;

function creatorText(name: NameObject): string {
  const { line, pid } = name.object.createdAt;
  return line === 0 ? 'before anything that the trace shows' : `line ${line}, by process ${pid}`;
}

function creatorRow(name: NameObject, context: NameContext): TreeNode {
  const { line } = name.object.createdAt;
  const base = {
    id: `name ${name.object.id}/creator`,
    label: 'created',
    description: creatorText(name),
    icon: { id: 'history' },
  };
  if (line === 0) return makeNode(base);
  const index = context.replay.stepAtLine(line);
  return makeNode({
    ...base,
    context: 'instant',
    subject: { kind: 'instant', traceId: context.traceId, index },
  });
}

function holdersByLife(holders: readonly NameHolder[]): ReadonlyMap<string, readonly NameHolder[]> {
  const byLife = new Map<string, NameHolder[]>();
  for (const holder of holders) {
    const list = byLife.get(holder.lifeId);
    if (list === undefined) byLife.set(holder.lifeId, [holder]);
    else list.push(holder);
  }
  return byLife;
}

function holderRows(
  name: NameObject,
  holders: ReadonlyMap<string, readonly NameHolder[]>,
  context: NameContext,
): readonly TreeNode[] {
  const lives = [...holders];
  const parent = `name ${name.object.id}`;
  return rowsOf({
    id: `${parent}/holders`,
    items: lives,
    // One place is taken by the creator.
    max: 499,
    row: ([lifeId, held]) => holderRow(`${parent}/${lifeId}`, lifeId, held, context),
    range: (from, to) => ({ label: 'held by', description: counted(to - from, 'process', 'processes') }),
  });
}

function holderRow(id: string, lifeId: string, held: readonly NameHolder[], context: NameContext): TreeNode {
  const life = context.lives.get(lifeId);
  const pages = held.reduce((sum, each) => sum + (each.end - each.start), 0);
  return makeNode({
    id,
    label: `${held[0]?.pid ?? ''} ${printable(life?.command ?? '')}`.trim(),
    description: `${counted(held.length, 'mapping')} · ${formatBytes(bytesOfPages(pages))}`,
    icon: { id: 'server-process' },
    context: 'life',
    subject: { kind: 'life', traceId: context.traceId, lifeId },
    children: () =>
      rowsOf({
        id,
        items: held,
        row: (holder) =>
          makeNode({
            id: `${id}/${holder.start.toString(16)}`,
            label: rangeText(holder),
            description: formatBytes(bytesOfPages(holder.end - holder.start)),
            icon: { id: 'circle-small-filled' },
            context: 'holder',
          }),
        range: (from, to) => ({ label: 'mappings', description: counted(to - from, 'mapping') }),
      }),
  });
}

/** What can be said where the kernel shows names but not the objects behind them. */
export const NAMES_WITHOUT_OBJECTS =
  'The kernel shows names, not the objects behind them. Equal names are put together here; which of them share one object is unknown.';

/** Names of a live process or a saved file: equal texts together, objects unknown. */
export function equalNamesTree(entries: readonly MapsEntry[]): readonly TreeNode[] {
  const byName = new Map<string, MapsEntry[]>();
  for (const entry of entries) {
    if (entry.anonName === null) continue;
    const list = byName.get(entry.anonName);
    if (list === undefined) byName.set(entry.anonName, [entry]);
    else list.push(entry);
  }
  const names = [...byName].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return rowsOf({
    id: 'equal names',
    items: names,
    row: ([name, held]) => equalNameRow(name, held),
    range: (from, to) => ({
      label: `${printable(names[from]?.[0] ?? '')} … ${printable(names[to - 1]?.[0] ?? '')}`,
      description: counted(to - from, 'name'),
    }),
  });
}

function equalNameRow(name: string, held: readonly MapsEntry[]): TreeNode {
  const id = `equal name ${name}`;
  const objects = held.length === 1 ? '1 object' : 'objects unknown';
  return makeNode({
    id,
    label: `"${printable(name)}"`,
    description: `${totalsText(totalsOf(held))} · ${objects}`,
    icon: { id: 'tag' },
    context: 'name',
    tooltip: () => ({ title: `"${printable(name)}"`, blocks: [textBlock(NAMES_WITHOUT_OBJECTS)] }),
    children: () =>
      rowsOf({
        id,
        items: held,
        row: (entry, index) =>
          makeNode({
            id: `${id}/${entry.start.toString(16)} ${index}`,
            label: rangeText(entry),
            description: `${printable(entry.perms)} ${formatBytes(bytesOfPages(Math.max(0, entry.end - entry.start)))}`,
            icon: { id: 'circle-small-filled' },
            context: 'mapping',
            subject: { kind: 'mapping', entry },
          }),
        range: (from, to) => ({ label: 'mappings', description: counted(to - from, 'mapping') }),
      }),
  });
}
