import { pageAlignUp, vpnAdd, vpnOf, type U64 } from '../mm/addr';
import type { PageRange } from '../mm/page_ranges';
import { hugeAlignUp, hugeLogOf, hugePageOfLog } from '../mm/hugetlb';
import { MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_HUGETLB } from '../mm/syscalls/mmap';
import { MREMAP_FIXED } from '../mm/syscalls/mremap';
import type { Syscall, SyscallEvent } from '../trace/event';

/** Which pages a memory call is about, as its arguments and its result tell. */

/** The pages of `length` bytes at `addr`; undefined where there are none. */
export function rangeOf(addr: U64, length: U64): PageRange | undefined {
  const pages = pageAlignUp(length);
  return pages === 0 ? undefined : { start: vpnOf(addr), end: vpnAdd(vpnOf(addr), pages) };
}

/** The range of existing memory that a call works on; undefined for calls that need none. */
export function touchedRange(call: Syscall): PageRange | undefined {
  switch (call.name) {
    case 'mprotect':
    case 'pkey_mprotect':
    case 'madvise':
    case 'mseal':
    case 'prctl_set_vma':
    case 'mlock':
    case 'mlock2':
    case 'munlock':
      return rangeOf(call.addr, call.length);
    case 'mbind':
      // The default policy (0) passes over holes.
      return call.mode === 0 ? undefined : rangeOf(call.addr, call.length);
    case 'mremap':
      return rangeOf(call.oldAddr, call.oldLength);
    default:
      return undefined;
  }
}

/** The memory that a call works on, also for calls that a hole does not stop. */
export function workRange(call: Syscall): PageRange | undefined {
  const passesHoles =
    call.name === 'munmap' || call.name === 'uffd_register' || call.name === 'uffd_unregister';
  if (passesHoles) return rangeOf(call.addr, call.length);
  if (call.name === 'mmap' && (call.flags & MAP_FIXED) !== 0) return rangeOf(call.addr, mappedLength(call));
  return touchedRange(call);
}

/** What a call takes away from where it is. */
export function releasedRange({ call }: SyscallEvent): PageRange | undefined {
  return call.name === 'munmap' || call.name === 'mremap' ? workRange(call) : undefined;
}

/** Is the address the kernel's choice? */
export function choosesPlace({ call }: Pick<SyscallEvent, 'call'>): boolean {
  if (call.name === 'mmap') return (call.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) === 0;
  return call.name === 'mremap' && (call.flags & MREMAP_FIXED) === 0;
}

/** Bytes that mmap maps, as far as its arguments tell: with MAP_HUGETLB whole huge pages. */
function mappedLength({ flags, length }: Syscall & { readonly name: 'mmap' }): U64 {
  const hugePage = (flags & MAP_HUGETLB) === 0 ? undefined : hugePageOfLog(hugeLogOf(flags));
  return hugePage === undefined ? length : hugeAlignUp(length, hugePage);
}

/** Where a successful mmap or mremap put its memory. */
export function resultRange({ call, result }: SyscallEvent): PageRange | undefined {
  if (result.kind !== 'value') return undefined;
  if (call.name === 'mmap') return rangeOf(result.value, mappedLength(call));
  return call.name === 'mremap' ? rangeOf(result.value, call.newLength) : undefined;
}

/** The part of {@link resultRange} that is new and where the kernel, not the program, put it. */
export function placedRange(event: SyscallEvent): PageRange | undefined {
  const { call, result } = event;
  const range = choosesPlace(event) ? resultRange(event) : undefined;
  if (range === undefined || call.name !== 'mremap') return range;
  if (result.kind !== 'value' || result.value !== call.oldAddr) return range;
  // In place: what it grew by.
  const start = vpnAdd(range.start, pageAlignUp(call.oldLength));
  return start < range.end ? { start, end: range.end } : undefined;
}
