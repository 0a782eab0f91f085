import type { Instant, ProcessLife, Replay, ReplayStep, SnapshotInput } from '../../replay/replay_types';
import type { Trace } from '../../trace/event';

/** What was read to be replayed. */
export interface ReplaySource {
  /** The same for the same file. */
  readonly id: string;
  /** File name. */
  readonly label: string;
  /** Where it was read from, for people. */
  readonly location: string;
  readonly trace: Trace;
  readonly snapshots: readonly SnapshotInput[];
}

/** What next and previous may look for. */
export type Landmark = 'fork' | 'rename' | 'denied';

/**
 * One opened trace: its replay, where it stands, and which process is looked at. By default that is the process
 * of the current step; a process that a person chose stays chosen until the choice is taken back.
 */
export class ReplaySession {
  private index: number;
  private chosenLife: string | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly source: ReplaySource,
    private replayed: Replay,
  ) {
    this.index = firstView(replayed);
  }

  get id(): string {
    return this.source.id;
  }

  get label(): string {
    return this.source.label;
  }

  get trace(): Trace {
    return this.source.trace;
  }

  get replay(): Replay {
    return this.replayed;
  }

  /** Index of the current step, -1 before the first. */
  get position(): number {
    return this.index;
  }

  get step(): ReplayStep | undefined {
    return this.replayed.steps[this.index];
  }

  get instant(): Instant {
    return this.replayed.at(this.index);
  }

  /** The process to show: the chosen one, else that of the current step, else the first. */
  get life(): ProcessLife | undefined {
    const id = this.chosenLife ?? this.step?.lifeId;
    return this.replayed.lives.find((life) => life.id === id) ?? this.replayed.lives[0];
  }

  /** Was the process chosen, rather than taken from the current step? */
  get isLifeChosen(): boolean {
    return this.chosenLife !== undefined;
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  /** Goes to a step, -1 for before the first; anything outside is taken as the nearest end. */
  goTo(index: number): void {
    const last = this.replayed.steps.length - 1;
    this.index = Math.min(Math.max(-1, index), last);
    this.changed();
  }

  /** Goes to the last step at or before a line. */
  goToLine(line: number): void {
    this.goTo(this.replayed.stepAtLine(line));
  }

  /** Looks at one process from now on; undefined follows the current step again. */
  choose(lifeId: string | undefined): void {
    this.chosenLife = lifeId;
    this.changed();
  }

  /** Goes to an instant and looks at the process that is meant there. */
  show(index: number, lifeId: string | undefined): void {
    const last = this.replayed.steps.length - 1;
    this.index = Math.min(Math.max(-1, index), last);
    const own = this.step?.lifeId;
    // Following the step shows the process already: no need to hold on to it.
    this.chosenLife = lifeId === undefined || lifeId === own ? undefined : lifeId;
    this.changed();
  }

  /** Index of the next (1) or previous (-1) step of a sort; undefined where there is none. */
  find(landmark: Landmark, direction: 1 | -1): number | undefined {
    const { steps } = this.replayed;
    for (let i = this.index + direction; i >= 0 && i < steps.length; i += direction) {
      const step = steps[i];
      if (step !== undefined && isLandmark(step, landmark)) return i;
    }
    return undefined;
  }

  /** Takes over a replay of the same trace under other rules and stays at the same line. */
  takeOver(replay: Replay): void {
    const line = this.step?.line;
    this.replayed = replay;
    if (!replay.lives.some((life) => life.id === this.chosenLife)) this.chosenLife = undefined;
    this.index = line === undefined ? -1 : replay.stepAtLine(line);
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Where a replay begins: where a snapshot first tells a whole map, else at the first step. */
function firstView(replay: Replay): number {
  const seed = replay.checks.find((check) => check.outcome === 'seed');
  if (seed !== undefined) return replay.stepAtLine(seed.line);
  return replay.steps.length > 0 ? 0 : -1;
}

function isLandmark(step: ReplayStep, landmark: Landmark): boolean {
  switch (landmark) {
    case 'fork':
      return step.kind === 'fork';
    case 'rename':
      return step.kind === 'name' && step.denied === undefined;
    case 'denied':
      return step.denied !== undefined;
  }
}
