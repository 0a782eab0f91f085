import { assert } from '../base/assert';

/** Most children that one tree node may have: beyond it a person scrolls and an editor stutters. */
export const MAX_CHILDREN = 500;

/** A run `[from, to)` of a list, cut again where it is longer than one node may hold. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts `[from, to)` into at most `max` runs of equal length, each of which takes the same number of further
 * levels. Undefined where nothing needs to be cut.
 */
export function splitIntoRanges(
  from: number,
  to: number,
  max: number = MAX_CHILDREN,
): readonly Range[] | undefined {
  assert(max >= 2, 'a node that holds fewer than two children never ends');
  const length = to - from;
  if (length <= max) return undefined;
  // The smallest power of `max` that leaves at most `max` runs.
  let size = max;
  while (Math.ceil(length / size) > max) size *= max;
  const ranges: Range[] = [];
  for (let at = from; at < to; at += size) ranges.push({ from: at, to: Math.min(to, at + size) });
  return ranges;
}
