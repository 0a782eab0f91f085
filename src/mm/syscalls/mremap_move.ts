import { ok, type Result } from '../../base/result';
import { bytesOfVpn, vpn, vpnAdd, type Vpn } from '../addr';
import { populate } from '../fault';
import { enoughMemory } from '../limits';
import type { Mm } from '../mm';
import { pagesWithin, withoutPages, withPages } from '../page_ranges';
import { overLimit, refuse, type Prediction, type Refusal } from '../refusal';
import {
  pgoffAt,
  untouchedOf,
  vmaForbidsSplit,
  vmaHasCloseHook,
  vmaIsAnonymous,
  vmaResized,
  type Vma,
} from '../vma';
import { uffdFollowsMoves } from '../userfaultfd_ctx';
import { growsPrevious, placeAlone, placeNew, type MergeRange } from '../vma_merge';
import { setVma, splitVma, vmaAt } from '../vma_modify';
import { hasAny, VM_ACCOUNT, VM_LOCKED, VM_LOCKED_MASK, VM_UFFD_FLAGS, without } from '../vm_flags';
import type { Remap } from './remap';
import { unmapRange } from './munmap';

/** The part of mremap that moves: copy_vma, then the source is unmapped or emptied. */

/**
 * move_vma: the kept part of the old range goes to the free range at `to`. The place must be free; the caller has
 * checked the source.
 */
export function moveVma(mm: Mm, remap: Remap, to: Vpn): Prediction {
  const movable = checkMovable(mm, remap);
  if (!movable.ok) return movable;
  const from = remap.old;
  const end = vpnAdd(from, remap.oldPages);
  const vma = vmaAt(mm, mm.tree.find(from));
  if (remap.dontUnmap && mm.rules.dontunmapSplitsSource && hasAny(vma.flags, VM_LOCKED_MASK))
    isolate(mm, from, end);
  const source = vmaAt(mm, mm.tree.find(from));
  const grows = remap.newPages > remap.oldPages;
  const copied = copyVma(mm, source, remap, to);
  moveGuards(mm, from, end, to);
  if (remap.dontUnmap) emptySource(mm, from, end, source, copied);
  else if (remap.oldPages > 0) {
    const gone = unmapRange(mm, from, end);
    if (!gone.ok) return gone;
  }
  if (grows && hasAny(source.flags, VM_LOCKED)) {
    populate(mm, vpnAdd(to, remap.oldPages), vpnAdd(to, remap.newPages), 'mmap');
  }
  return ok(bytesOfVpn(to));
}

/** What move_vma refuses wherever the memory is to go. */
export function checkMovable(mm: Mm, remap: Remap): Result<void, Refusal> {
  if (mm.mapCount >= mm.system.maxMapCount - 3 && !mm.rules.mremapCountCheckAlways) {
    return overLimit('ENOMEM', 'too close to vm.max_map_count for a move');
  }
  const vma = vmaAt(mm, mm.tree.find(remap.old));
  for (const at of [remap.old, vpnAdd(remap.old, remap.oldPages)]) {
    const forbidden = at === vma.start || at === vma.end ? undefined : vmaForbidsSplit(vma, at);
    if (forbidden !== undefined) return refuse('EINVAL', forbidden, vma);
  }
  const charged = remap.dontUnmap ? remap.newPages : remap.newPages - remap.oldPages;
  return charged > 0 && hasAny(vma.flags, VM_ACCOUNT) ? enoughMemory(mm, charged) : ok(undefined);
}

/** Splits so that [from, end) is a VMA of its own. */
function isolate(mm: Mm, from: Vpn, end: Vpn): void {
  const index = mm.tree.find(from);
  const vma = vmaAt(mm, index);
  if (vma.start < from) splitVma(mm, index, from);
  const at = mm.tree.find(from);
  if (vmaAt(mm, at).end > end) splitVma(mm, at, end);
}

/**
 * copy_vma: a VMA like `source` at `to`, merged with the neighbours there, which may include the source itself.
 * Untouched anonymous memory is renumbered to its new place, so that it merges freely; memory with an anon_vma
 * keeps its offsets. Returns true if the copy joined the source.
 */
