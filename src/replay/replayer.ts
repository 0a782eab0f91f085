import { clearSoftDirty } from '../mm/clear_refs';
import type { Mm } from '../mm/mm';
import { validateMm } from '../mm/validate_mm';
import type { SyscallEvent, Trace, TraceEvent } from '../trace/event';
import { applyCall } from './apply_call';
import { callName, memoryKind, recordedText } from './call_text';
import { softDirtyCleared } from './clear_refs';
import { othersNearby } from './concurrency';
import { denialOf, SealLog } from './denial';
import { inferFeatures, inferRules } from './features';
import { forgetCapability, noteLimits } from './limit_events';
import { noteFile, notePrctl } from './file_events';
import { leftBehind } from './left_behind';
import { childOf, PendingClones, PendingReleases, untilInFlight } from './lookahead';
import { sharingOf } from './name_sharing';
import { learnGrowth } from './settle';
import { ReplayResult } from './replay_result';
import type {
  ForkSharing,
  Mismatch,
  Replay,
  ReplayOptions,
  ReplayStep,
  SnapshotCheck,
  SnapshotInput,
} from './replay_types';
import { cloneWords, execWords, exitWords, snapshotWords, wordsOf } from './step_title';
import { Timeline } from './timeline';
import { memoryOf, noteUffd } from './userfaultfds';
import { checkEqual, checkPiecewise, seedFrom, takeOverDiffering, type Unmatched } from './verify';
import { World, type Life } from './world';
import { CLONE_FILES, CLONE_THREAD, CLONE_VM } from '../trace/event';

/** VMAs that validation looks at in a replay, unless it is asked for: some tenths of a second. */
const VALIDATED_VMAS = 10_000_000;

/** A result that no fork can have. */
const NO_CHILD: Mismatch = {
  code: 'lost-line',
  text: 'the result is no pid that a child can have: part of the log is missing or damaged',
};

/** Called after every step, in order, while the world is in the state of that step. */
export type StepObserver = (step: ReplayStep, world: World, life: Life, child: Life | undefined) => void;

interface OpenSnapshot {
  readonly snapshot: SnapshotInput;
  readonly life: Life;
  /** Version of the address space that was compared last, and VMAs compared so far. */
  tried: number;
  compared: number;
  readonly unmatched: Unmatched;
}

/**
 * A file of maps is read in some milliseconds, and is compared after every change in them. After so many VMAs (some
 * seconds) only the last state is.
 */
const MOST_COMPARED = 2_000_000;

/** Replays a whole trace. */
export function replayTrace(trace: Trace, options: ReplayOptions, observer?: StepObserver): Replay {
  const replayer = new Replayer(trace, options, observer);
  while (!replayer.advance(10_000)) continue;
  return replayer.finish();
}

/** Replays a trace in slices, so that a caller can show progress, and stop. */
export class Replayer {
  private readonly world: World;
  private readonly timeline: Timeline;
  private readonly steps: ReplayStep[] = [];
  private readonly forks: ForkSharing[] = [];
  private readonly checks: SnapshotCheck[] = [];
  private readonly seals = new SealLog();
  private readonly snapshots: readonly SnapshotInput[];
  private readonly clones: PendingClones;
  private readonly releases: PendingReleases;
  private readonly done = new Set<TraceEvent>();
  private position = 0;
  private nextSnapshot = 0;
  /** VMAs that validation has looked at. */
  private visited = 0;
  /** Snapshots whose reading has begun. */
  private openSnapshots: OpenSnapshot[] = [];

  constructor(
    private readonly trace: Trace,
    private readonly options: ReplayOptions,
    private readonly observer?: StepObserver,
  ) {
    this.snapshots = untilInFlight(trace.events, options.snapshots ?? []).sort((a, b) => a.line - b.line);
    const features = inferFeatures(trace.events, this.snapshots, options.without ?? []);
    const rules = { ...inferRules(this.snapshots), ...options.rules };
    this.world = new World(options.kernel, rules, features, options.maxMapCount, {
      ...(options.overcommit === undefined ? {} : { overcommit: options.overcommit }),
      ...(options.commitPages === undefined ? {} : { commitPages: options.commitPages }),
    });
    this.timeline = new Timeline(this.world.system.rules);
    this.clones = new PendingClones(trace.events);
    this.releases = new PendingReleases(trace.events);
  }

