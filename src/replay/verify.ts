import { hexOfVpn } from '../mm/addr';
import type { Mm } from '../mm/mm';
import type { MapsEntry } from '../procfs/maps_entry';
import { formatMapsLine } from '../procfs/format_maps';
import { entriesOfVmas } from './maps_view';
import type { FileTable } from './file_table';
import type { SnapshotCheck, SnapshotInput } from './replay_types';
import { seedMm, settleFaults, settleStackGrowth } from './snapshot_splice';

/**
 * Takes the first snapshot of an address space over, and holds later ones against it. After a difference the snapshot
 * is taken over, so that one error is not reported again with every later snapshot.
 */
export function checkSnapshot(mm: Mm, files: FileTable, snapshot: SnapshotInput): SnapshotCheck {
  const { label, pid, line, entries } = snapshot;
  const base = { label, pid, line, vmaCount: entries.length, differences: 0 };
  if (!mm.scalars.complete) {
    seedMm(mm, files, entries);
    return { ...base, outcome: 'seed' };
  }
  settleStackGrowth(mm, entries);
  const replayed = entriesOfVmas(mm.tree.all(), mm.scalars, mm.rules);
  const differences = compareEntries(replayed, entries);
  const [firstDifference] = differences;
  if (firstDifference === undefined) {
    settleFaults(mm, entries);
    return { ...base, outcome: 'equal' };
  }
  seedMm(mm, files, entries);
  return { ...base, outcome: 'differs', differences: differences.length, firstDifference };
}

type Difference = NonNullable<SnapshotCheck['firstDifference']>;

/** Pairs of VMAs that differ, by address. Device and inode are compared only where both sides know them. */
export function compareEntries(replayed: readonly MapsEntry[], snapshot: readonly MapsEntry[]): Difference[] {
  const differences: Difference[] = [];
  let a = 0;
  let b = 0;
  while (a < replayed.length || b < snapshot.length) {
    const left = replayed[a];
    const right = snapshot[b];
    const only = left === undefined || (right !== undefined && right.end <= left.start);
    const onlyLeft = right === undefined || (left !== undefined && left.end <= right.start);
    if (only || onlyLeft) {
      differences.push({
        replayed: only ? '' : formatMapsLine(left),
        snapshot: only && right !== undefined ? formatMapsLine(right) : '',
        what: only ? 'mapped in the snapshot only' : 'mapped in the replay only',
      });
      if (only) b++;
      else a++;
      continue;
    }
    if (left === undefined || right === undefined) break;
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
  return undefined;
}

function range({ start, end }: MapsEntry): string {
  return `${hexOfVpn(start)}-${hexOfVpn(end)}`;
}
