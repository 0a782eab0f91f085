import type { PageRange } from '../mm/page_ranges';
import type { SyscallEvent, TraceEvent } from '../trace/event';
import { releasedRange, resultRange, workRange } from './call_ranges';
import { memoryKind } from './call_text';

/** Lines that are looked at on each side: some milliseconds of a process that does nothing but map and unmap. */
const NEAR = 256;

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
    if (releasing && releasedRange(other) === undefined) continue;
    if (concerned(other).some((theirs) => own.some((ours) => meet(ours, theirs)))) return true;
  }
  return false;
}

function meet(a: PageRange, b: PageRange): boolean {
  return a.start < b.end && b.start < a.end;
}

/** What a call works on, and where its result lies. */
function concerned(event: SyscallEvent): PageRange[] {
  return [workRange(event.call), resultRange(event)].filter((range) => range !== undefined);
}
