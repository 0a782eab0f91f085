import type { MapsEntry } from '../procfs/maps_entry';
import { MAX_CHILDREN, splitIntoRanges } from '../analysis/ranges';
import type { Tooltip } from './tooltip';

/** One row of a tree, with everything below it. Made lazily: children and tooltips cost nothing until shown. */
export interface TreeNode {
  /** Unique in its tree and the same after a refresh, so that expansion and selection survive. */
  readonly id: string;
  readonly label: string;
  /** Shown after the label, dimmed; '' for none. */
  readonly description: string;
  readonly icon: NodeIcon | undefined;
  /** Words for `when` clauses of menus, separated by blanks. */
  readonly context: string;
  /** What a screen reader says where label and description alone do not say it. */
  readonly accessibility: string | undefined;
  readonly expansion: 'leaf' | 'collapsed' | 'expanded';
  readonly subject: Subject;
  children(): readonly TreeNode[];
  tooltip(): Tooltip | undefined;
}

/** A codicon, with a colour of the theme. */
export interface NodeIcon {
  readonly id: string;
  readonly color?: NodeColor;
}

/** What a colour means; the extension maps each to a theme colour. */
export type NodeColor =
  | 'sealed'
  | 'writableExecutable'
  | 'deleted'
  | 'locked'
  | 'changed'
  | 'denied'
  | 'warning'
  | 'good'
  | 'current'
  | 'dim';

/** What commands on a row act on. */
export type Subject =
  | { readonly kind: 'none' }
  | { readonly kind: 'mapping'; readonly entry: MapsEntry }
  | { readonly kind: 'process'; readonly pid: number }
  | { readonly kind: 'trace'; readonly traceId: string }
  | { readonly kind: 'life'; readonly traceId: string; readonly lifeId: string }
  /** An instant of a replay; `lifeId` where a process in particular is meant. */
  | { readonly kind: 'instant'; readonly traceId: string; readonly index: number; readonly lifeId?: string }
  /** A line of the captured text. */
  | { readonly kind: 'line'; readonly traceId: string; readonly line: number };

/** What {@link makeNode} needs; the rest has defaults. */
export interface NodeSpec {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon?: NodeIcon | undefined;
  readonly context?: string;
  readonly accessibility?: string;
  readonly expanded?: boolean;
  readonly subject?: Subject;
  readonly children?: () => readonly TreeNode[];
  readonly tooltip?: () => Tooltip;
}

/** Makes a row. One without `children` is a leaf; children are made once, when first asked for. */
export function makeNode(spec: NodeSpec): TreeNode {
  let made: readonly TreeNode[] | undefined;
  const expansion = spec.children === undefined ? 'leaf' : spec.expanded === true ? 'expanded' : 'collapsed';
  return {
    id: spec.id,
    label: spec.label,
    description: spec.description ?? '',
    icon: spec.icon,
    context: spec.context ?? '',
    accessibility: spec.accessibility,
    expansion,
    subject: spec.subject ?? { kind: 'none' },
    children: () => (made ??= spec.children?.() ?? []),
    tooltip: () => spec.tooltip?.(),
  };
}

/** How a list becomes rows. */
export interface ListSpec<T> {
  /** Prefix of the ids of range rows; the rows of items bring their own. */
  readonly id: string;
  readonly items: readonly T[];
  readonly row: (item: T, index: number) => TreeNode;
  /** Label and description of the range of items [from, to). */
  readonly range: (from: number, to: number) => { readonly label: string; readonly description: string };
  /** Most children of one node. */
  readonly max?: number;
}

/**
 * Rows of a list; a list longer than one node may hold is put into ranges, and those into ranges again. Ranges
 * are told apart by their place, not by what is in them, so that they stay open while the list changes.
 */
export function rowsOf<T>(spec: ListSpec<T>): readonly TreeNode[] {
  return rowsBetween(spec, 0, spec.items.length, spec.max ?? MAX_CHILDREN, spec.id);
}

function rowsBetween<T>(
  spec: ListSpec<T>,
  from: number,
  to: number,
  max: number,
  id: string,
): readonly TreeNode[] {
  const ranges = splitIntoRanges(from, to, max);
  if (ranges === undefined) return spec.items.slice(from, to).map((item, i) => spec.row(item, from + i));
  return ranges.map((range, i) =>
    makeNode({
      id: `${id}/range ${i}`,
      ...spec.range(range.from, range.to),
      icon: { id: 'list-ordered' },
      context: 'range',
      children: () => rowsBetween(spec, range.from, range.to, MAX_CHILDREN, `${id}/range ${i}`),
    }),
  );
}
