import {
  isDeletedFile,
  isWritableAndExecutable,
  kindOf,
  ownerOf,
  type Kind,
  type KindContext,
} from '../analysis/kind';
import { sealedOf, type SealReporting } from '../analysis/seals';
import { kilobytes, sizeOf } from '../analysis/totals';
import { timesExact } from '../analysis/exact_sum';
import { hexOfU64, type U64 } from '../mm/addr';
import type { MapsEntry, SmapsFields, SmapsValue } from '../procfs/maps_entry';
import { printable } from '../base/bytes';
import { mappingName, rangeText, shortName } from './entry_text';
import { kindIcon, kindLabel } from './kind_words';
import { tableBlock, textBlock, type Tooltip, type TooltipBlock } from './tooltip';
import { makeNode, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatBytes, formatKilobytes } from './units';
import { flagInWords, permsInWords, smapsFieldInWords } from './words';

/** What all rows of one address space share. */
export interface MappingContext {
  readonly kinds: KindContext;
  readonly sealing: SealReporting;
  /** Mappings that the last step of a replay made or changed. */
  readonly changed: ReadonlySet<MapsEntry>;
}

/** What is to be seen of a mapping at a glance. */
export interface MappingFacts {
  readonly kind: Kind;
  readonly sealed: boolean | null;
  readonly writableExecutable: boolean;
  readonly deletedFile: boolean;
  readonly locked: boolean;
  readonly hugePages: boolean;
  readonly changed: boolean;
  readonly inferred: boolean;
}

export function mappingFacts(entry: MapsEntry, context: MappingContext): MappingFacts {
  const kind = kindOf(entry, context.kinds);
  const flags = entry.smaps?.vmFlags ?? [];
  return {
    kind,
    sealed: sealedOf(entry, context.sealing),
    writableExecutable: isWritableAndExecutable(entry),
    deletedFile: isDeletedFile(entry, kind),
    locked: flags.includes('lo') || (kilobytes(entry, 'Locked') ?? 0) > 0,
    hugePages: kind === 'hugetlb' || flags.includes('hg') || (kilobytes(entry, 'AnonHugePages') ?? 0) > 0,
    changed: context.changed.has(entry),
    inferred: entry.inferred === true,
  };
}

/** The row of one mapping. `id` must be unique in the tree; several rows may show one mapping. */
export function mappingRow(id: string, entry: MapsEntry, context: MappingContext): TreeNode {
  const facts = mappingFacts(entry, context);
  return makeNode({
    id,
    label: shortName(entry.path),
    description: mappingDescription(entry, facts),
    icon: mappingIcon(facts),
    context: ['mapping', entry.line > 0 ? 'has-line' : '', entry.path === '' ? '' : 'has-name']
      .join(' ')
      .trim(),
    accessibility: mappingInWords(entry, facts),
    subject: { kind: 'mapping', entry },
    tooltip: () => mappingTooltip(entry, facts, context.sealing),
  });
}

/**
 * What tells rows apart comes first, because a side bar is narrow: `rw-p 64 kB · sealed · RSS 12 kB · START-END`.
 */
function mappingDescription(entry: MapsEntry, facts: MappingFacts): string {
  const rss = kilobytes(entry, 'Rss');
  const pss = kilobytes(entry, 'Pss');
  const parts = [`${printable(entry.perms)} ${formatBytes(sizeOf(entry))}`.trim(), ...factWords(facts)];
  if (rss !== null) parts.push(`RSS ${formatKilobytes(rss)}`);
  if (pss !== null && pss !== rss) parts.push(`PSS ${formatKilobytes(pss)}`);
  return [...parts, rangeText(entry)].join(' · ');
}

/** What is special about a mapping, a word each, the most urgent first. */
function factWords(facts: MappingFacts): readonly string[] {
  const words: string[] = [];
  if (facts.changed) words.push('changed');
  if (facts.inferred) words.push('inferred');
  if (facts.writableExecutable) words.push('writable and executable');
  if (facts.sealed === true) words.push('sealed');
  if (facts.deletedFile) words.push('deleted');
  if (facts.locked) words.push('locked');
  if (facts.hugePages) words.push('huge pages');
  return words;
}

/** One icon a row: the most urgent fact, else the kind; what the last step changed is coloured. */
function mappingIcon(facts: MappingFacts): NodeIcon {
  const base = factIcon(facts) ?? kindIcon(facts.kind);
  return facts.changed ? { id: base.id, color: 'changed' } : base;
}

function factIcon(facts: MappingFacts): NodeIcon | undefined {
  if (facts.inferred) return { id: 'question' };
  if (facts.writableExecutable) return { id: 'warning', color: 'writableExecutable' };
  if (facts.sealed === true) return { id: 'lock', color: 'sealed' };
  if (facts.deletedFile) return { id: 'trash', color: 'deleted' };
  if (facts.locked) return { id: 'pinned', color: 'locked' };
  if (facts.hugePages) return { id: 'primitive-square' };
  return undefined;
}

