import { bytesOfPages, type U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';
import { addExact } from './exact_sum';

/** Sums over some mappings. */
export interface Totals {
  /** Mappings counted. A line that a torn read repeats counts once. */
  readonly count: number;
  /** Address space covered, in bytes. */
  readonly bytes: U64;
  /** Sums in kB of the smaps fields; null where no mapping has the field. */
  readonly rss: U64 | null;
  readonly pss: U64 | null;
  readonly swap: U64 | null;
  /** Mappings without (all of) these fields: plain maps, or text that ended inside the entry. */
  readonly unmeasured: number;
}

/** Adds up mappings in one pass. */
export function totalsOf(entries: readonly MapsEntry[]): Totals {
  const unique = withoutRepeats(entries);
  let bytes: U64 = 0;
  let rss: U64 | null = null;
  let pss: U64 | null = null;
  let swap: U64 | null = null;
  let unmeasured = 0;
  for (const entry of unique) {
    bytes = addExact(bytes, sizeOf(entry));
    const entryRss = kilobytes(entry, 'Rss');
    const entryPss = kilobytes(entry, 'Pss');
    const entrySwap = kilobytes(entry, 'Swap');
    rss = plus(rss, entryRss);
    pss = plus(pss, entryPss);
    swap = plus(swap, entrySwap);
    if (entryRss === null || entry.smaps?.complete === false) unmeasured++;
  }
  return { count: unique.length, bytes, rss, pss, swap, unmeasured };
}

/** Fields that describe pages or eligibility; adding them up means nothing. */
const NOT_SUMMED: ReadonlySet<string> = new Set(['Size', 'KernelPageSize', 'MMUPageSize']);

/** The sum of every smaps field that is an amount of memory (kB), in the order in which they first appear. */
export function fieldTotals(entries: readonly MapsEntry[]): ReadonlyMap<string, U64> {
  const totals = new Map<string, U64>();
  for (const entry of withoutRepeats(entries)) {
    for (const [name, value] of entry.smaps?.fields ?? []) {
      if (value.kind !== 'number' || value.unit !== 'kB' || NOT_SUMMED.has(name)) continue;
      totals.set(name, addExact(totals.get(name) ?? 0, value.value));
    }
  }
  return totals;
}

/** Size of a mapping in bytes; 0 for a damaged line whose end is before its start. */
export function sizeOf(entry: MapsEntry): U64 {
  return bytesOfPages(Math.max(0, entry.end - entry.start));
}

/** A smaps field in kB, null where it is absent or not an amount in kB. */
export function kilobytes(entry: MapsEntry, field: string): U64 | null {
  const value = entry.smaps?.fields.get(field);
  return value?.kind === 'number' && value.unit === 'kB' ? value.value : null;
}

/**
 * Drops lines that repeat an earlier one: a read of /proc/PID/maps is consistent only page by page, and a
 * mapping that moved up meanwhile is listed twice. Costs nothing for a list in address order.
 */
export function withoutRepeats(entries: readonly MapsEntry[]): readonly MapsEntry[] {
  let highest = 0;
  let seen: Set<string> | undefined;
  let kept: MapsEntry[] | undefined;
  for (const [index, entry] of entries.entries()) {
    if (entry.start < highest) {
      seen ??= new Set(entries.slice(0, index).map(identity));
      if (seen.has(identity(entry))) kept ??= entries.slice(0, index);
      else kept?.push(entry);
    } else {
      kept?.push(entry);
    }
    seen?.add(identity(entry));
    highest = Math.max(highest, entry.end);
  }
  return kept ?? entries;
}

function identity(entry: MapsEntry): string {
  return `${entry.start.toString(16)} ${entry.end.toString(16)} ${entry.perms} ${entry.dev} ${entry.inode} ${entry.path}`;
}

function plus(sum: U64 | null, value: U64 | null): U64 | null {
  if (value === null) return sum;
  return sum === null ? value : addExact(sum, value);
}
