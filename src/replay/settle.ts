import { ok } from '../base/result';
import { vpn, vpnOf, type U64, type Vpn } from '../mm/addr';
import { DEFAULT_HUGE_PAGE } from '../mm/hugetlb';
import { inTaskSize, type Mm } from '../mm/mm';
import type { PageRange } from '../mm/page_ranges';
import { isSealed } from '../mm/seal';
import { growDown } from '../mm/stack_growth';
import { forceBrk, learnBrk } from '../mm/syscalls/brk';
import { MAP_ANONYMOUS, MAP_FIXED, MAP_HUGETLB, PROT_EXEC, protFlags } from '../mm/syscalls/mmap';
import { pkeyAfterMprotect, pkeyFlags } from '../mm/pkeys';
import { coversRange } from '../mm/syscalls/mseal';
import { hugePageOf, type Vma } from '../mm/vma';
import { modifyVma, splitVma, vmaAt } from '../mm/vma_modify';
import { visitVmas } from '../mm/vma_walk';
import {
  hasAny,
  union,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_ACCOUNT,
  VM_GROWSDOWN,
  VM_HUGETLB,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYWRITE,
  VM_PKEY_MASK,
  VM_READ,
  VM_SEALED,
  VM_WRITE,
  without,
} from '../mm/vm_flags';
import type { SignalEvent, Syscall } from '../trace/event';
import { rangeOf, touchedRange } from './call_ranges';
import type { FileTable } from './file_table';

/**
 * When record and prediction differ, the record is the truth: the address space is brought to what it must have been,
 * or to what it must be now, and the difference is named.
 */

/**
 * A call succeeded on memory that we do not know: it must have existed. Fills the gaps of `range` with memory marked as
 * inferred. Returns false if there was no gap or the map is known to be whole.
 */
export function learnMemory(mm: Mm, range: PageRange): boolean {
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
export function dropSeals(mm: Mm, range: PageRange): boolean {
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
        const pkey = call.name === 'mprotect' ? -1 : call.pkey;
        const key = pkeyAfterMprotect(mm, vma.flags, call.prot === PROT_EXEC, pkey);
        const kept = without(vma.flags, unionOf(VM_ACCESS_FLAGS, VM_PKEY_MASK));
        const flags = unionOf(kept, protFlags(call.prot), pkeyFlags(key));
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
  range: PageRange | undefined,
  change: (index: number, vma: Vma, start: Vpn, end: Vpn) => void,
): void {
  if (range === undefined) return;
  visitVmas(mm, range.start, range.end, 'pass', (index, start, end) => {
    change(index, vmaAt(mm, index), start, end);
    return ok(undefined);
  });
}

/** MAP_HUGETLB on a file that has no huge pages is refused: where it succeeded, the file has them. */
export function learnHugeFile(files: FileTable, call: Syscall): void {
  if (call.name !== 'mmap' || (call.flags & (MAP_HUGETLB | MAP_ANONYMOUS)) !== MAP_HUGETLB) return;
  const file = files.fileOf(call.fd);
  if (file !== null && hugePageOf(file) === 1) files.learnHuge(file.path, DEFAULT_HUGE_PAGE);
}

/** Is any of the memory that a call works on of huge pages? */
export function onHugePages(mm: Mm, call: Syscall): boolean {
  const range = touchedRange(call);
  return range !== undefined && mm.vmasIn(range.start, range.end).some((vma) => hugePageOf(vma.file) > 1);
}

/** Where a call has just put memory of huge pages over what was there; undefined where it did not. */
export function hugePlace(mm: Mm, call: Syscall): PageRange | undefined {
  if (call.name !== 'mmap' || (call.flags & MAP_FIXED) === 0) return undefined;
  const vma = mm.tree.lookup(vpnOf(call.addr));
  return vma !== undefined && hasAny(vma.flags, VM_HUGETLB) ? vma : undefined;
}

/** The first break a process asks for tells where its heap is. */
export function learnFromBrk(mm: Mm, call: Syscall, value: U64): void {
  if (call.name === 'brk') learnBrk(mm, value);
}

/**
 * An access that memory does not allow (SEGV_ACCERR) reached memory: where none was known, what lies above had grown down
 * to it first. Returns true if it had.
 */
export function learnGrowth(mm: Mm, { code, faultAddr }: SignalEvent): boolean {
  if (code !== 'SEGV_ACCERR' || faultAddr === undefined) return false;
  const page = vpnOf(faultAddr);
  const index = mm.tree.find(page);
  const above = mm.tree.at(index);
  if (above === undefined || above.start <= page || !hasAny(above.flags, VM_GROWSDOWN)) return false;
  growDown(mm, index, page);
  return true;
}
