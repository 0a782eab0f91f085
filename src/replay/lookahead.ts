import { pageAlignUp, vpnAdd, vpnOf, type U64, type Vpn } from '../mm/addr';
import type { Mm } from '../mm/mm';
import { MAP_FIXED, MAP_FIXED_NOREPLACE } from '../mm/syscalls/mmap';
import { MREMAP_FIXED } from '../mm/syscalls/mremap';
import type { SyscallEvent, TraceEvent } from '../trace/event';

/** A child's first lines may come before its parent's clone has its result: births by the pid they gave. */
export class PendingClones {
  private readonly births = new Map<number, { readonly event: SyscallEvent; readonly index: number }[]>();

  constructor(events: readonly TraceEvent[]) {
    events.forEach((event, index) => {
      if (event.kind !== 'syscall' || event.call.name !== 'clone' || event.result.kind !== 'value') return;
      const child = event.call.childInTracerNs ?? Number(event.result.value);
      const births = this.births.get(child) ?? [];
      births.push({ event, index });
      this.births.set(child, births);
    });
  }

  /** The next clone at or after event `index` that returns `pid`. */
  birthOf(pid: number, index: number): SyscallEvent | undefined {
    return this.births.get(pid)?.find((birth) => birth.index >= index)?.event;
  }
}

/** Calls that take memory away and are seen in two parts, begin and end. */
export class PendingReleases {
  private readonly split: SyscallEvent[];

  constructor(events: readonly TraceEvent[]) {
    this.split = events.filter(
      (event): event is SyscallEvent =>
        event.kind === 'syscall' &&
        event.entryLine < event.line &&
        event.result.kind === 'value' &&
        releasedRange(event) !== undefined,
    );
  }

  /**
   * Calls of other threads that are open at line `now` and take away memory which lies where the kernel put `event`'s
   * new mapping, in the order in which they began. (`now` is before `event` when that is itself applied early.)
   */
  inTheWay(mm: Mm, event: SyscallEvent, now: number): SyscallEvent[] {
    const placed = placedRange(event);
    if (placed === undefined || mm.firstIn(placed.start, placed.end) === undefined) return [];
    return this.split
      .filter((other) => other !== event && other.entryLine < now && other.line > now)
      .filter((other) => {
        const range = releasedRange(other);
        return range !== undefined && range.start < placed.end && placed.start < range.end;
      })
      .sort((a, b) => a.entryLine - b.entryLine);
  }
}

interface Range {
  readonly start: Vpn;
  readonly end: Vpn;
}

function rangeOf(addr: U64, length: U64): Range | undefined {
  const pages = pageAlignUp(length);
  return pages === 0 ? undefined : { start: vpnOf(addr), end: vpnAdd(vpnOf(addr), pages) };
}

function releasedRange({ call }: SyscallEvent): Range | undefined {
  if (call.name === 'munmap') return rangeOf(call.addr, call.length);
  if (call.name === 'mremap') return rangeOf(call.oldAddr, call.oldLength);
  return undefined;
}

/** Where the kernel, not the program, put new memory. */
function placedRange({ call, result }: SyscallEvent): Range | undefined {
  if (result.kind !== 'value') return undefined;
  if (call.name === 'mmap' && (call.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) === 0) {
    return rangeOf(result.value, call.length);
  }
  if (call.name === 'mremap' && (call.flags & MREMAP_FIXED) === 0) {
    if (result.value !== call.oldAddr) return rangeOf(result.value, call.newLength);
    const grown = { start: vpnAdd(vpnOf(call.oldAddr), pageAlignUp(call.oldLength)) };
    const end = vpnAdd(vpnOf(call.oldAddr), pageAlignUp(call.newLength));
    return end > grown.start ? { ...grown, end } : undefined;
  }
  return undefined;
}
