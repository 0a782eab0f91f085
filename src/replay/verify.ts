import { hexOfVpn } from '../mm/addr';
import type { Mm } from '../mm/mm';
import type { MapsEntry } from '../procfs/maps_entry';
import { formatMapsLine } from '../procfs/format_maps';
import { entriesOfVmas, shownKey } from './maps_view';
import type { FileTable } from './file_table';
import type { SnapshotCheck, SnapshotInput } from './replay_types';
import {
  settleBorders,
  settleCharges,
  settleDeletions,
  settleExecuteOnlyKey,
  settleFaults,
  settleStackGrowth,
} from './snapshot_settle';
import { seedMm } from './snapshot_splice';

/** Takes a snapshot over as the state of an address space of which the whole was not known. */
export function seedFrom(mm: Mm, files: FileTable, snapshot: SnapshotInput): SnapshotCheck {
  seedMm(mm, files, snapshot.entries);
  return { ...checked(snapshot), outcome: 'seed' };
}

/**
 * What no state since the opening of a snapshot has explained. The kernel writes a file of maps piece by piece: each of its
 * mappings was there at one moment or another, and one that was there all the time is in it.
 */
export interface Unmatched {
  /** Lines of the snapshot, and of the replay in every state; undefined before the first comparison. */
  snapshot: ReadonlySet<string> | undefined;
  replayed: ReadonlySet<string> | undefined;
}

/** The check of a snapshot all parts of which held at some moment; undefined where one never did. */
export function checkPiecewise(unmatched: Unmatched, snapshot: SnapshotInput): SnapshotCheck | undefined {
  const explained = unmatched.snapshot?.size === 0 && unmatched.replayed?.size === 0;
  return explained ? { ...checked(snapshot), outcome: 'equal', inPieces: true } : undefined;
}

function narrow(before: ReadonlySet<string> | undefined, lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.filter((line) => line !== '' && before?.has(line) !== false));
}

/**
 * Holds a snapshot against the replay; undefined where they differ. Faults that the snapshot shows are learned, what
 * differs goes into `unmatched`.
 */
export function checkEqual(mm: Mm, snapshot: SnapshotInput, unmatched: Unmatched): SnapshotCheck | undefined {
  const mark = mm.begin();
  const settled =
    settleStackGrowth(mm, snapshot.entries) +
    settleDeletions(mm, snapshot.entries) +
    settleExecuteOnlyKey(mm, snapshot.entries) +
    settleBorders(mm, snapshot.entries) +
    settleCharges(mm, snapshot.entries);
  const differences = compareEntries(replayedEntries(mm), snapshot.entries);
  if (differences.length > 0) {
    unmatched.snapshot = narrow(
      unmatched.snapshot,
      differences.map((difference) => difference.snapshot),
    );
    unmatched.replayed = narrow(
      unmatched.replayed,
      differences.map((difference) => difference.replayed),
    );
    mm.rollback(mark);
    return undefined;
  }
  settleFaults(mm, snapshot.entries);
  return { ...checked(snapshot), outcome: 'equal', settled };
}

/**
 * Reports a snapshot that differs and takes it over: the kernel's text wins, and one error is not reported again with
 * every later snapshot.
 */
export function takeOverDiffering(mm: Mm, files: FileTable, snapshot: SnapshotInput): SnapshotCheck {
  const differences = compareEntries(replayedEntries(mm), snapshot.entries);
  const [firstDifference] = differences;
  seedMm(mm, files, snapshot.entries);
  const check = { ...checked(snapshot), outcome: 'differs' as const, differences: differences.length };
  return firstDifference === undefined ? check : { ...check, firstDifference };
}

function checked({ label, pid, line, entries }: SnapshotInput): Omit<SnapshotCheck, 'outcome'> {
  return { label, pid, line, vmaCount: entries.length, differences: 0, settled: 0 };
}

function replayedEntries(mm: Mm): MapsEntry[] {
  return entriesOfVmas(mm.tree.all(), mm.scalars, mm.rules);
}

type Difference = NonNullable<SnapshotCheck['firstDifference']>;

/** Pairs of VMAs that differ, by address. Device and inode are compared only where both sides know them. */
function compareEntries(replayed: readonly MapsEntry[], snapshot: readonly MapsEntry[]): Difference[] {
  const differences: Difference[] = [];
  let a = 0;
  let b = 0;
  while (a < replayed.length || b < snapshot.length) {
    const left = replayed[a];
    const right = snapshot[b];
    if (right !== undefined && (left === undefined || right.end <= left.start)) {
      differences.push({
        replayed: '',
        snapshot: formatMapsLine(right),
        what: 'mapped in the snapshot only',
      });
      b++;
      continue;
    }
    if (left === undefined) break;
    if (right === undefined || left.end <= right.start) {
      differences.push({ replayed: formatMapsLine(left), snapshot: '', what: 'mapped in the replay only' });
      a++;
      continue;
    }
    const what = differenceOf(left, right);
    if (what !== undefined) {
      differences.push({ replayed: formatMapsLine(left), snapshot: formatMapsLine(right), what });
    }
    // Step past what ends first, so that one VMA against two is paired with both.
    if (left.end <= right.end) a++;
    if (right.end <= left.end) b++;
  }
  return differences;
}

function differenceOf(replayed: MapsEntry, snapshot: MapsEntry): string | undefined {
  if (replayed.start !== snapshot.start || replayed.end !== snapshot.end) {
    return `range ${range(replayed)} against ${range(snapshot)}`;
  }
  if (replayed.perms !== snapshot.perms) return `permissions ${replayed.perms} against ${snapshot.perms}`;
  if (replayed.offset !== snapshot.offset) return 'file offset';
  if (replayed.path !== snapshot.path || replayed.deleted !== snapshot.deleted) return 'name';
  const ours = replayed.smaps?.vmFlags?.join(' ');
  const theirs = snapshot.smaps?.vmFlags?.join(' ');
  if (ours !== undefined && theirs !== undefined && ours !== theirs) return `flags ${ours} against ${theirs}`;
  const key = shownKey(snapshot);
  const ourKey = shownKey(replayed) ?? 0;
  if (key !== undefined && ourKey !== key) return `protection key ${ourKey} against ${key}`;
  return undefined;
}

function range({ start, end }: MapsEntry): string {
  return `${hexOfVpn(start)}-${hexOfVpn(end)}`;
}
