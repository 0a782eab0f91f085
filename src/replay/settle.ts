import { pageAlignUp, vpn, vpnAdd, vpnOf, type U64, type Vpn } from '../mm/addr';
import { inTaskSize, type Mm } from '../mm/mm';
import { isSealed } from '../mm/seal';
import { forceBrk, learnBrk } from '../mm/syscalls/brk';
import { protFlags } from '../mm/syscalls/mmap';
import { coversRange } from '../mm/syscalls/mseal';
import type { Vma } from '../mm/vma';
import { modifyVma, splitVma, vmaAt } from '../mm/vma_modify';
import {
  union,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_ACCOUNT,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYWRITE,
  VM_READ,
  VM_SEALED,
  VM_WRITE,
  without,
} from '../mm/vm_flags';
import type { Syscall } from '../trace/event';

/**
 * When record and prediction differ, the record is the truth: the address space is brought to what it must have been,
 * or to what it must be now, and the difference is named.
 */

/** The range of existing memory that a call works on; undefined for calls that need none. */
export function touchedRange(call: Syscall): { readonly start: Vpn; readonly end: Vpn } | undefined {
  switch (call.name) {
    case 'mprotect':
    case 'pkey_mprotect':
    case 'madvise':
    case 'mseal':
    case 'prctl_set_vma':
    case 'mlock':
    case 'mlock2':
    case 'mbind':
    case 'munlock':
      return rangeOf(call.addr, call.length);
    case 'mremap':
      return rangeOf(call.oldAddr, call.oldLength);
    default:
      return undefined;
  }
}

function rangeOf(addr: U64, length: U64): { readonly start: Vpn; readonly end: Vpn } | undefined {
  const start = vpnOf(addr);
  const pages = pageAlignUp(length);
  return pages === 0 ? undefined : { start, end: vpnAdd(start, pages) };
}

/**
 * A call succeeded on memory that we do not know: it must have existed. Fills the gaps of `range` with memory marked as
 * inferred. Returns false if there was no gap or the map is known to be whole.
 */
export function learnMemory(mm: Mm, range: { readonly start: Vpn; readonly end: Vpn }): boolean {
  if (mm.scalars.complete || coversRange(mm, range.start, range.end)) return false;
  // No program has memory there: the line is damaged.
  if (!inTaskSize(range.start, range.end - range.start)) return false;
  let at: number = range.start;
  for (const vma of mm.vmasIn(range.start, range.end)) {
    if (vma.start > at) insertInferred(mm, vpn(at), vma.start);
    at = vma.end;
  }
  if (at < range.end) insertInferred(mm, vpn(at), range.end);
  return true;
}

function insertInferred(mm: Mm, start: Vpn, end: Vpn): void {
  const flags = unionOf(VM_READ, VM_WRITE, VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC, VM_ACCOUNT);
  const vma: Vma = {
    start,
    end,
    flags,
    pgoff: start,
    anonPgoff: start,
    file: null,
    special: null,
    name: null,
    anonVma: 0,
    forkChild: false,
    untouched: 'assumed',
    uffd: null,
    policy: null,
    inferred: true,
  };
  mm.replace(mm.tree.find(start), 0, [vma]);
}

/** Takes the seals of a range away: the record shows that they did not hold. */
export function dropSeals(mm: Mm, range: { readonly start: Vpn; readonly end: Vpn }): boolean {
  let dropped = false;
  forEachPart(mm, range, (index, vma, start, end) => {
    if (!isSealed(vma)) return;
    modifyVma(mm, index, start, end, { flags: without(vma.flags, VM_SEALED) });
    dropped = true;
  });
  return dropped;
}

/** Brings about what a call that the rules would refuse did all the same, as far as its arguments tell. */
export function force(mm: Mm, call: Syscall, value: U64): void {
  switch (call.name) {
    case 'munmap': {
      const range = rangeOf(call.addr, call.length);
      if (range !== undefined) clearRange(mm, range.start, range.end);
      return;
    }
    case 'mprotect':
    case 'pkey_mprotect':
      forEachPart(mm, rangeOf(call.addr, call.length), (index, vma, start, end) => {
        const flags = union(without(vma.flags, VM_ACCESS_FLAGS), protFlags(call.prot));
        modifyVma(mm, index, start, end, { flags });
      });
      return;
    case 'mseal':
      forEachPart(mm, rangeOf(call.addr, call.length), (index, vma, start, end) => {
        modifyVma(mm, index, start, end, { flags: union(vma.flags, VM_SEALED) });
      });
      return;
    case 'brk':
      forceBrk(mm, value);
      return;
    default:
      return;
  }
}

/** Takes [start, end) out whatever is sealed there. */
export function clearRange(mm: Mm, start: Vpn, end: Vpn): void {
  cut(mm, start);
  cut(mm, end);
  const from = mm.tree.find(start);
  mm.replace(from, mm.vmasIn(start, end).length, []);
}

function cut(mm: Mm, at: Vpn): void {
  const index = mm.tree.find(at);
  const vma = mm.tree.at(index);
  if (vma !== undefined && vma.special === null && vma.start < at) splitVma(mm, index, at);
}

function forEachPart(
  mm: Mm,
  range: { readonly start: Vpn; readonly end: Vpn } | undefined,
  change: (index: number, vma: Vma, start: Vpn, end: Vpn) => void,
): void {
  if (range === undefined) return;
  let at = range.start;
  while (at < range.end) {
    const index = mm.tree.find(at);
    const vma = mm.tree.at(index);
    if (vma === undefined || vma.start >= range.end) return;
    const start = vpn(Math.max(vma.start, at));
    const end = vpn(Math.min(vma.end, range.end));
    change(index, vmaAt(mm, index), start, end);
    at = end;
  }
}

/** The first break a process asks for tells where its heap is. */
export function learnFromBrk(mm: Mm, call: Syscall, value: U64): void {
  if (call.name === 'brk') learnBrk(mm, value);
}
