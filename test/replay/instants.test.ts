import fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KERNEL_VERSIONS, type KernelVersion } from '../../src/mm/kernel_rules';
import { Replayer, replayTrace } from '../../src/replay/replayer';
import type { Instant, Replay, ReplayOptions } from '../../src/replay/replay_types';
import type { SyscallEvent, Trace, TraceEvent } from '../../src/trace/event';
import { HEAP, scripts, type Script } from '../mm/random_calls';
import { scenario, type MadeCall, type Scenario } from '../mm/scenario';
import { replayRecording } from './recording';

const RUNS = { numRuns: 60, seed: 20_240_717 };

/** Calls that a trace alone does not explain: page faults, and files and segments opened elsewhere. */
const OPAQUE = /^(write|file|fileShared|shmat|shmdt)\(/;

/** Random calls on a simulated kernel as a trace of them. */
function simulate(
  { calls }: Script,
  version: KernelVersion,
): { readonly trace: Trace; readonly kernel: Scenario } {
  // The replay learns the heap from a first brk; soft-dirty it learns from snapshots only.
  const kernel = scenario(version, { lacks: ['soft-dirty'] }).heapAt(HEAP);
  kernel.call({ name: 'brk', addr: 0 });
  let living = [kernel];
  for (const call of calls) {
    const process = living[call.process % living.length];
    if (process === undefined || OPAQUE.test(call.text)) continue;
    if (call.kind === 'fork') living.push(process.fork());
    else if (call.kind === 'exit') {
      if (living.length > 1) {
        process.exit();
        living = living.filter((other) => other !== process);
      }
    } else {
      call.run(process);
      process.seeResult();
    }
  }
  return { trace: traceOf(kernel.made), kernel };
}

function traceOf(made: readonly MadeCall[]): Trace {
  const events = made.flatMap((call, index): TraceEvent[] => eventOf(call, index + 1));
  return { format: 'simulated', events, problems: [], lineCount: made.length, lacks: [] };
}

/** A call that went where the kernel liked has no address here and is left out: it did nothing. */
function eventOf({ pid, call, prediction }: MadeCall, line: number): SyscallEvent[] {
  const at = { kind: 'syscall', line, entryLine: line, pid, call } as const;
  if (!prediction.ok)
    return [{ ...at, result: { kind: 'errno', errno: prediction.error.errno, injected: false } }];
  const { value } = prediction;
  return value === 'anywhere' || value === 'pages-decide'
    ? []
    : [{ ...at, result: { kind: 'value', value, injected: false } }];
}

/** Everything that an instant shows, without the numbers by which address spaces are told apart. */
function everything(instant: Instant): unknown {
  return {
    line: instant.line,
    lives: instant.lives.map(({ id }) => ({ id, vmas: instant.vmas(id), complete: instant.complete(id) })),
    names: instant.names(),
  };
}

/** What an instant shows of the maps. */
function shown(instant: Instant): unknown {
  return instant.lives.map(({ id }) => ({ id, entries: instant.entries(id) }));
}

/** Replays with somebody who looks at the world itself after every step. */
function watched(
  trace: Trace,
  options: ReplayOptions,
): { readonly replay: Replay; readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const replay = replayTrace(trace, options, (_, world) => {
    const alive = world.lives.filter(({ mm }) => mm !== null);
    seen.push(alive.map(({ id, mm }) => ({ id, vmas: [...(mm?.tree.all() ?? [])] })));
  });
  return { replay, seen };
}

describe('an instant', () => {
  it('is the world as it was right after its step', () => {
    fc.assert(
      fc.property(scripts, fc.constantFrom(...KERNEL_VERSIONS), (script, kernel) => {
        const { replay, seen } = watched(simulate(script, kernel).trace, { kernel });
        replay.steps.forEach(({ index }) => {
          const instant = replay.at(index);
          expect(instant.lives.map(({ id }) => ({ id, vmas: instant.vmas(id) }))).toEqual(seen[index]);
        });
      }),
      RUNS,
    );
  });

  it('is what a replay of the trace up to there comes to', () => {
    fc.assert(
      fc.property(scripts, fc.constantFrom(...KERNEL_VERSIONS), fc.nat(), (script, kernel, place) => {
        const { trace } = simulate(script, kernel);
        const count = place % (trace.events.length + 1);
        const events = trace.events.slice(0, count);
        const part = replayTrace({ ...trace, events }, { kernel });
        const whole = replayTrace(trace, { kernel });
        const index = part.steps.length - 1;
        expect(shown(whole.at(index))).toEqual(shown(part.at(index)));
        expect(
          whole
            .at(index)
            .names()
            .map(({ object, refs }) => [object.text, refs]),
        ).toEqual(
          part
            .at(index)
            .names()
            .map(({ object, refs }) => [object.text, refs]),
        );
      }),
      RUNS,
    );
  });

  it('can be asked for in any order, and again', () => {
    fc.assert(
      fc.property(scripts, fc.array(fc.nat(), { maxLength: 12 }), (script, places) => {
        const { trace } = simulate(script, '7.3');
        const replay = replayTrace(trace, { kernel: '7.3' });
        const first = replay.steps.map(({ index }) => everything(replay.at(index)));
        for (const place of places) {
          const index = place % Math.max(1, replay.steps.length);
          expect(everything(replay.at(index))).toEqual(first[index]);
        }
      }),
      RUNS,
    );
  });

  it('counts names by their holders', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const replay = replayTrace(simulate(script, '7.3').trace, { kernel: '7.3' });
        for (const { index } of replay.steps) {
          const instant = replay.at(index);
          const held = instant.lives.flatMap(({ id }) => instant.vmas(id).flatMap(({ name }) => name ?? []));
          const names = instant.names();
          expect(names.reduce((sum, { refs }) => sum + refs, 0)).toBe(held.length);
          for (const { object, refs, holders } of names) {
            expect(holders).toHaveLength(refs);
            expect(held.filter((name) => name === object)).toHaveLength(refs);
          }
        }
      }),
      RUNS,
    );
  });
});

