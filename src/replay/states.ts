import { hexOfVpn, type Vpn } from '../mm/addr';
import type { Trace } from '../trace/event';
import { entriesOfVmas, lastColumn } from './maps_view';
import { Replayer } from './replayer';
import type { MismatchCode, ReplayOptions, ReplayStep } from './replay_types';
import type { Life } from './world';

/** One line of `vmalens replay --states`. */
export interface StateLine {
  readonly line: number;
  readonly pid: number;
  readonly call: string;
  readonly recorded: string;
  readonly predicted: string;
  /** Reason code where the record is none that the prediction allows; see {@link ReplayStep.mismatch}. */
  readonly mismatch?: MismatchCode;
  readonly vmas: readonly {
    readonly start: string;
    readonly end: string;
    readonly perms: string;
    readonly offset: string;
    readonly name: string;
    readonly flags: readonly string[];
  }[];
}

/**
 * Replays `trace` and yields, for each memory call and each fork, the address space of each process that it concerns
 * right afterwards: for a fork the parent's, then the child's. `range` (pages) keeps only VMAs that overlap it.
 */
export function* statesLines(
  trace: Trace,
  options: ReplayOptions,
  range?: { readonly start: Vpn; readonly end: Vpn },
): Generator<StateLine> {
  let ready: StateLine[] = [];
  const replayer = new Replayer(trace, options, (step, _world, life, child) => {
    if (!concernsMemory(step)) return;
    ready.push(stateLine(step, life, range));
    if (child !== undefined) ready.push(stateLine(step, child, range));
  });
  for (let done = false; !done;) {
    // One at a time: each line holds whole maps.
    done = replayer.advance(1);
    if (done) replayer.finish();
    yield* ready;
    ready = [];
  }
}

function concernsMemory(step: ReplayStep): boolean {
  return step.kind !== 'exec' && step.kind !== 'exit' && step.kind !== 'thread' && step.kind !== 'snapshot';
}

function stateLine(
  step: ReplayStep,
  life: Life,
  range: { readonly start: Vpn; readonly end: Vpn } | undefined,
): StateLine {
  const mm = life.mm;
  const vmas = mm === null ? [] : range === undefined ? mm.tree.all() : mm.vmasIn(range.start, range.end);
  const entries = mm === null ? [] : entriesOfVmas(vmas, mm.scalars, mm.rules);
  return {
    line: step.line,
    pid: life.pid,
    call: step.call,
    recorded: step.recorded,
    predicted: step.predicted,
    ...(step.mismatch === undefined ? {} : { mismatch: step.mismatch.code }),
    vmas: entries.map((entry) => ({
      start: hexOfVpn(entry.start),
      end: hexOfVpn(entry.end),
      perms: entry.perms,
      offset: entry.offset.toString(16),
      name: lastColumn(entry),
      flags: entry.smaps?.vmFlags ?? [],
    })),
  };
}
