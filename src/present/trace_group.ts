import type { Replay } from '../replay/replay_types';
import type { Trace } from '../trace/event';
import { makeNode, type NodeIcon, type TreeNode } from './tree_node';
import { formatCount } from './units';

/** An opened trace with the place where its replay stands. */
export interface TraceInput {
  readonly traceId: string;
  /** File name. */
  readonly label: string;
  /** Full path or address. */
  readonly location: string;
  readonly trace: Trace;
  readonly replay: Replay;
  /** Index of the current step, -1 before the first. */
  readonly position: number;
  /** The life that the other views show; undefined where there is none. */
  readonly lifeId: string | undefined;
  /** Does this trace drive the other views? */
  readonly isCurrent: boolean;
}

/** A group that says how many it holds, or that there are none. */
export function group(
  id: string,
  label: string,
  icon: NodeIcon,
  count: number,
  children: () => readonly TreeNode[],
  options: { readonly expanded?: boolean; readonly detail?: string } = {},
): TreeNode {
  const description = options.detail ?? (count === 0 ? 'none' : formatCount(count));
  const base = { id, label, icon, description, context: 'group' };
  return count === 0 ? makeNode(base) : makeNode({ ...base, expanded: options.expanded ?? false, children });
}
