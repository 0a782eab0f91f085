import type { MapsEntry } from './maps_entry';
import type { ProblemList } from './problem_list';

/**
 * A read of maps is consistent within one page of text at most, so a mapping that moves or grows meanwhile
 * can be printed twice. Says which lines repeat, overlap or are below another one; nothing is dropped.
 *
 * @param entries in the order of their lines
 */
export function findTornReads(entries: readonly MapsEntry[], problems: ProblemList): void {
  if (isAscending(entries)) return;
  const told = new Set<MapsEntry>();
  const firsts: MapsEntry[] = [];
  const repeats = repeatedEntries(entries);
  for (const entry of entries) {
    const first = repeats.get(entry);
    if (first === undefined) {
      firsts.push(entry);
      continue;
    }
    told.add(entry);
    problems.add(
      entry.line,
      'repeated-line',
      `line ${entry.line} repeats line ${first.line}, totals count it once: ${TORN}`,
    );
  }
  tellOverlaps(firsts, told, problems);
  tellOrder(entries, told, problems);
}

const TORN = 'so it is when mappings change while they are read';

/** Each entry begins where the one before it ends, or above: the normal case. */
function isAscending(entries: readonly MapsEntry[]): boolean {
  let end = 0;
  for (const entry of entries) {
    if (entry.start < end) return false;
    end = entry.end;
  }
  return true;
}

/**
 * Entries that say the same as an earlier one, with that one. Their smaps fields are not compared: memory
 * use goes on changing between two prints of one mapping.
 */
function repeatedEntries(entries: readonly MapsEntry[]): ReadonlyMap<MapsEntry, MapsEntry> {
  const repeats = new Map<MapsEntry, MapsEntry>();
  if (isAscending(entries)) return repeats;
  const seen = new Map<string, MapsEntry>();
  for (const entry of entries) {
    const { start, end, perms, offset, dev, inode, deleted, path } = entry;
    const key = `${start} ${end} ${perms} ${offset} ${dev} ${inode} ${deleted} ${path}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, entry);
    else repeats.set(entry, first);
  }
  return repeats;
}

/** Sweeps in address order with the entry that reaches furthest; tells of each entry once, at the later line. */
function tellOverlaps(firsts: readonly MapsEntry[], told: Set<MapsEntry>, problems: ProblemList): void {
  const sorted = [...firsts].sort((a, b) => a.start - b.start || a.end - b.end || a.line - b.line);
  let furthest: MapsEntry | undefined;
  for (const entry of sorted) {
    if (furthest !== undefined && entry.start < furthest.end) {
      const [earlier, later] = entry.line < furthest.line ? [entry, furthest] : [furthest, entry];
      if (!told.has(later)) {
        told.add(later);
        problems.add(later.line, 'overlap', `line ${later.line} overlaps line ${earlier.line}: ${TORN}`);
      }
    }
    if (furthest === undefined || entry.end > furthest.end) furthest = entry;
  }
}

function tellOrder(entries: readonly MapsEntry[], told: ReadonlySet<MapsEntry>, problems: ProblemList): void {
  let previous: MapsEntry | undefined;
  for (const entry of entries) {
    if (previous !== undefined && entry.start < previous.start && !told.has(entry)) {
      problems.add(entry.line, 'out-of-order', `line ${entry.line} is below line ${previous.line}`);
    }
    previous = entry;
  }
}
