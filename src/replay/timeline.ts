import { assert } from '../base/assert';
import type { AnonVmaName } from '../mm/anon_vma_name';
import type { Mm, MmScalars, VmaChange } from '../mm/mm';
import type { KernelRules } from '../mm/kernel_rules';
import type { Vma } from '../mm/vma';
import { VmaTree } from '../mm/vma_tree';
import type { MapsEntry } from '../procfs/maps_entry';
import { entriesOfVmas } from './maps_view';
import type { Instant, NameHolder, NameObject, ProcessLife, ReplayStep } from './replay_types';

/** Replacements between checkpoints of an address space: what an instant costs at most to rebuild… */
const CHECKPOINT_CHANGES = 256;
/** …or this part of its VMAs, where it has many, so that checkpoints do not outweigh the history itself. */
const CHECKPOINT_SHARE = 4;

interface MmState {
  readonly vmas: readonly Vma[];
  readonly scalars: MmScalars;
}

/** What one step did to one address space. */
interface MmStep {
  readonly step: number;
  readonly changes: readonly VmaChange[];
  readonly scalars: MmScalars;
}

/** The history of one address space. A checkpoint is its state after the first `done` of its steps. */
interface MmHistory {
  readonly steps: MmStep[];
  readonly checkpoints: { readonly done: number; readonly vmas: readonly Vma[] }[];
  /** Replacements since the last checkpoint. */
  since: number;
}

/** Which address space each life has: the ones that changed with a step. */
type LifeMm = readonly (readonly [lifeId: string, mmId: number | null])[];

/** What happened to every address space, step by step, so that any instant can be shown again. */
export class Timeline {
  private readonly mms = new Map<number, MmHistory>();
  private readonly lives = new Map<string, { readonly step: number; readonly mmId: number | null }[]>();
  private count = 0;

  constructor(private readonly rules: KernelRules) {}

  /** Records one step: the address spaces it touched and the lives whose address space it gave or took. */
  record(touched: readonly Mm[], lives: LifeMm): void {
    const step = this.count++;
    for (const mm of touched) this.recordMm(mm, step);
    for (const [lifeId, mmId] of lives) {
      const history = this.lives.get(lifeId);
      if (history === undefined) this.lives.set(lifeId, [{ step, mmId }]);
      else history.push({ step, mmId });
    }
  }

  private recordMm(mm: Mm, step: number): void {
    const history = this.mms.get(mm.id) ?? { steps: [], checkpoints: [], since: 0 };
    this.mms.set(mm.id, history);
    const changes = mm.takeChanges();
    history.steps.push({ step, changes, scalars: mm.scalars });
    history.since += changes.length;
    if (history.since < Math.max(CHECKPOINT_CHANGES, mm.mapCount / CHECKPOINT_SHARE)) return;
    history.checkpoints.push({ done: history.steps.length, vmas: mm.tree.freeze() });
    history.since = 0;
  }

  /** The address space of each life after step `index`. */
  livesAt(index: number): ReadonlyMap<string, number> {
    const lives = new Map<string, number>();
    for (const [lifeId, history] of this.lives) {
      const mmId = history[countUpTo(history, (entry) => entry.step <= index) - 1]?.mmId;
      if (mmId !== undefined && mmId !== null) lives.set(lifeId, mmId);
    }
    return lives;
  }

  /** One address space after step `index`; undefined before it came to be. */
  stateAt(index: number, mmId: number): MmState | undefined {
    const history = this.mms.get(mmId);
    if (history === undefined) return undefined;
    const done = countUpTo(history.steps, (entry) => entry.step <= index);
    const last = history.steps[done - 1];
    if (last === undefined) return undefined;
    const checkpoint = history.checkpoints[countUpTo(history.checkpoints, (entry) => entry.done <= done) - 1];
    const tree = new VmaTree(checkpoint?.vmas ?? []);
    for (const { changes } of history.steps.slice(checkpoint?.done ?? 0, done)) {
      for (const change of changes) applyChange(tree, change);
    }
    return { vmas: tree.all(), scalars: last.scalars };
  }

  entries(state: MmState): MapsEntry[] {
    return entriesOfVmas(state.vmas, state.scalars, this.rules);
  }
}

/** How many entries at the front satisfy `holds`, which is true up to some place and false from there on. */
function countUpTo<T>(entries: readonly T[], holds: (entry: T) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && holds(entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function applyChange(tree: VmaTree, { removed, inserted }: VmaChange): void {
  const first = removed[0] ?? inserted[0];
  assert(first !== undefined, 'a change replaces something');
  tree.splice(tree.find(first.start), removed.length, inserted);
}

/** An instant that looks into the timeline when it is asked. */
export class TimelineInstant implements Instant {
  readonly lives: readonly ProcessLife[];
  private readonly mmOf: ReadonlyMap<string, number>;
  private readonly states = new Map<number, MmState | undefined>();

  constructor(
    private readonly timeline: Timeline,
    readonly index: number,
    readonly line: number,
    all: readonly ProcessLife[],
  ) {
    this.mmOf = timeline.livesAt(index);
    this.lives = all.filter((life) => this.mmOf.has(life.id));
  }

  vmas(lifeId: string): readonly Vma[] {
    return this.stateOf(lifeId)?.vmas ?? [];
  }

  entries(lifeId: string): readonly MapsEntry[] {
    const state = this.stateOf(lifeId);
    return state === undefined ? [] : this.timeline.entries(state);
  }

  complete(lifeId: string): boolean {
    return this.stateOf(lifeId)?.scalars.complete ?? false;
  }

  /** A VMA of an address space that processes share (vfork, CLONE_VM) counts once, for the first of them. */
  names(): readonly NameObject[] {
    const holders = new Map<AnonVmaName, NameHolder[]>();
    const seen = new Set<number>();
    for (const life of this.lives) {
      const mmId = this.mmOf.get(life.id);
      if (mmId === undefined || seen.has(mmId)) continue;
      seen.add(mmId);
      for (const vma of this.vmas(life.id)) {
        if (vma.name === null) continue;
        const held = holders.get(vma.name) ?? [];
        held.push({ lifeId: life.id, pid: life.pid, start: vma.start, end: vma.end });
        holders.set(vma.name, held);
      }
    }
    return [...holders]
      .map(([object, held]): NameObject => ({ object, refs: held.length, holders: held }))
      .sort((a, b) => a.object.id - b.object.id);
  }

  private stateOf(lifeId: string): MmState | undefined {
    const mmId = this.mmOf.get(lifeId);
    if (mmId === undefined) return undefined;
    if (!this.states.has(mmId)) this.states.set(mmId, this.timeline.stateAt(this.index, mmId));
    return this.states.get(mmId);
  }
}

/**
 * Answers "the last step whose line is at most N" for steps whose lines are nearly but not wholly in order (a fork is
 * replayed before its result's line where the child is seen first).
 */
export class StepLines {
  /** Smallest line from each index on: never decreasing, so that it can be searched. */
  private readonly smallestFrom: number[];

  constructor(steps: readonly ReplayStep[]) {
    this.smallestFrom = steps.map((step) => step.line);
    let smallest = Infinity;
    for (let index = steps.length - 1; index >= 0; index--) {
      smallest = Math.min(smallest, this.smallestFrom[index] ?? Infinity);
      this.smallestFrom[index] = smallest;
    }
  }

  /** Index of the last step whose line is at most `line`; -1 if none. */
  lastAt(line: number): number {
    let low = 0;
    let high = this.smallestFrom.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.smallestFrom[middle] ?? Infinity) <= line) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
