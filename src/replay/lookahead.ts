import type { Mm } from '../mm/mm';
import type { SyscallEvent, TraceEvent } from '../trace/event';
import { placedRange, releasedRange } from './call_ranges';
import { memoryKind } from './call_text';
import type { SnapshotInput } from './replay_types';

/**
 * A child's first lines may come before its parent's clone has its result: births by the pid they gave. The parent is in
 * its clone by then, so that only a call which has begun can be the birth of a pid that is seen.
 */
export class PendingClones {
  private readonly births = new Map<number, SyscallEvent[]>();

  constructor(events: readonly TraceEvent[]) {
    for (const event of events) {
      if (event.kind !== 'syscall' || event.entryLine === event.line) continue;
      const child = childOf(event);
      if (child === undefined) continue;
      const births = this.births.get(child);
      if (births === undefined) this.births.set(child, [event]);
      else births.push(event);
    }
  }

  /** The clone that returns `pid`, began before line `before`, and is not in `done`. */
  birthOf(pid: number, before: number, done: ReadonlySet<TraceEvent>): SyscallEvent | undefined {
    const births = this.births.get(pid);
    if (births === undefined) return undefined;
    while (births[0] !== undefined && done.has(births[0])) births.shift();
    const [next] = births;
    return next !== undefined && next.entryLine < before ? next : undefined;
  }
}

/** Pids end at this number on any Linux (PID_MAX_LIMIT). */
const PID_MAX = 2 ** 22;

/** The pid that a clone gave; undefined where it gave none, or printed what is no pid. */
export function childOf({ call, result }: SyscallEvent): number | undefined {
  if (call.name !== 'clone' || result.kind !== 'value') return undefined;
  const child = call.childInTracerNs ?? Number(result.value);
  return child >= 0 && child <= PID_MAX ? child : undefined;
}

/** Calls that take memory away and are seen in two parts, begin and end. */
export class PendingReleases {
  /** In the order in which they began; `next` is the first that has not begun. */
  private readonly split: readonly SyscallEvent[];
  private next = 0;
  private open: SyscallEvent[] = [];

  constructor(events: readonly TraceEvent[]) {
    this.split = events
      .filter(
        (event): event is SyscallEvent =>
          event.kind === 'syscall' &&
          event.entryLine < event.line &&
          event.result.kind === 'value' &&
          releasedRange(event) !== undefined,
      )
      .sort((a, b) => a.entryLine - b.entryLine);
  }

  /**
   * Calls of other threads that are open at line `now` and take away memory which lies where the kernel put `event`'s
   * new mapping, in the order in which they began. (`now` is before `event` when that is itself applied early.) `now`
   * never goes back.
   */
  inTheWay(mm: Mm, event: SyscallEvent, now: number): SyscallEvent[] {
    const placed = placedRange(event);
    if (placed === undefined || mm.firstIn(placed.start, placed.end) === undefined) return [];
    for (; (this.split[this.next]?.entryLine ?? Infinity) < now; this.next++) {
      const begun = this.split[this.next];
      if (begun !== undefined) this.open.push(begun);
    }
    this.open = this.open.filter((other) => other.line > now);
    return this.open.filter((other) => {
      const range = other === event ? undefined : releasedRange(other);
      return range !== undefined && range.start < placed.end && placed.start < range.end;
    });
  }
}

/**
 * Snapshots with the last line whose state they may show. A call that another thread had begun when the reading ended may
 * have acted already, though the trace has its result only later.
 */
export function untilInFlight(
  events: readonly TraceEvent[],
  snapshots: readonly SnapshotInput[],
): SnapshotInput[] {
  const split = events.filter(
    (event): event is SyscallEvent =>
      event.kind === 'syscall' && event.entryLine < event.line && memoryKind(event.call) !== undefined,
  );
  return snapshots.map((snapshot) => {
    const read = snapshot.untilLine ?? snapshot.line;
    let untilLine = read;
    for (const { entryLine, line, pid } of split) {
      if (entryLine <= read && line > untilLine && pid !== snapshot.pid) untilLine = line;
    }
    return untilLine === read ? snapshot : { ...snapshot, untilLine };
  });
}
