import type { MapsEntry } from '../../procfs/maps_entry';

/**
 * Mappings of `after` (the very objects) that were not there, or not like this, in `before`. Empty where there was
 * nothing before: everything being new says nothing.
 */
export function changedEntries(
  before: readonly MapsEntry[],
  after: readonly MapsEntry[],
): ReadonlySet<MapsEntry> {
  if (before.length === 0) return new Set();
  const known = new Set(before.map(likeness));
  return new Set(after.filter((entry) => !known.has(likeness(entry))));
}

/** Everything of a mapping that a person sees. */
function likeness(entry: MapsEntry): string {
  const flags = entry.smaps?.vmFlags?.join(' ') ?? '';
  return `${entry.start} ${entry.end} ${entry.perms} ${entry.offset} ${entry.path} ${flags}`;
}
