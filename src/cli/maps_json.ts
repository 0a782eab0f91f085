import type { Group } from '../analysis/grouping';
import { kindOf, type KindContext } from '../analysis/kind';
import { sealCoverage, sealedOf, type SealReporting } from '../analysis/seals';
import { fieldTotals, totalsOf } from '../analysis/totals';
import type { ParseProblem } from '../base/parse_problem';
import { hexOfU64, hexOfVpn } from '../mm/addr';
import { groupLabel } from '../present/kind_words';
import type { MapsEntry, SmapsFields } from '../procfs/maps_entry';
import { jsonU64, type Json } from './exact_json';

/** What decides how a mapping is described besides itself. */
export interface EntryContext {
  readonly kinds: KindContext;
  readonly sealing: SealReporting;
}

/** One mapping, as cli.md of the project gives it. */
export function entryJson(entry: MapsEntry, context: EntryContext): Json {
  return {
    start: hexOfVpn(entry.start),
    end: hexOfVpn(entry.end),
    perms: entry.perms,
    offset: hexOfU64(entry.offset),
    dev: entry.dev,
    inode: entry.inode,
    path: entry.path,
    name: entry.anonName,
    kind: kindOf(entry, context.kinds),
    sealed: sealedOf(entry, context.sealing),
    deleted: entry.deleted,
    flags: entry.smaps?.vmFlags ?? [],
    flagsKnown: (entry.smaps?.vmFlags ?? null) !== null,
    smaps: entry.smaps === null ? null : smapsJson(entry.smaps),
    complete: entry.smaps?.complete ?? true,
    inferred: entry.inferred === true,
    line: entry.line,
  };
}

/** Fields as printed: amounts as numbers (in kB where smaps prints kB), anything else as text. */
function smapsJson(smaps: SmapsFields): Json {
  const fields: Record<string, Json> = {};
  for (const [name, value] of smaps.fields) {
    fields[name] = value.kind === 'text' ? value.text : jsonU64(value.value);
  }
  return fields;
}

/** Sums over the mappings that are shown; smaps sums are in kB, null where there is nothing to add. */
export function totalsJson(entries: readonly MapsEntry[], sealing: SealReporting): Json {
  const totals = totalsOf(entries);
  const sums = fieldTotals(entries);
  const seals = sealCoverage(entries, sealing);
  return {
    vmas: totals.count,
    bytes: jsonU64(totals.bytes),
    smaps: sums.size === 0 ? null : Object.fromEntries([...sums].map(([name, sum]) => [name, jsonU64(sum)])),
    unmeasured: totals.unmeasured,
    sealed: {
      state: seals.state,
      vmas: seals.sealed.length,
      bytes: jsonU64(seals.sealedBytes),
      unknown: seals.unknownCount,
    },
  };
}

/** A group by its label, with the places of its mappings in `vmas`. */
export function groupJson(
  group: Group,
  places: ReadonlyMap<MapsEntry, number>,
  sealing: SealReporting,
): Json {
  return {
    label: groupLabel(group),
    vmas: group.entries.map((entry) => places.get(entry) ?? -1),
    totals: totalsJson(group.entries, sealing),
  };
}

export function problemJson(problem: ParseProblem): Json {
  return { line: problem.line, code: problem.code, text: problem.text };
}