  /** Share of the trace that is done, 0 to 1. */
  get progress(): number {
    return this.trace.events.length === 0 ? 1 : this.position / this.trace.events.length;
  }

  /** Replays up to `count` more events. Returns true when all are done. */
  advance(count: number): boolean {
    const until = Math.min(this.position + count, this.trace.events.length);
    for (; this.position < until; this.position++) {
      const event = this.trace.events[this.position];
      if (event === undefined) break;
      this.takeSnapshots(event.line);
      if (!this.done.has(event)) this.event(event);
    }
    return this.position >= this.trace.events.length;
  }

  /** The finished replay; call after {@link advance} returned true. */
  finish(): Replay {
    this.takeSnapshots(Infinity);
    return new ReplayResult(this.world, this.timeline, this.steps, this.forks, this.checks);
  }

  private event(event: TraceEvent): void {
    const life = this.lifeFor(event);
    switch (event.kind) {
      case 'syscall':
        if (life !== undefined) this.syscall(life, event);
        return;
      case 'exit':
        if (life !== undefined) this.exit(life, event.pid, event.line, event.how);
        return;
      case 'signal':
        if (life?.mm && learnGrowth(life.mm, event)) this.world.touch(life.mm);
        return;
      case 'superseded':
        return;
    }
  }

  /** The process an event belongs to; a pid never seen is a process whose birth the trace may show only later. */
  private lifeFor(event: TraceEvent): Life | undefined {
    const known = this.world.lifeOf(event.pid);
    if (known !== undefined && known.mm !== null && known.tasks.has(event.pid)) return known;
    // What is left of a process that has ended (results that never came, its exit after exit_group) tells of no new one.
    if (known !== undefined && (event.kind !== 'syscall' || event.result.kind === 'unknown'))
      return undefined;
    if (this.birthsOf(event)) return this.world.lifeOf(event.pid);
    if (event.kind === 'exit' || event.kind === 'superseded') return undefined;
    return this.world.discover(event.pid, event.line);
  }

  /** Forks whose child is seen before their result are replayed when it is seen, ancestors first. */
  private birthsOf(event: TraceEvent): boolean {
    const births: SyscallEvent[] = [];
    let { pid } = event;
    let before = event.kind === 'syscall' ? event.entryLine : event.line;
    for (;;) {
      const birth = this.isAlive(pid) ? undefined : this.clones.birthOf(pid, before, this.done);
      if (birth === undefined) break;
      births.push(birth);
      pid = birth.pid;
      before = birth.entryLine;
    }
    for (const birth of births.reverse()) {
      const alive = this.isAlive(birth.pid) ? this.world.lifeOf(birth.pid) : undefined;
      this.clone(alive ?? this.world.discover(birth.pid, birth.entryLine), birth);
    }
    return births.length > 0 && this.isAlive(event.pid);
  }

  private isAlive(pid: number): boolean {
    const life = this.world.lifeOf(pid);
    return life !== undefined && life.mm !== null && life.tasks.has(pid);
  }

  private syscall(life: Life, event: SyscallEvent): void {
    const { call, result } = event;
    if (call.name === 'clone') this.clone(life, event);
    else if (call.name === 'execve') {
      if (result.kind === 'value') this.exec(life, event);
    } else if (call.name === 'exit') {
      if (call.group) this.exit(life, event.pid, event.line, 'exit_group');
    } else if (memoryKind(call) !== undefined) this.memoryCall(life, event);
    else if (call.name === 'uffd_api' || call.name === 'uffd_fill') noteUffd(this.world, life, event);
    else if (result.kind === 'value') {
      this.clearRefs(life, event);
      noteFile(this.world, life, event);
      notePrctl(life, call);
      noteLimits(this.world, life, call);
    }
  }

