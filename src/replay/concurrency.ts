import { pageAlignUp, vpnAdd, vpnOf, type Vpn } from '../mm/addr';
import type { SyscallEvent, TraceEvent } from '../trace/event';
import { memoryKind } from './call_text';
import { workRange } from './reasons';

/** Lines that are looked at on each side: some milliseconds of a process that does nothing but map and unmap. */
const NEAR = 256;

interface Range {
  readonly start: Vpn;
  readonly end: Vpn;
}

/**
 * Do memory calls of other threads that concern the same memory stand close to `event`, which is about at `position`?
 * @param shares tells whether a thread uses the same address space
 * @param releasing asks for calls that take memory away only
 */
export function othersNearby(
  events: readonly TraceEvent[],
  position: number,
  event: SyscallEvent,
  shares: (tid: number) => boolean,
  releasing: boolean,
): boolean {
  const own = concerned(event);
  if (own.length === 0) return false;
  const until = Math.min(events.length, position + NEAR);
  for (let at = Math.max(0, position - NEAR); at < until; at++) {
    const other = events[at];
    if (other?.kind !== 'syscall' || other.pid === event.pid || !shares(other.pid)) continue;
    if (memoryKind(other.call) === undefined || other.result.kind !== 'value') continue;
    if (releasing && other.call.name !== 'munmap' && other.call.name !== 'mremap') continue;
    if (concerned(other).some((theirs) => own.some((ours) => meet(ours, theirs)))) return true;
  }
  return false;
}

function meet(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end;
}

/** What a call works on, and where its result lies. */
function concerned({ call, result }: SyscallEvent): Range[] {
  const ranges: Range[] = [];
  const work = workRange(call);
  if (work !== undefined) ranges.push(work);
  if ((call.name === 'mmap' || call.name === 'mremap') && result.kind === 'value') {
    const pages = pageAlignUp(call.name === 'mmap' ? call.length : call.newLength);
    const start = vpnOf(result.value);
    ranges.push({ start, end: vpnAdd(start, pages) });
  }
  return ranges;
}
