import type { KernelVersion } from '../mm/kernel_rules';
import type { ForkSharing, Instant, ProcessLife, Replay, ReplayStep, SnapshotCheck } from './replay_types';
import { StepLines, TimelineInstant, type Timeline } from './timeline';
import type { Life, World } from './world';

/** A finished replay: what the replayer collected, and any instant on demand. */
export class ReplayResult implements Replay {
  readonly kernel: KernelVersion;
  readonly lives: readonly ProcessLife[];
  readonly sealCost: Replay['sealCost'];
  private readonly lines: StepLines;

  constructor(
    world: World,
    private readonly timeline: Timeline,
    readonly steps: readonly ReplayStep[],
    readonly forks: readonly ForkSharing[],
    readonly checks: readonly SnapshotCheck[],
  ) {
    this.kernel = world.kernel;
    this.lines = new StepLines(steps);
    this.lives = world.lives.map(processLife);
    const { prePass, inLoop } = world.system.sealVisits;
    this.sealCost = { prePassVisits: prePass, inLoopVisits: inLoop };
  }

  at(index: number): Instant {
    const clamped = Math.max(-1, Math.min(index, this.steps.length - 1));
    return new TimelineInstant(this.timeline, clamped, this.steps[clamped]?.line ?? 0, this.lives);
  }

  stepAtLine(line: number): number {
    return this.lines.lastAt(line);
  }
}

function processLife(life: Life): ProcessLife {
  return {
    id: life.id,
    pid: life.pid,
    startLine: life.startLine,
    endLine: life.endLine,
    parentId: life.parent?.id,
    childIds: life.children.map((child) => child.id),
    command: life.command,
    threads: [...life.threads],
  };
}