  /** A write to /proc/PID/clear_refs, where that changes a VMA. */
  private clearRefs(life: Life, event: SyscallEvent): void {
    const cleared = softDirtyCleared(this.world, life, event);
    const mm = cleared?.target.mm;
    if (cleared === undefined || !mm?.has('soft-dirty')) return;
    this.world.touch(mm);
    clearSoftDirty(mm);
    this.step(cleared.target, event, {
      kind: 'advise',
      call: callName(event.call),
      ...cleared.words,
      recorded: recordedText(event.call, event.result),
      predicted: cleared.predicted,
    });
  }

  private memoryCall(life: Life, event: SyscallEvent): void {
    const mm = memoryOf(this.world, life, event.call);
    const kind = memoryKind(event.call);
    if (mm === null || kind === undefined) return;
    this.done.add(event);
    this.releaseFirst(mm, event);
    this.world.touch(mm);
    mm.takeDecided('access');
    const mark = mm.begin();
    const applied = applyCall(this.world, life, mm, event, (releasing) =>
      this.othersNear(mm, event, releasing),
    );
    const access = mm.takeDecided('access');
    const { call, result } = event;
    if (call.name === 'mseal' && result.kind === 'value')
      this.seals.add(life, event.line, call.addr, call.length);
    const left = result.kind === 'errno' ? leftBehind(mm, mm.changesSince(mark)) : [];
    const denied = result.kind === 'errno' ? denialOf(mm, life, call, applied, this.seals, left) : undefined;
    this.step(life, event, {
      kind,
      call: callName(call),
      ...wordsOf(event),
      recorded: applied.recorded,
      predicted: applied.predicted,
      ...(access ? { dependsOnAccess: true as const } : {}),
      ...(denied === undefined ? {} : { denied }),
      ...(applied.mismatch === undefined ? {} : { mismatch: applied.mismatch }),
    });
  }

  /**
   * Threads of one process: a line says when strace saw the end of a call, not when the kernel acted. A fresh mapping
   * where something is mapped means that another thread's call, still open here, had taken that away.
   */
  private releaseFirst(mm: Mm, event: SyscallEvent): void {
    for (const pending of this.releases.inTheWay(
      mm,
      event,
      this.trace.events[this.position]?.line ?? event.line,
    )) {
      if (this.done.has(pending)) continue;
      const life = this.world.lifeOf(pending.pid);
      if (life?.mm === mm) this.memoryCall(life, pending);
    }
  }

  private othersNear(mm: Mm, event: SyscallEvent, releasing: boolean): boolean {
    const shares = (tid: number): boolean => this.world.lifeOf(tid)?.mm === mm;
    return othersNearby(this.trace.events, this.position, event, shares, releasing);
  }

  private clone(life: Life, event: SyscallEvent): void {
    if (this.done.has(event)) return;
    this.done.add(event);
    const { call, result } = event;
    if (call.name !== 'clone') return;
    const recorded =
      result.kind === 'value' ? result.value.toString() : result.kind === 'errno' ? result.errno : '?';
    const child = childOf(event);
    const flags = call.flags ?? 0;
    const base = { call: callName(call), ...cloneWords(call, child), recorded, predicted: '?' };
    // In the child the same call returns 0: nothing more happens there.
    if (child === 0 || life.mm === null) return;
    if (child === undefined || life.tasks.has(child)) {
      const mismatch = result.kind === 'value' ? { mismatch: NO_CHILD } : {};
      this.step(life, event, { ...base, kind: 'fork', ...mismatch });
      return;
    }
    this.world.endLost(child, event.line);
    if ((flags & CLONE_THREAD) !== 0) {
      this.world.addThread(life, child);
      this.step(life, event, { ...base, kind: 'thread' });
      return;
    }
    const born = this.world.fork(
      life,
      child,
      event.line,
      (flags & CLONE_VM) !== 0,
      (flags & CLONE_FILES) !== 0,
    );
    const step = this.step(life, event, { ...base, kind: 'fork', childId: born.id }, born);
    this.forks.push(sharingOf(step.index, life, born, this.world.system.names));
  }

