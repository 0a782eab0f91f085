import { parseFilter } from '../analysis/filter';
import { groupEntries, type Group, type GroupBy } from '../analysis/grouping';
import { kindContext } from '../analysis/kind';
import { MAX_CHILDREN } from '../analysis/ranges';
import { sealCoverage, type SealCoverage, type SealReporting } from '../analysis/seals';
import { totalsOf, type Totals } from '../analysis/totals';
import type { U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';
import { addressText, mappingName } from './entry_text';
import { groupDetail, groupLabel, kindIcon, kindInWords } from './kind_words';
import { mappingRow, type MappingContext } from './mapping_row';
import { tableBlock, textBlock, type Tooltip } from './tooltip';
import { makeNode, rowsOf, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatBytes, formatCount, formatKilobytes, formatShare } from './units';

/** An address space as it is to be shown. */
export interface AddressSpaceInput {
  readonly entries: readonly MapsEntry[];
  readonly sealing: SealReporting;
  readonly groupBy: GroupBy;
  /** Query of analysis/filter; '' for everything. */
  readonly filter: string;
  /** What the last step of a replay changed; empty elsewhere. */
  readonly changed: ReadonlySet<MapsEntry>;
}

export interface AddressSpaceTree {
  readonly roots: readonly TreeNode[];
  /** Mappings that pass the filter. */
  readonly shown: number;
  readonly total: number;
}

/** The tree of an address space: the pinned Sealed group, then mappings or groups of them. */
export function addressSpaceTree(input: AddressSpaceInput): AddressSpaceTree {
  const total = input.entries.length;
  if (total === 0) return { roots: [], shown: 0, total };
  const filter = parseFilter(input.filter);
  const entries = filter === undefined ? input.entries : input.entries.filter(filter);
  const context: MappingContext = {
    // What is code or data does not depend on what a filter hides.
    kinds: kindContext(input.entries),
    sealing: input.sealing,
    changed: input.changed,
  };
  const sealed = sealedGroup(entries, context);
  const rest =
    input.groupBy === 'address'
      ? mappingRows('address', entries, context, MAX_CHILDREN - 1)
      : groupRows(groupEntries(entries, input.groupBy), context);
  return { roots: [sealed, ...rest], shown: entries.length, total };
}

function sealedGroup(entries: readonly MapsEntry[], context: MappingContext): TreeNode {
  const coverage = sealCoverage(entries, context.sealing);
  const spec = {
    id: 'sealed',
    label: 'Sealed',
    description: coverageText(coverage, context.sealing, entries),
    context: 'sealed',
    icon: sealedIcon(coverage),
    tooltip: () => ({ title: 'Sealed', blocks: [textBlock(coverageHelp(coverage, context.sealing))] }),
  };
  if (coverage.sealed.length === 0) return makeNode(spec);
  return makeNode({ ...spec, children: () => mappingRows('sealed', coverage.sealed, context) });
}

function sealedIcon(coverage: SealCoverage): NodeIcon {
  if (coverage.state === 'some') return { id: 'lock', color: 'sealed' };
  return { id: coverage.state === 'none' ? 'unlock' : 'question', color: 'dim' };
}

/** Coverage in one line: `2 of 41 mappings · 48 kB of 2.1 MiB (2%)`, `none`, or `unknown` with the reason. */
export function coverageText(
  coverage: SealCoverage,
  sealing: SealReporting,
  entries: readonly MapsEntry[],
): string {
  if (coverage.state === 'none') return sealing === 'impossible' ? 'none: this kernel has no mseal' : 'none';
  if (coverage.state === 'unknown') {
    return hasFlags(entries)
      ? 'unknown: this kernel may not show seals'
      : 'unknown: plain maps do not show seals';
  }
  const share = formatShare(coverage.sealedBytes, coverage.totalBytes);
  const unknown = coverage.unknownCount === 0 ? '' : ` · ${formatCount(coverage.unknownCount)} unknown`;
  return (
    `${formatCount(coverage.sealed.length)} of ${counted(coverage.totalCount, 'mapping')} · ` +
    `${formatBytes(coverage.sealedBytes)} of ${formatBytes(coverage.totalBytes)} (${share})${unknown}`
  );
}

function coverageHelp(coverage: SealCoverage, sealing: SealReporting): string {
  if (coverage.state === 'some') {
    return 'Sealed memory cannot be unmapped, moved or re-protected until the process ends or executes a new program.';
  }
  if (coverage.state === 'none') {
    return sealing === 'impossible'
      ? 'mseal came with Linux 6.10.'
      : 'The kernel shows seals, and there are none.';
  }
  return 'Only VmFlags in smaps shows seals (sl), and not on every kernel that has mseal. Without it nothing can be said.';
}

function hasFlags(entries: readonly MapsEntry[]): boolean {
  return entries.some((entry) => (entry.smaps?.vmFlags ?? null) !== null);
}

function groupRows(groups: readonly Group[], context: MappingContext): readonly TreeNode[] {
  return rowsOf({
    id: 'groups',
    items: groups,
    max: MAX_CHILDREN - 1,
    row: (group) => groupRow(group, context),
    range: (from, to) => ({
      label: `${groupLabelAt(groups, from)} … ${groupLabelAt(groups, to - 1)}`,
      description: counted(to - from, 'group'),
    }),
  });
}

function groupLabelAt(groups: readonly Group[], index: number): string {
  const group = groups[index];
  return group === undefined ? '' : groupLabel(group);
}

function groupRow(group: Group, context: MappingContext): TreeNode {
  const [first, second] = group.entries;
  const single = group.by === 'mapping' || group.by === 'name';
  // A group of one would only say twice what its row says.
  if (single && first !== undefined && second === undefined) return mappingRow(group.key, first, context);
  const detail = groupDetail(group);
  const totals = totalsText(totalsOf(group.entries));
  return makeNode({
    id: group.key,
    label: groupLabel(group),
    description: detail === '' ? totals : `${detail} · ${totals}`,
    context: 'group',
    icon: groupIcon(group, context),
    tooltip: () => groupTooltip(group),
    children: () => mappingRows(group.key, group.entries, context),
  });
}

/** What the group is, its whole name, and what it takes. */
function groupTooltip(group: Group): Tooltip {
  const totals = totalsOf(group.entries);
  const rows: [string, string][] = [
    ['Mappings', formatCount(totals.count)],
    ['Size', formatBytes(totals.bytes)],
    ...amountRow('RSS', totals.rss),
    ...amountRow('PSS', totals.pss),
    ...amountRow('Swap', totals.swap),
  ];
  const first = group.entries[0];
  const isNamed = group.by === 'mapping' || group.by === 'name';
  return {
    title: isNamed && first !== undefined && first.path !== '' ? mappingName(first) : groupLabel(group),
    blocks: [...(group.kind === undefined ? [] : [textBlock(kindInWords(group.kind))]), tableBlock('', rows)],
  };
}

function amountRow(label: string, kB: U64 | null): readonly [string, string][] {
  return kB === null ? [] : [[label, formatKilobytes(kB)]];
}

function groupIcon(group: Group, context: MappingContext): NodeIcon {
  if (group.by === 'perms') {
    const perms = group.entries[0]?.perms ?? '';
    return /^.wx/.test(perms) ? { id: 'warning', color: 'writableExecutable' } : { id: 'key' };
  }
  const first = group.entries[0];
  if (group.kind !== undefined) return kindIcon(group.kind);
  return first === undefined ? { id: 'folder' } : (mappingRow('', first, context).icon ?? { id: 'folder' });
}

/** `3 mappings · 96 kB · RSS 12 kB`. */
export function totalsText(totals: Totals): string {
  const parts = [counted(totals.count, 'mapping'), formatBytes(totals.bytes)];
  if (totals.rss !== null) parts.push(`RSS ${formatKilobytes(totals.rss)}`);
  if (totals.swap !== null && totals.swap > 0) parts.push(`swap ${formatKilobytes(totals.swap)}`);
  return parts.join(' · ');
}

function mappingRows(
  parent: string,
  entries: readonly MapsEntry[],
  context: MappingContext,
  max = MAX_CHILDREN,
): readonly TreeNode[] {
  const ids = mappingIds(parent, entries);
  return rowsOf({
    id: parent,
    items: entries,
    max,
    row: (entry, index) => mappingRow(ids[index] ?? `${parent}/${index}`, entry, context),
    range: (from, to) => {
      const part = entries.slice(from, to);
      const first = part[0];
      const last = part.at(-1);
      return {
        label:
          first === undefined || last === undefined
            ? ''
            : `${addressText(first.start)}-${addressText(last.end)}`,
        description: totalsText(totalsOf(part)),
      };
    },
  });
}

/** Ids by start address; a start that a torn read lists again gets a number. */
function mappingIds(parent: string, entries: readonly MapsEntry[]): readonly string[] {
  const seen = new Map<number, number>();
  return entries.map((entry) => {
    const before = seen.get(entry.start) ?? 0;
    seen.set(entry.start, before + 1);
    return `${parent}/${entry.start.toString(16)}${before === 0 ? '' : ` ${before}`}`;
  });
}
