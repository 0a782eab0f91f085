import { ok, type Result } from '../base/result';
import { assert } from '../base/assert';
import type { Vpn } from './addr';
import type { Mm } from './mm';
import { overLimit, refuse, type Refusal } from './refusal';
import { vmaForbidsSplit, vmaResized, type Vma } from './vma';
import { mergeExisting, type VmaAttributes } from './vma_merge';

/**
 * `__split_vma`, the one split routine: AAAA → AA|aa at `at`. Both halves keep name object, anon_vma and all else.
 * No look at the map count: callers that must not exceed it ask first.
 */
export function splitVma(mm: Mm, index: number, at: Vpn): Result<void, Refusal> {
  const vma = mm.tree.at(index);
  assert(vma !== undefined && vma.start < at && at < vma.end, 'a split lies inside its VMA');
  const forbidden = vmaForbidsSplit(vma, at);
  if (forbidden !== undefined) return refuse('EINVAL', forbidden, vma);
  const upper = { ...vmaResized(vma, at, vma.end), name: mm.nameForHolder(vma.name) };
  mm.replace(index, 1, [vmaResized(vma, vma.start, at), upper]);
  return ok(undefined);
}

/** `split_vma`: refused at vm.max_map_count. */
function splitVmaWithinLimit(mm: Mm, index: number, at: Vpn): Result<void, Refusal> {
  if (mm.mapCount >= mm.system.maxMapCount) {
    return overLimit(
      'ENOMEM',
      'the split would exceed vm.max_map_count (split_vma)',
      mm.tree.at(index) ?? null,
    );
  }
  return splitVma(mm, index, at);
}

/**
 * `vma_modify`: gives `attributes` to [start, end) of the VMA at `index`, joining neighbours that then fit, else
 * splitting at both ends. Returns the index of the VMA that now holds the range. When the second split is refused the
 * first one stays, as in the kernel.
 */
export function modifyVma(
  mm: Mm,
  index: number,
  start: Vpn,
  end: Vpn,
  attributes: VmaAttributes,
): Result<number, Refusal> {
  const merged = mergeExisting(mm, index, start, end, attributes);
  if (merged !== undefined) return ok(merged);
  let at = index;
  const vma = vmaAt(mm, index);
  if (start > vma.start) {
    const split = splitVmaWithinLimit(mm, at, start);
    if (!split.ok) return split;
    at++;
  }
  if (end < vma.end) {
    const split = splitVmaWithinLimit(mm, at, end);
    if (!split.ok) return split;
  }
  mm.replace(at, 1, [{ ...vmaAt(mm, at), ...attributes }]);
  return ok(at);
}

/** Changes attributes of the whole VMA at `index` without asking its neighbours. */
export function setVma(mm: Mm, index: number, change: Partial<Vma>): void {
  mm.replace(index, 1, [{ ...vmaAt(mm, index), ...change }]);
}

/** The VMA at an index that is known to exist. */
export function vmaAt(mm: Mm, index: number): Vma {
  const vma = mm.tree.at(index);
  assert(vma !== undefined, 'the index names a VMA');
  return vma;
}