describe('a replay of simulated calls', () => {
  it.each(KERNEL_VERSIONS)('agrees with every result on %s, and ends with the same maps', (version) => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { trace, kernel } = simulate(script, version);
        const replay = replayTrace(trace, { kernel: version });
        const wrong = replay.steps.filter(
          ({ predicted, recorded, kind }) => kind !== 'fork' && predicted !== recorded && predicted !== '?',
        );
        expect(wrong.map(({ call, predicted, recorded }) => [call, predicted, recorded])).toEqual([]);
        const last = replay.at(replay.steps.length - 1);
        for (const life of kernel.world.lives) {
          if (life.mm === null) continue;
          const own = last.lives.find(({ pid }) => pid === life.pid);
          const ranges = last.vmas(own?.id ?? '').map(({ start, end, flags }) => [start, end, flags]);
          expect(ranges).toEqual(life.mm.tree.all().map(({ start, end, flags }) => [start, end, flags]));
        }
      }),
      RUNS,
    );
  });
});

describe('a long replay', () => {
  // More steps than lie between two checkpoints, over several processes.
  const kernel = scenario('7.3', { lacks: ['soft-dirty'] }).nr(0, 1);
  const child = kernel.fork();
  for (let index = 0; index < 700; index++) {
    const process = index % 3 === 0 ? child : kernel;
    if (index % 2 === 0) process.nr(2 * index, 1);
    else process.name(2 * (index - 1), 1, `n${index % 7}`);
    process.seeResult();
    if (index === 300) kernel.fork();
    if (index === 500) child.fork().exit();
  }
  const trace = traceOf(kernel.made);
  const { replay, seen } = watched(trace, { kernel: '7.3' });

  it('shows every step as it was', () => {
    for (const { index } of replay.steps) {
      const instant = replay.at(index);
      expect(instant.lives.map(({ id }) => ({ id, vmas: instant.vmas(id) }))).toEqual(seen[index]);
    }
  });

  it('before the first and after the last', () => {
    expect(everything(replay.at(-1))).toEqual({ line: 0, lives: [], names: [] });
    expect(everything(replay.at(-5))).toEqual(everything(replay.at(-1)));
    expect(everything(replay.at(1e6))).toEqual(everything(replay.at(replay.steps.length - 1)));
  });

  it('the same in slices of any size', () => {
    for (const slice of [1, 7, 256]) {
      const replayer = new Replayer(trace, { kernel: '7.3' });
      const progress: number[] = [replayer.progress];
      while (!replayer.advance(slice)) progress.push(replayer.progress);
      progress.push(replayer.progress);
      const sliced = replayer.finish();
      expect(sliced.steps).toEqual(replay.steps);
      expect(everything(sliced.at(400))).toEqual(everything(replay.at(400)));
      expect(progress).toEqual([...progress].sort((a, b) => a - b));
      expect(progress.at(-1)).toBe(1);
    }
  });
});

describe('the step of a line', () => {
  const replay = replayRecording(join(import.meta.dirname, '..', '..', 'media', 'example'), '7.3');

  it('is the last one up to it', () => {
    const last = replay.steps.at(-1)?.line ?? 0;
    for (let line = 0; line <= last + 2; line++) {
      const index = replay.stepAtLine(line);
      const before = replay.steps.filter((step) => step.line <= line);
      expect([line, index]).toEqual([line, before.length - 1]);
    }
  });

  it('of the example', () => {
    expect(replay.stepAtLine(0)).toBe(-1);
    expect(replay.steps[replay.stepAtLine(15)]).toMatchObject({ line: 15, call: 'prctl' });
    // Line 68 ends an exit that line 67 was the call for; line 69 is a wait.
    expect(replay.steps[replay.stepAtLine(69)]?.line).toBeLessThanOrEqual(68);
    // A snapshot comes after the line of its open.
    expect(replay.steps[replay.stepAtLine(43)]).toMatchObject({ line: 43, call: 'snapshot' });
  });
});