/** What a screen reader says: no hex before the name, permissions in words. */
function mappingInWords(entry: MapsEntry, facts: MappingFacts): string {
  const rss = kilobytes(entry, 'Rss');
  return [
    mappingName(entry) === '' ? 'anonymous' : mappingName(entry),
    ...factWords(facts),
    kindLabel(facts.kind),
    permsInWords(entry.perms),
    formatBytes(sizeOf(entry)),
    ...(rss === null ? [] : [`${formatKilobytes(rss)} in memory`]),
    `at ${rangeText(entry)}`,
  ].join(', ');
}

/** Everything that is known of a mapping, every field and every flag in words. */
function mappingTooltip(entry: MapsEntry, facts: MappingFacts, sealing: SealReporting): Tooltip {
  const name = mappingName(entry);
  const pages = Math.max(0, entry.end - entry.start);
  const owner = ownerOf(entry);
  const rows: [string, string][] = [
    ['Range', rangeText(entry)],
    ['Size', `${formatBytes(sizeOf(entry))} (${counted(pages, 'page')})`],
    ['Permissions', `${entry.perms} (${permsInWords(entry.perms)})`],
    [
      'Kind',
      owner === undefined ? kindLabel(facts.kind) : `${kindLabel(facts.kind)}, by its name ${owner.label}`,
    ],
    ['Sealed', sealedInWords(facts.sealed, entry, sealing)],
  ];
  if (entry.inode !== '0' || entry.path.startsWith('/')) {
    rows.push(['Offset', `0x${hexOfU64(entry.offset)}`], ['Device', entry.dev], ['Inode', entry.inode]);
  }
  if (facts.deletedFile) rows.push(['File', 'deleted, or really called so']);
  if (facts.writableExecutable) rows.push(['Note', 'writable and executable at the same time']);
  return {
    title: name === '' ? 'anonymous' : name,
    blocks: [
      tableBlock('', rows),
      ...(entry.smaps === null ? [NO_SMAPS] : smapsBlocks(entry.smaps, sizeOf(entry))),
    ],
  };
}

const NO_SMAPS = textBlock('Plain maps: memory use and flags are only in smaps.');

function sealedInWords(sealed: boolean | null, entry: MapsEntry, sealing: SealReporting): string {
  if (sealed === true) return 'yes, by mseal: cannot be unmapped, moved or re-protected';
  if (sealed === false) return sealing === 'impossible' ? 'no: this kernel has no mseal' : 'no';
  return (entry.smaps?.vmFlags ?? null) === null
    ? 'unknown: only the flags of smaps show it'
    : 'unknown: the kernel that wrote this may not show seals';
}

/** Flags first, which are few words; then the fields with a value, and in one line each those that say little. */
function smapsBlocks(smaps: SmapsFields, size: U64): readonly TooltipBlock[] {
  const shown: [string, string, string][] = [];
  const zero: string[] = [];
  for (const [name, value] of fieldsWorthARow(smaps.fields, size)) {
    if (value.kind === 'number' && value.value === 0) zero.push(name);
    else shown.push([name, smapsValueText(value), smapsFieldInWords(name) ?? '']);
  }
  const blocks = [textBlock(flagsInWords(smaps.vmFlags))];
  if (shown.length > 0) blocks.push(tableBlock('Memory', shown));
  if (zero.length > 0) blocks.push(textBlock(`Zero: ${zero.join(', ')}`));
  if (usualPageSizes(smaps.fields)) blocks.push(textBlock('KernelPageSize, MMUPageSize: 4 kB'));
  if (!smaps.complete) {
    blocks.push(textBlock('The text ends inside this entry: what is missing is unknown, not zero.'));
  }
  return blocks;
}

function flagsInWords(vmFlags: readonly string[] | null): string {
  if (vmFlags === null) return 'Flags are unknown: there is no VmFlags line.';
  if (vmFlags.length === 0) return 'Flags: none';
  return `Flags: ${vmFlags.map((flag) => `${flag} (${flagInWords(flag)})`).join(', ')}`;
}

/** Without what is said elsewhere: the size, where it is that of the range, and pages of 4 kB. */
function fieldsWorthARow(
  fields: ReadonlyMap<string, SmapsValue>,
  size: U64,
): readonly (readonly [string, SmapsValue])[] {
  const usual = usualPageSizes(fields);
  return [...fields].filter(([name, value]) => {
    if (name === 'Size') return value.kind !== 'number' || timesExact(value.value, 1024) !== size;
    return !(usual && (name === 'KernelPageSize' || name === 'MMUPageSize'));
  });
}

function usualPageSizes(fields: ReadonlyMap<string, SmapsValue>): boolean {
  return ['KernelPageSize', 'MMUPageSize'].every((name) => {
    const value = fields.get(name);
    return value?.kind === 'number' && value.unit === 'kB' && value.value === 4;
  });
}

/** A field's value as a person reads it. */
function smapsValueText(value: SmapsValue): string {
  if (value.kind === 'text') return value.text;
  if (value.unit === 'kB') return formatKilobytes(value.value);
  return value.unit === '' ? value.value.toString() : `${value.value} ${value.unit}`;
}
