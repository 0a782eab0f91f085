import { unreachable } from '../../base/assert';
import type { SyscallEvent, SyscallResult, TraceEvent } from '../event';
import type { ProblemLog } from '../problem_log';
import { startOfMark } from './body';
import type { CallDecoder } from './decoder';
import type { Entry, Item, Resume } from './items';

const EXEC: ReadonlySet<string> = new Set(['execve', 'execveat']);

/** An entry that waits for its second half. */
interface Pending {
  readonly entry: Entry;
  /** Thread that began it; differs from the key when execve moved it to the leader. */
  readonly entryPid: number;
  /** `superseded by execve` has said that it succeeded. */
  succeeded: boolean;
}

/**
 * Joins the halves of split calls, by thread and name, and brings all events in the order in which the
 * capture completes them. A call that never completes stands at its first line, with an unknown result.
 */
export class Pairing {
  private readonly pending = new Map<number, Pending>();
  /** Those of `pending` that are in an execve. */
  private readonly inExec = new Set<number>();
  /** Leaders whose execve is known to have succeeded although its entry was not in the capture. */
  private readonly superseded = new Set<number>();
  private readonly events: TraceEvent[] = [];
  private readonly unfinished: SyscallEvent[] = [];

  constructor(
    private readonly decoder: CallDecoder,
    private readonly problems: ProblemLog,
  ) {}

  run(items: readonly Item[]): readonly TraceEvent[] {
    for (const item of items) this.take(item);
    for (const pid of [...this.pending.keys()]) this.abandon(pid, 'unfinished');
    return this.unfinished.length === 0 ? this.events : byLine(this.events, this.unfinished);
  }

  private take(item: Item): void {
    switch (item.kind) {
      case 'entry':
        this.enter(item);
        return;
      case 'resume':
        this.resume(item);
        return;
      case 'exit':
        this.abandon(item.pid, `unfinished when the task ${item.how}`);
        this.events.push(item);
        return;
      case 'superseded':
        this.supersede(item.pid, item.by);
        this.events.push(item);
        return;
      case 'syscall':
      case 'signal':
        this.events.push(item);
        return;
      default:
        unreachable(item);
    }
  }

  private enter(entry: Entry): void {
    this.abandon(entry.pid, 'unfinished');
    this.set(entry.pid, { entry, entryPid: entry.pid, succeeded: false });
    if (entry.mark !== 'unfinished') this.abandon(entry.pid, entry.mark);
  }

  /** The thread `by` takes the leader's number; the leader's own call, if it was in one, never returns. */
  private supersede(leader: number, by: number): void {
    const moved = this.pending.get(by);
    this.abandon(leader, 'unfinished when another thread called execve');
    if (moved === undefined || !EXEC.has(moved.entry.name)) {
      this.superseded.add(leader);
      return;
    }
    this.drop(by);
    moved.succeeded = true;
    this.set(leader, moved);
  }

  private resume(item: Resume): void {
    const pending = this.takePending(item);
    if (pending === undefined) {
      this.orphan(item);
      return;
    }
    const { entry } = pending;
    const mark = startOfMark(item.rest, 0, item.rest.length);
    if (mark >= 0) {
      // Interrupted a second time: the rest is still to come.
      entry.args += item.rest.slice(0, mark);
      this.set(item.pid, pending);
      return;
    }
    const text = entry.args + item.rest;
    if (this.decoder.decode(entry.name, text, 0, text.length, item.line) !== 'call') {
      this.problems.add('cut-line', item.line, 'a line that breaks off inside a call; the call is left out');
      return;
    }
    const { call, duration } = this.decoder;
    this.events.push({
      kind: 'syscall',
      line: item.line,
      entryLine: entry.line,
      pid: item.pid,
      ...optional('time', entry.time),
      call,
      result: this.trueResult(pending.succeeded, item),
      ...optional('duration', duration),
      ...(pending.entryPid === item.pid ? {} : { entryPid: pending.entryPid }),
    });
  }

  /** The entry that `item` completes. */
  private takePending(item: Resume): Pending | undefined {
    const own = this.pending.get(item.pid);
    if (own !== undefined && (own.entry.name === item.name || item.name === '???')) {
      this.drop(item.pid);
      return own;
    }
    if (!EXEC.has(item.name) || this.superseded.has(item.pid)) return undefined;
    // strace -qqq does not print the superseded line: the only execve under way elsewhere is the one.
    const [pid] = this.inExec;
    const only = pid === undefined || this.inExec.size > 1 ? undefined : this.pending.get(pid);
    if (pid === undefined || only?.entry.name !== item.name) return undefined;
    this.drop(pid);
    this.abandon(item.pid, 'unfinished when another thread called execve');
    return only;
  }

  /** A second half alone: the capture began inside the call, or its first half was lost. */
  private orphan(item: Resume): void {
    const succeeded = this.superseded.delete(item.pid);
    if (!this.decoder.decodeOrphan(item.name, item.rest)) {
      this.problems.add('cut-line', item.line, 'a line that breaks off inside a call; the call is left out');
      return;
    }
    const { call, duration } = this.decoder;
    if (!succeeded) {
      this.problems.add(
        'resume-without-entry',
        item.line,
        `the end of ${item.name} without its beginning: its arguments are not in the capture`,
      );
    }
    this.events.push({
      kind: 'syscall',
      line: item.line,
      entryLine: item.line,
      pid: item.pid,
      ...optional('time', item.time),
      call,
      result: this.trueResult(succeeded, item),
      ...optional('duration', duration),
    });
  }

  /**
   * With --seccomp-bpf strace prints a wrong result for an execve that another thread than the leader called
   * (`-1 ENOSYS`, the number of a syscall); the superseded line alone proves that it succeeded.
   */
  private trueResult(succeeded: boolean, item: Resume): SyscallResult {
    const { result } = this.decoder;
    if (!succeeded || (result.kind === 'value' && result.value === 0)) return result;
    this.problems.add(
      'execve-result',
      item.line,
      `strace printed a wrong result for ${item.name}: another line says that it succeeded`,
    );
    return { kind: 'value', value: 0, injected: false };
  }

  private set(pid: number, pending: Pending): void {
    this.pending.set(pid, pending);
    if (EXEC.has(pending.entry.name)) this.inExec.add(pid);
  }

  private drop(pid: number): void {
    this.pending.delete(pid);
    this.inExec.delete(pid);
  }

  /** The call that `pid` is in will not return. */
  private abandon(pid: number, why: string): void {
    const pending = this.pending.get(pid);
    if (pending === undefined) return;
    this.drop(pid);
    const { entry, entryPid } = pending;
    this.unfinished.push({
      kind: 'syscall',
      line: entry.line,
      entryLine: entry.line,
      pid: entryPid,
      ...optional('time', entry.time),
      call: this.decoder.decodeUnfinished(entry.name, entry.args, entry.line),
      result: { kind: 'unknown', text: why },
    });
  }
}

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, string>);
}

/** Merges two lists; `events` is in order of line already. */
function byLine(events: readonly TraceEvent[], late: SyscallEvent[]): readonly TraceEvent[] {
  const sorted = late.sort((a, b) => a.line - b.line);
  const merged: TraceEvent[] = [];
  let next = 0;
  for (const event of events) {
    for (let other = sorted[next]; other !== undefined && other.line < event.line; other = sorted[next]) {
      merged.push(other);
      next++;
    }
    merged.push(event);
  }
  for (const other of sorted.slice(next)) merged.push(other);
  return merged;
}
