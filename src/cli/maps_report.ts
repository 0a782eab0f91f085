import { groupEntries, type Group, type GroupBy } from '../analysis/grouping';
import type { Filter } from '../analysis/filter';
import { kindContext } from '../analysis/kind';
import type { SealReporting } from '../analysis/seals';
import type { ParseProblem } from '../base/parse_problem';
import type { SmapsRollup } from '../procfs/maps_document';
import type { MapsEntry } from '../procfs/maps_entry';
import type { Json } from './exact_json';
import { JsonList, mapped, writeJsonDocument } from './json_document';
import { csvLines } from './maps_csv';
import { entryJson, groupJson, problemJson, totalsJson, type EntryContext } from './maps_json';
import { rollupJson, rollupLines } from './maps_rollup';
import { mapsTable, totalsLines } from './maps_view';
import type { Output } from './output';
import { styled } from './styled';

/** An address space as it was asked for: filtered and grouped. */
export interface MapsView {
  /** What a person calls it. */
  readonly title: string;
  /** Mappings that pass the filter, as listed. */
  readonly entries: readonly MapsEntry[];
  /** Those that do not, too. */
  readonly all: readonly MapsEntry[];
  /** The sums of the whole process, where the text has them. */
  readonly rollup: SmapsRollup | null;
  readonly groupBy: GroupBy;
  readonly groups: readonly Group[];
  readonly context: EntryContext;
}

export interface MapsViewInput {
  readonly title: string;
  readonly entries: readonly MapsEntry[];
  readonly sealing: SealReporting;
  readonly filter: Filter | undefined;
  readonly groupBy: GroupBy;
  readonly rollup?: SmapsRollup | null;
}

export function mapsView(input: MapsViewInput): MapsView {
  const all = input.entries;
  const entries = input.filter === undefined ? all : all.filter(input.filter);
  return {
    title: input.title,
    entries,
    all,
    rollup: input.rollup ?? null,
    groupBy: input.groupBy,
    groups: groupEntries(entries, input.groupBy),
    // What is code or data does not depend on what a filter hides.
    context: { kinds: kindContext(all), sealing: input.sealing },
  };
}

/** For a person: what it is, the table, the totals. */
export async function writeMapsTable(view: MapsView, out: Output): Promise<void> {
  await out.line(styled('heading', view.title));
  await out.line();
  if (view.entries.length > 0) {
    await out.lines(mapsTable(view.groups, view.context, out.columns));
    await out.line();
  }
  if (view.rollup !== null) await out.lines(rollupLines(view.rollup));
  if (view.rollup !== null && view.all.length === 0) return;
  await out.lines(totalsLines(view.entries, view.all, view.context));
}

/** The document of `maps --json`; `target` and `source` say what was read. */
export async function writeMapsJson(
  view: MapsView,
  target: string,
  source: Json,
  problems: readonly ParseProblem[],
  out: Output,
): Promise<void> {
  const { entries, context } = view;
  const places = new Map(entries.map((entry, i) => [entry, i]));
  const groups = mapped(view.groups, (group) => groupJson(group, places, context.sealing));
  await writeJsonDocument(out, [
    ['target', target],
    ['source', source],
    ['vmas', new JsonList(mapped(entries, (entry) => entryJson(entry, context)))],
    ...(view.groupBy === 'address' ? [] : [['groups', new JsonList(groups)] as const]),
    ...(view.rollup === null ? [] : [['rollup', rollupJson(view.rollup)] as const]),
    ['totals', totalsJson(entries, context.sealing)],
    ['problems', new JsonList(mapped(problems, problemJson))],
  ]);
}

export async function writeMapsCsv(view: MapsView, out: Output): Promise<void> {
  for (const line of csvLines(view.groups, view.context)) {
    await out.raw(line);
    if (out.closed) return;
  }
}
