import { assert } from '../base/assert';
import type { AnonVmaName } from '../mm/anon_vma_name';
import type { Mm, MmScalars, VmaChange } from '../mm/mm';
import type { KernelRules } from '../mm/kernel_rules';
import type { Vma } from '../mm/vma';
import { VmaTree } from '../mm/vma_tree';
import type { MapsEntry } from '../procfs/maps_entry';
import { entriesOfVmas } from './maps_view';
import type { Instant, NameHolder, NameObject, ProcessLife, ReplayStep } from './replay_types';

/** Steps between checkpoints: what an instant costs at most to rebuild. */
const CHECKPOINT_STEPS = 256;

interface MmState {
  readonly vmas: readonly Vma[];
  readonly scalars: MmScalars;
}

interface MmStep {
  readonly mmId: number;
  readonly changes: readonly VmaChange[];
  readonly scalars: MmScalars;
}

/** Which address space each life has: the ones that changed with a step. */
type LifeMm = readonly (readonly [lifeId: string, mmId: number | null])[];

interface Checkpoint {
  readonly states: ReadonlyMap<number, MmState>;
  readonly lives: ReadonlyMap<string, number>;
}

/** What happened to every address space, step by step, so that any instant can be shown again. */
export class Timeline {
  private readonly steps: { readonly mms: readonly MmStep[]; readonly lives: LifeMm }[] = [];
  private readonly checkpoints: Checkpoint[] = [{ states: new Map(), lives: new Map() }];
  /** Address spaces that are not empty, for the next checkpoint. */
  private readonly living = new Map<number, Mm>();
  private readonly currentLives = new Map<string, number>();

  constructor(private readonly rules: KernelRules) {}

  /** Records one step: the address spaces it touched and the lives whose address space it gave or took. */
  record(touched: readonly Mm[], lives: LifeMm): void {
    const mms = touched.map((mm): MmStep => ({
      mmId: mm.id,
      changes: mm.takeChanges(),
      scalars: mm.scalars,
    }));
    this.steps.push({ mms, lives });
    for (const mm of touched) this.living.set(mm.id, mm);
    for (const [lifeId, mmId] of lives) {
      if (mmId === null) this.currentLives.delete(lifeId);
      else this.currentLives.set(lifeId, mmId);
    }
    if (this.steps.length % CHECKPOINT_STEPS === 0) {
      this.checkpoints.push({ states: this.freezeAll(), lives: new Map(this.currentLives) });
    }
  }

  /** The address space of each life after step `index`. */
  livesAt(index: number): ReadonlyMap<string, number> {
    const { checkpoint, from } = this.before(index);
    const lives = new Map(checkpoint.lives);
    for (let at = from; at <= index; at++) {
      for (const [lifeId, mmId] of this.steps[at]?.lives ?? []) {
        if (mmId === null) lives.delete(lifeId);
        else lives.set(lifeId, mmId);
      }
    }
    return lives;
  }

  /** One address space after step `index`. */
  stateAt(index: number, mmId: number): MmState | undefined {
    const { checkpoint, from } = this.before(index);
    const base = checkpoint.states.get(mmId);
    const tree = new VmaTree(base?.vmas ?? []);
    let scalars = base?.scalars;
    for (let at = from; at <= index; at++) {
      for (const step of this.steps[at]?.mms ?? []) {
        if (step.mmId !== mmId) continue;
        for (const change of step.changes) applyChange(tree, change);
        scalars = step.scalars;
      }
    }
    return scalars === undefined ? undefined : { vmas: tree.all(), scalars };
  }

  entries(state: MmState): MapsEntry[] {
    return entriesOfVmas(state.vmas, state.scalars, this.rules);
  }

  /** The storage is shared with the address spaces until they change. */
  private freezeAll(): ReadonlyMap<number, MmState> {
    const inUse = new Set(this.currentLives.values());
    for (const id of [...this.living.keys()]) if (!inUse.has(id)) this.living.delete(id);
    return new Map([...this.living].map(([id, mm]) => [id, { vmas: mm.tree.freeze(), scalars: mm.scalars }]));
  }

  private before(index: number): { readonly checkpoint: Checkpoint; readonly from: number } {
    const number = Math.floor((index + 1) / CHECKPOINT_STEPS);
    const checkpoint = this.checkpoints[number];
    assert(checkpoint !== undefined, 'a checkpoint lies before every recorded step');
    return { checkpoint, from: number * CHECKPOINT_STEPS };
  }
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