function copyVma(mm: Mm, source: Vma, remap: Remap, to: Vpn): boolean {
  const from = remap.old;
  const renumber = vmaIsAnonymous(source) && source.anonVma === 0;
  const delta = from - source.start;
  const range: MergeRange = {
    start: to,
    end: vpnAdd(to, remap.newPages),
    flags: source.flags,
    pgoff: renumber ? to : pgoffAt(source, from),
    anonPgoff: source.anonVma === 0 ? to : source.anonPgoff + delta,
    file: source.file,
    name: source.name,
    uffd: source.uffd,
    policy: source.policy,
    anonVma: source.anonVma,
    forkChild: source.forkChild,
    untouched: untouchedOf(source),
    inferred: source.inferred,
  };
  const drops = source.uffd !== null && !uffdFollowsMoves(mm, source.uffd);
  const index =
    drops && !mm.rules.uffdDropJoinsFirst
      ? placeAlone(mm, range)
      : placeNew(mm, range, { by: 'mremap', keep: remap.dontUnmap ? source : null });
  // mremap_userfaultfd_prep: with what it joined.
  if (drops) setVma(mm, index, { uffd: null, flags: without(vmaAt(mm, index).flags, VM_UFFD_FLAGS) });
  if (source.special !== null) setVma(mm, index, { special: source.special });
  const copy = vmaAt(mm, index);
  // Memory that was written to would have kept its old numbers, and not have joined what is here.
  const joined = copy.start !== range.start || copy.end !== range.end;
  if (renumber && joined && untouchedOf(source) !== 'sure') mm.noteDecides('access');
  return copy.start <= source.start && source.end <= copy.end;
}

/** move_page_tables: guard markers go along. */
function moveGuards(mm: Mm, from: Vpn, end: Vpn, to: Vpn): void {
  const moved = pagesWithin(mm.scalars.guards, from, end);
  if (moved.length === 0) return;
  let guards = withoutPages(mm.scalars.guards, from, end);
  for (const { start, end: until } of moved) {
    guards = withPages(guards, vpnAdd(to, start - from), vpnAdd(to, until - from));
  }
  mm.scalars = { ...mm.scalars, guards };
}

/** The numbers of a mapping made where `vma` is. Private /dev/zero keeps its own: it has a file. */
function renumbered(vma: Vma): Partial<Vma> {
  return vma.file === null ? { pgoff: vma.start, anonPgoff: vma.start } : { anonPgoff: vma.start };
}

/** MREMAP_DONTUNMAP: the source stays, without its pages and its locks. */
function emptySource(mm: Mm, from: Vpn, end: Vpn, source: Vma, joined: boolean): void {
  const index = mm.tree.find(from);
  const vma = vmaAt(mm, index);
  const flags = without(vma.flags, VM_LOCKED_MASK);
  const whole = !joined && source.start === from && source.end === end;
  const emptied: Partial<Vma> = {
    flags,
    anonVma: 0,
    forkChild: false,
    untouched: 'sure',
    ...(mm.rules.dontunmapResetsPgoff ? renumbered(vma) : {}),
  };
  setVma(mm, index, whole ? emptied : { flags });
}

/** Growth at the same place: the extension joins its VMA and, where it fits, the one behind. */
export function expandInPlace(mm: Mm, remap: Remap): Result<void, Refusal> {
  const end = vpnAdd(remap.old, remap.oldPages);
  const index = mm.tree.find(remap.old);
  const vma = vmaAt(mm, index);
  const newEnd = vpnAdd(remap.old, remap.newPages);
  const extension: MergeRange = {
    ...vmaResized(vma, vpn(end), newEnd),
    // No VMA is there yet whose memory could have been inherited (vma_merge_extend): the one behind may be untouched.
    forkChild: false,
    untouched: untouchedOf(vma) === 'sure' ? 'sure' : 'assumed',
    grownFrom: vma,
  };
  if (mm.rules.closeHookBlocks === 'any' && vmaHasCloseHook(vma)) {
    // It would not merge with its own extension: mremap grows it by itself (vma_adjust).
    mm.replace(index, 1, [vmaResized(vma, vma.start, newEnd)]);
    return ok(undefined);
  }
  if (!growsPrevious(mm, extension)) return refuse('ENOMEM', 'the extension cannot join its mapping', vma);
  placeNew(mm, extension, { by: 'mremap', keep: null });
  return ok(undefined);
}
