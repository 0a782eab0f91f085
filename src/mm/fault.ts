import { vpn, type Vpn } from './addr';
import type { Mm } from './mm';
import { pagesWithin } from './page_ranges';
import { pgoffAt, sameFile, vmaIsAnonymous, vmaPages, type Vma } from './vma';
import { setVma, vmaAt } from './vma_modify';
import {
  hasAny,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_IO,
  VM_LOCKONFAULT,
  VM_MAYBE_GUARD,
  VM_PFNMAP,
  VM_READ,
  VM_SHARED,
  VM_SOFTDIRTY,
  VM_WRITE,
  without,
} from './vm_flags';

/** Faults that a call causes: all that a trace tells of page faults. */

/** Flags in which neighbours may differ and still share an anon_vma. */
const ANON_VMA_IGNORES = unionOf(VM_ACCESS_FLAGS, VM_SOFTDIRTY, VM_MAYBE_GUARD);

/** `anon_vma_compatible`: AAAABBBB could have been one VMA but for its permissions. */
function anonVmaCompatible(a: Vma, b: Vma): boolean {
  return (
    a.end === b.start &&
    a.policy === b.policy &&
    sameFile(a.file, b.file) &&
    without(a.flags, ANON_VMA_IGNORES) === without(b.flags, ANON_VMA_IGNORES) &&
    b.pgoff === a.pgoff + vmaPages(a)
  );
}

/** `reusable_anon_vma`: the anon_vma of `old` if pages of `a` and `b` may go under it; 0 if not. */
function reusableAnonVma(old: Vma, a: Vma, b: Vma): number {
  return anonVmaCompatible(a, b) && !old.forkChild ? old.anonVma : 0;
}

/** `__anon_vma_prepare`: the first private write in the VMA at `index` gives it an anon_vma, a neighbour's if it fits. */
export function anonVmaPrepare(mm: Mm, index: number): void {
  const vma = vmaAt(mm, index);
  if (vma.anonVma !== 0) return;
  const next = mm.tree.at(index + 1);
  const prev = mm.tree.at(index - 1);
  const found =
    (next === undefined ? 0 : reusableAnonVma(next, vma, next)) ||
    (prev === undefined ? 0 : reusableAnonVma(prev, prev, vma)) ||
    mm.newAnonVma();
  setVma(mm, index, { anonVma: found, forkChild: false });
}

/**
 * First page of [from, until), a part of `vma`, that no fault brings in: in a guard region (SIGSEGV) or beyond the end of
 * its file (SIGBUS). undefined if there is none as far as the trace tells.
 */
function firstUnfaultable(mm: Mm, vma: Vma, from: Vpn, until: Vpn): Vpn | undefined {
  const guarded = pagesWithin(mm.scalars.guards, from, until)[0]?.start;
  const pages = vmaIsAnonymous(vma) ? undefined : vma.file?.pages;
  if (pages === undefined) return guarded;
  const fileEnd = vpn(Math.max(from, from + pages - pgoffAt(vma, from)));
  const beyond = fileEnd < until ? fileEnd : undefined;
  return guarded === undefined || (beyond !== undefined && beyond < guarded) ? beyond : guarded;
}

/**
 * Faults [from, until) of the VMA at `index` in, page after page. Returns false where one of them cannot be; pages before
 * it are there.
 */
export function faultIn(mm: Mm, index: number, from: Vpn, until: Vpn, write: boolean): boolean {
  const vma = vmaAt(mm, index);
  const stop = firstUnfaultable(mm, vma, from, until);
  if (stop !== from && write && !hasAny(vma.flags, VM_SHARED)) anonVmaPrepare(mm, index);
  return stop === undefined;
}

export type PopulateMode =
  /** mlock: stops at the first VMA that cannot be populated. */
  | 'mlock'
  /** MAP_POPULATE and MAP_LOCKED: errors are passed over, VMA by VMA. */
  | 'mmap';

/**
 * `__mm_populate` over [start, end): writable private memory is written to, the rest only read.
 * Returns false if a VMA could not be populated (no access at all, or a page that no fault brings in).
 */
export function populate(mm: Mm, start: Vpn, end: Vpn, mode: PopulateMode): boolean {
  for (let index = mm.tree.find(start); ; index++) {
    const vma = mm.tree.at(index);
    if (vma === undefined || vma.start >= end) return true;
    if (hasAny(vma.flags, unionOf(VM_IO, VM_PFNMAP))) continue;
    if (hasAny(vma.flags, VM_LOCKONFAULT)) continue;
    if (!hasAny(vma.flags, VM_ACCESS_FLAGS)) {
      if (mode === 'mlock') return false;
      continue;
    }
    const from = vpn(Math.max(vma.start, start));
    const until = vpn(Math.min(vma.end, end));
    if (!faultIn(mm, index, from, until, hasAny(vma.flags, VM_WRITE)) && mode === 'mlock') return false;
  }
}

/** Can MADV_POPULATE_READ or _WRITE fault this VMA in (check_vma_flags)? */
export function canPopulate(vma: Vma, write: boolean): boolean {
  if (hasAny(vma.flags, unionOf(VM_IO, VM_PFNMAP))) return false;
  return hasAny(vma.flags, write ? VM_WRITE : VM_READ);
}
