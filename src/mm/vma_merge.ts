import type { Vpn } from './addr';
import { anonVmaNameEq, type AnonVmaName } from './anon_vma_name';
import type { Mm } from './mm';
import {
  lessSure,
  untouchedOf,
  vmaHasCloseHook,
  vmaIsAnonymous,
  vmaPages,
  vmaResized,
  type Untouched,
  type Vma,
  type VmFile,
  sameFile,
} from './vma';
import {
  hasAny,
  intersect,
  union,
  unionOf,
  VM_MAYBE_GUARD,
  VM_MAYWRITE,
  VM_NONE,
  VM_SEALED,
  VM_SHARED,
  VM_SOFTDIRTY,
  VM_SPECIAL,
  without,
  type VmFlags,
} from './vm_flags';

/**
 * When ranges join (vma_merge and its successors in mm/vma.c).
 *
 *   existing   the range is inside a VMA and changes an attribute      PPPP[mmmm]NNNN
 *   new        the range is empty and a mapping is placed there        PPPP ....  NNNN
 *
 * The VMA that survives keeps its own name object, also when the other one has an object with equal text.
 */

/** Differences in these do not keep VMAs apart; {@link stickyOf} tells what a merged VMA has. */
const STICKY = unionOf(VM_SOFTDIRTY, VM_MAYBE_GUARD);

/** What a range is or is to become, as far as its neighbours ask. */
export interface MergeRange {
  readonly start: Vpn;
  readonly end: Vpn;
  readonly flags: VmFlags;
  readonly pgoff: number;
  readonly anonPgoff: number;
  readonly file: VmFile | null;
  readonly name: AnonVmaName | null;
  readonly uffd: number | null;
  readonly policy: string | null;
  readonly anonVma: number;
  /** The range's memory was inherited through fork (its VMA, or the VMA that mremap copies). */
  readonly forkChild: boolean;
  readonly untouched: Untouched;
  readonly inferred: boolean;
  /** The VMA that this range only makes longer: they are one memory, whatever was written to it. */
  readonly grownFrom?: Vma;
}

/** Attributes that a call gives to part of an existing VMA. */
export type VmaAttributes = Partial<Pick<Vma, 'flags' | 'name' | 'uffd' | 'policy' | 'untouched'>>;

/**
 * `is_mergeable_vma` without the close hook: attributes that must be equal. What is only concluded stays apart from what
 * was seen: its attributes are not known.
 */
function sameAttributes(n: Vma, range: MergeRange): boolean {
  return (
    without(n.flags, STICKY) === without(range.flags, STICKY) &&
    sameFile(n.file, range.file) &&
    n.special === null &&
    n.inferred === range.inferred &&
    n.uffd === range.uffd &&
    n.policy === range.policy &&
    anonVmaNameEq(n.name, range.name)
  );
}

type AnonState = Pick<Vma, 'anonVma' | 'forkChild'>;

/** `is_mergeable_anon_vma`: may memory of `range` go under the anon_vma of its neighbour `n`? */
function anonVmaFits(mm: Mm, range: AnonState, n: AnonState): boolean {
  if (range.anonVma !== 0 && n.anonVma === 0) return mm.rules.mergeFaultedIntoUnfaulted && !range.forkChild;
  if (range.anonVma === 0 && n.anonVma !== 0) return !n.forkChild;
  return range.anonVma === n.anonVma;
}

/** The same, noting where the answer would be another one if memory taken as untouched had been written to. */
function anonVmaDecides(mm: Mm, range: MergeRange, n: Vma): boolean {
  const fits = anonVmaFits(mm, range, n);
  if (n === range.grownFrom) return fits;
  const writtenRange = writtenState(range.anonVma, range.untouched);
  const writtenN = writtenState(n.anonVma, untouchedOf(n));
  const others = [
    ...(writtenRange === undefined ? [] : [anonVmaFits(mm, writtenRange, n)]),
    ...(writtenN === undefined ? [] : [anonVmaFits(mm, range, writtenN)]),
  ];
  if (others.some((other) => other !== fits)) mm.noteDecides('access');
  return fits;
}

/** An anon_vma that is no other's, for memory that may have been written to; undefined where it has not. */
function writtenState(anonVma: number, untouched: Untouched): AnonState | undefined {
  if (anonVma !== 0 || untouched === 'sure') return undefined;
  return { anonVma: -1, forkChild: untouched === 'before-fork' };
}

/** Do the offsets of private file memory line up (7.3)? */
function anonPgoffFits(mm: Mm, range: MergeRange, expected: number): boolean {
  if (!mm.rules.privateFileAnonPgoff || range.file === null) return true;
  if (hasAny(range.flags, VM_SHARED) || !hasAny(range.flags, VM_MAYWRITE)) return true;
  return range.anonPgoff === expected;
}

