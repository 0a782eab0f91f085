import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMaps } from '../../src/procfs/maps';
import type { KernelVersion } from '../../src/mm/kernel_rules';
import { replayTrace } from '../../src/replay/replayer';
import type { Instant, NameObject, Replay, SnapshotCheck } from '../../src/replay/replay_types';
import { placeSnapshots } from '../../src/replay/snapshot_splice';
import { readTrace } from '../../src/trace/read_trace';

/** Replays the recording in a folder (one strace log and its snapshots), recounting after every event. */
export function replayRecording(folder: string, kernel: KernelVersion): Replay {
  const names = readdirSync(folder);
  const log = names.find((name) => name.endsWith('.strace'));
  if (log === undefined) throw new Error(`${folder} holds no .strace file`);
  const trace = readTrace(readFileSync(join(folder, log), 'latin1'));
  const files = names
    .filter((name) => name.endsWith('.smaps'))
    .map((label) => ({ label, entries: parseMaps(readFileSync(join(folder, label), 'latin1')).entries }));
  const { snapshots, problems } = placeSnapshots(trace.events, files);
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.text).join('\n'));
  return replayTrace(trace, { kernel, snapshots, validate: true });
}

/** `LABEL outcome`, with the first difference where there is one, so that a failure tells it. */
export function outcomes(checks: readonly SnapshotCheck[]): string[] {
  return checks.map((check) => {
    const first = check.firstDifference;
    const label = check.label.replace(/\.\d+\.smaps$/, '');
    if (first === undefined) return `${label} ${check.outcome}`;
    return `${label} ${check.outcome}: ${first.what}\n  replay   ${first.replayed}\n  snapshot ${first.snapshot}`;
  });
}

/** The instant after everything up to and including `line`. */
export function atLine(replay: Replay, line: number): Instant {
  return replay.at(replay.stepAtLine(line));
}

/** The only object with this text at an instant; undefined where there is none. */
export function objectCalled(instant: Instant, text: string): NameObject | undefined {
  const found = instant.names().filter((name) => name.object.text === text);
  if (found.length > 1) throw new Error(`${found.length} objects are called ${text}`);
  return found[0];
}

/** `text refs (pid×holders …)` of every object at an instant. */
export function nameCounts(instant: Instant): Record<string, Record<number, number>> {
  const counts: Record<string, Record<number, number>> = {};
  for (const { object, holders } of instant.names()) {
    const byPid: Record<number, number> = {};
    for (const { pid } of holders) byPid[pid] = (byPid[pid] ?? 0) + 1;
    counts[object.text] = byPid;
  }
  return counts;
}