  private exec(life: Life, event: SyscallEvent): void {
    const path = event.call.name === 'execve' ? event.call.path : undefined;
    forgetCapability(life);
    this.world.exec(life, path?.slice(path.lastIndexOf('/') + 1) ?? '');
    this.step(life, event, {
      kind: 'exec',
      call: 'execve',
      ...execWords(path),
      recorded: '0',
      predicted: '?',
    });
  }

  private exit(life: Life, pid: number, line: number, how: string): void {
    const ended = how === 'exit_group' ? this.endAll(life, line) : this.world.exitThread(life, pid, line);
    if (!ended && pid === life.pid) return;
    this.step(
      life,
      { line, entryLine: line, pid },
      { kind: 'exit', call: 'exit', ...exitWords(how, ended), recorded: '?', predicted: '?' },
    );
  }

  private endAll(life: Life, line: number): boolean {
    this.world.exitGroup(life, line);
    return true;
  }

  /** Snapshots that lie before `line`. */
  private takeSnapshots(line: number): void {
    this.retrySnapshots(line);
    for (; ; this.nextSnapshot++) {
      const snapshot = this.snapshots[this.nextSnapshot];
      if (snapshot === undefined || snapshot.line >= line) return;
      const life = this.world.lifeOf(snapshot.pid) ?? this.world.discover(snapshot.pid, snapshot.line);
      if (life.mm === null) continue;
      if (!life.mm.scalars.complete)
        this.snapshotStep(life, life.mm, seedFrom(life.mm, life.files, snapshot));
      else
        this.openSnapshots.push({
          snapshot,
          life,
          tried: -1,
          compared: 0,
          unmatched: { snapshot: undefined, replayed: undefined },
        });
      this.retrySnapshots(line);
    }
  }

  /**
   * A snapshot was read while the process may have gone on: it holds if it equals the state at any moment from the
   * opening of the file to its closing, or if each of its mappings was there at one of them.
   */
  private retrySnapshots(line: number): void {
    this.openSnapshots = this.openSnapshots.filter((open) => {
      const { snapshot, life } = open;
      if (life.mm === null) return false;
      const over = (snapshot.untilLine ?? snapshot.line) < line;
      if (!over && (life.mm.version === open.tried || open.compared >= MOST_COMPARED)) return true;
      const equal =
        checkEqual(life.mm, snapshot, open.unmatched) ??
        (over ? checkPiecewise(open.unmatched, snapshot) : undefined);
      open.tried = life.mm.version;
      open.compared += life.mm.mapCount;
      if (equal === undefined && !over) return true;
      this.snapshotStep(life, life.mm, equal ?? takeOverDiffering(life.mm, life.files, snapshot));
      return false;
    });
  }

  private snapshotStep(life: Life, mm: Mm, check: SnapshotCheck): void {
    this.world.touch(mm);
    this.checks.push(check);
    this.step(
      life,
      { line: check.line, entryLine: check.line, pid: check.pid },
      { kind: 'snapshot', call: 'snapshot', ...snapshotWords(check), recorded: '?', predicted: '?' },
    );
  }

  /** Our own bugs must show where they happen; a huge trace is not slowed down by the search for them. */
  private validate(): void {
    if (this.options.validate !== true && (this.options.validate === false || this.visited > VALIDATED_VMAS))
      return;
    this.visited += validateMm(this.world.mms(), this.world.system.names);
  }

  private step(
    life: Life,
    at: Pick<ReplayStep, 'line' | 'entryLine' | 'pid'>,
    what: Omit<ReplayStep, 'index' | 'line' | 'entryLine' | 'pid' | 'lifeId'>,
    child?: Life,
  ): ReplayStep {
    const { line, entryLine, pid } = at;
    const step: ReplayStep = { index: this.steps.length, line, entryLine, pid, lifeId: life.id, ...what };
    this.steps.push(step);
    this.validate();
    this.observer?.(step, this.world, life, child);
    this.timeline.record(this.world.takeTouched(), this.world.takeMoved());
    return step;
  }
}