/** `can_vma_merge_after`: PPPP[range] */
function canMergeAfter(mm: Mm, prev: Vma | undefined, range: MergeRange): prev is Vma {
  return (
    prev !== undefined &&
    prev.end === range.start &&
    !(mm.rules.closeHookBlocks === 'any' && vmaHasCloseHook(prev)) &&
    sameAttributes(prev, range) &&
    prev.pgoff + vmaPages(prev) === range.pgoff &&
    anonPgoffFits(mm, range, prev.anonPgoff + vmaPages(prev)) &&
    anonVmaDecides(mm, range, prev)
  );
}

/** `can_vma_merge_before`: [range]NNNN */
function canMergeBefore(mm: Mm, next: Vma | undefined, range: MergeRange): next is Vma {
  const pages = range.end - range.start;
  return (
    next !== undefined &&
    next.start === range.end &&
    !(mm.rules.closeHookBlocks !== 'removal' && vmaHasCloseHook(next)) &&
    sameAttributes(next, range) &&
    range.pgoff + pages === next.pgoff &&
    anonPgoffFits(mm, range, next.anonPgoff - pages) &&
    anonVmaDecides(mm, range, next)
  );
}

/** Neighbours that both fit the range must not be under two different anon_vmas. */
function neighboursFit(mm: Mm, prev: Vma, next: Vma): boolean {
  const fit = prev.anonVma === 0 || next.anonVma === 0 || prev.anonVma === next.anonVma;
  // Two that were written to separately have different ones.
  const open = [prev, next].some((vma) => vma.anonVma === 0 && untouchedOf(vma) !== 'sure');
  if (fit && open) mm.noteDecides('access');
  return fit;
}

/**
 * The sticky flags of `survivor` when it takes in `range`, and `other` between or behind them.
 * @param resets the call writes the flags of its range to the whole VMA afterwards
 */
function stickyOf(
  mm: Mm,
  survivor: Vma,
  range: MergeRange,
  other: Vma | undefined,
  resets: boolean,
): VmFlags {
  const all = unionOf(survivor.flags, range.flags, other?.flags ?? VM_NONE);
  if (mm.rules.joinedSoftDirty === 'any-part') return intersect(all, STICKY);
  const decides = resets ? range : survivor;
  return union(intersect(without(all, VM_SOFTDIRTY), STICKY), intersect(decides.flags, VM_SOFTDIRTY));
}

/** Does a call that gives these attributes write all flags? mbind and mseal do not. */
function resetsFlags(before: Vma, attributes: VmaAttributes): boolean {
  if (attributes.policy !== undefined) return false;
  return !hasAny(attributes.flags ?? before.flags, VM_SEALED) || hasAny(before.flags, VM_SEALED);
}

/** `grown` with the anon_vma of what it took in (dup_anon_vma), and the sticky flags that it then has. */
function takeIn(grown: Vma, sticky: VmFlags, parts: readonly MergeRange[]): Vma {
  const untouched = parts.map(untouchedOf).reduce(lessSure, untouchedOf(grown));
  const merged = { ...grown, flags: union(without(grown.flags, STICKY), sticky), untouched };
  if (merged.anonVma !== 0) return merged;
  const source = parts.find((part) => part.anonVma !== 0);
  return source ? { ...merged, anonVma: source.anonVma, forkChild: source.forkChild } : merged;
}

/**
 * vma_merge_existing_range: [start, end) inside the VMA at `index` takes `attributes` on and joins what then
 * fits. Returns the index of the joined VMA, or undefined where nothing joins (and nothing changed).
 */
export function mergeExisting(
  mm: Mm,
  index: number,
  start: Vpn,
  end: Vpn,
  attributes: VmaAttributes,
): number | undefined {
  const vma = mm.tree.at(index);
  if (vma === undefined || vma.special !== null) return undefined;
  const range: MergeRange = { ...vmaResized(vma, start, end), untouched: untouchedOf(vma), ...attributes };
  if (hasAny(range.flags, VM_SPECIAL)) return undefined;
  const prev = start === vma.start ? mm.tree.at(index - 1) : undefined;
  const next = end === vma.end ? mm.tree.at(index + 1) : undefined;
  const left = canMergeAfter(mm, prev, range) ? prev : undefined;
  let right = canMergeBefore(mm, next, range) ? next : undefined;
  if (left !== undefined && right !== undefined && !neighboursFit(mm, left, right)) right = undefined;
  const whole = start === vma.start && end === vma.end;
  const survivor = left ?? right;
  if (survivor === undefined) return undefined;
  // What disappears must not have a close hook.
  if (whole && vmaHasCloseHook(vma)) return undefined;
  if (left !== undefined && right !== undefined && vmaHasCloseHook(right)) right = undefined;

  const sticky = stickyOf(mm, survivor, range, right, resetsFlags(vma, attributes));
  if (left !== undefined && right !== undefined) {
    // PPPP[mmmm]NNNN → PPPPPPPPPPPP
    const grown = takeIn(vmaResized(left, left.start, right.end), sticky, [right, vma]);
    mm.replace(index - 1, 3, [grown]);
    return index - 1;
  }
  if (left !== undefined) {
    // PPPP[mm]mm → PPPPPPmm
    const grown = takeIn(vmaResized(left, left.start, end), sticky, [vma]);
    mm.replace(index - 1, 2, whole ? [grown] : [grown, vmaResized(vma, end, vma.end)]);
    return index - 1;
  }
  if (right === undefined) return undefined;
  // mm[mm]NNNN → mmNNNNNN
  const grown = takeIn(vmaResized(right, start, right.end), sticky, [vma]);
  mm.replace(index, 2, whole ? [grown] : [vmaResized(vma, vma.start, start), grown]);
  return whole ? index : index + 1;
}

