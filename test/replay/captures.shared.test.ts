import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import type { MapsEntry } from '../../src/procfs/maps_entry';
import { replayTrace } from '../../src/replay/replayer';
import { placeSnapshots, type SnapshotFile } from '../../src/replay/snapshot_splice';
import type { TraceEvent } from '../../src/trace/event';
import { readTrace } from '../../src/trace/read_trace';
import { outcomes } from './recording';

const TRACES = join(import.meta.dirname, '..', '..', '..', 'shared', 'traces');

/** The texts of a capture, `PID.NN.LABEL.maps` with the flags of the smaps that was read right after. */
function snapshotsOf(folder: string): SnapshotFile[] {
  return readdirSync(folder).flatMap((file) => {
    const [, pid, number, label] = /^(\d+)\.(\d+)\.(.*)\.maps$/.exec(file) ?? [];
    if (pid === undefined || number === undefined || label === undefined) return [];
    const { entries } = parseMaps(readFileSync(join(folder, file), 'latin1'));
    const smaps = join(folder, file.replace(/maps$/, 'smaps'));
    const flags = existsSync(smaps) ? parseMaps(readFileSync(smaps, 'latin1')).entries : [];
    const withFlags = entries.map((entry): MapsEntry => {
      return { ...entry, smaps: flags.find(({ start }) => start === entry.start)?.smaps ?? null };
    });
    return [{ label: `${number}-${label}.${pid}.maps`, entries: withFlags }];
  });
}

function readsSmaps(event: TraceEvent): boolean {
  return event.kind === 'syscall' && event.call.name === 'openat' && event.call.path.endsWith('/smaps');
}

describe.skipIf(!existsSync(TRACES))('captures of programs on 6.18', () => {
  it.each([
    ['a-tour-72-rec', 16],
    ['h-arenas-72-rec', 2],
    ['j-spawn-72-rec', 2],
    ['k-clone3-72-rec', 1],
  ] as const)(
    '%s: from its first snapshot, %i later ones are equal and nothing is unexplained',
    (name, count) => {
      const trace = readTrace(readFileSync(join(TRACES, `${name}.strace`), 'latin1'));
      const reads = trace.events.filter((event) => !readsSmaps(event));
      const { snapshots } = placeSnapshots(reads, snapshotsOf(join(TRACES, `${name}.maps`)));
      const replay = replayTrace(trace, { kernel: '6.18', snapshots, validate: true });
      const [first, ...later] = outcomes(replay.checks);
      expect(first).toMatch(/ seed$/);
      expect(later.filter((outcome) => !outcome.endsWith(' equal'))).toEqual([]);
      expect(later).toHaveLength(count);
      expect(replay.steps.filter(({ mismatch }) => mismatch?.code === 'unexplained')).toEqual([]);
    },
  );

  it.each(['n-texec', 'o-die', 'r-reuse', 's-race'])('%s: nothing is unexplained', (name) => {
    const trace = readTrace(readFileSync(join(TRACES, `${name}-72-rec.strace`), 'latin1'));
    const replay = replayTrace(trace, { kernel: '6.18' });
    expect(replay.steps.length).toBeGreaterThan(20);
    expect(replay.steps.filter(({ mismatch }) => mismatch?.code === 'unexplained')).toEqual([]);
  });
});