/** Where a new range comes from decides how old kernels looked for neighbours. */
export type NewRangeFrom =
  | { readonly by: 'mmap' }
  /** `keep`: the source of MREMAP_DONTUNMAP, which stays and may have a say in the merge. */
  | { readonly by: 'mremap'; readonly keep: Vma | null };

/**
 * Places a new range that no VMA overlaps (vma_merge_new_range, before 6.12 the expansion in mmap_region and
 * vma_merge in copy_vma): joined to its neighbours where they fit, else as a VMA of its own.
 * Returns its index.
 */
export function placeNew(mm: Mm, range: MergeRange, from: NewRangeFrom): number {
  const index = mm.tree.find(range.start);
  const special = hasAny(range.flags, VM_SPECIAL);
  let prev = mm.tree.at(index - 1);
  let next = mm.tree.at(index);
  if (special || !canMergeAfter(mm, prev, range)) prev = undefined;
  if (special || !canMergeBefore(mm, next, range)) next = undefined;
  if (prev !== undefined && next !== undefined) {
    const fit = neighboursFit(mm, prev, next);
    if (mm.rules.newMappingMergesFirstWith === 'next' && from.by === 'mmap') {
      // mmap_region asked prev whether it fits under the anon_vma that next brings along.
      if (!anonVmaFits(mm, next, prev)) prev = undefined;
    } else if (!fit) next = undefined;
    else if (vmaHasCloseHook(next)) next = undefined;
  }
  if (from.by === 'mremap' && from.keep !== null) {
    const { keep } = from;
    const rule = mm.rules.dontunmapBesideSource;
    // Renumbered memory could join its own source. That it lies beside it is enough, whether it fits or not.
    const beside = keep.end === range.start || keep.start === range.end;
    const renumbered = vmaIsAnonymous(keep) && keep.anonVma === 0;
    if (rule === 'no-merge' && beside && renumbered) prev = next = undefined;
    if (rule === 'skips-source' && prev === keep) prev = undefined;
    if (rule === 'skips-source' && next === keep) next = undefined;
  }
  const survivor = prev ?? next;
  // What mmap made or made longer is soft-dirty; what mremap copies to is as it was.
  const sticky = survivor === undefined ? VM_NONE : stickyOf(mm, survivor, range, next, from.by === 'mmap');
  if (prev !== undefined && next !== undefined) {
    // PPPP[new]NNNN → PPPPPPPPPPPP
    mm.replace(index - 1, 2, [takeIn(vmaResized(prev, prev.start, next.end), sticky, [next, range])]);
    return index - 1;
  }
  if (prev !== undefined) {
    mm.replace(index - 1, 1, [takeIn(vmaResized(prev, prev.start, range.end), sticky, [range])]);
    return index - 1;
  }
  if (next !== undefined) {
    mm.replace(index, 1, [takeIn(vmaResized(next, range.start, next.end), sticky, [range])]);
    return index;
  }
  return placeAlone(mm, range);
}

/** Places a new range that no VMA overlaps as a VMA of its own, whatever lies beside it. Returns its index. */
export function placeAlone(mm: Mm, range: MergeRange): number {
  const index = mm.tree.find(range.start);
  mm.replace(index, 0, [newVma(mm, range)]);
  return index;
}

function newVma(mm: Mm, range: MergeRange): Vma {
  const { start, end, flags, pgoff, anonPgoff, file, uffd, policy, anonVma, forkChild, untouched, inferred } =
    range;
  const name = mm.nameForHolder(range.name);
  return {
    start,
    end,
    flags,
    pgoff,
    anonPgoff,
    file,
    special: null,
    name,
    anonVma,
    forkChild,
    untouched,
    uffd,
    policy,
    inferred,
  };
}

/** do_brk_flags joins the new part to the VMA before it only, and never asks the one behind. */
export function growsPrevious(mm: Mm, range: MergeRange): boolean {
  return canMergeAfter(mm, mm.tree.at(mm.tree.find(range.start) - 1), range);
}
