import type { MapsEntry } from '../../procfs/maps_entry';
import type { Instant } from '../../replay/replay_types';

/**
 * Mappings of `after` that were not there, or not like this, at `before`. Empty where the process did not exist
 * before: everything being new says nothing.
 */
export function changedEntries(before: Instant, after: Instant, lifeId: string): ReadonlySet<MapsEntry> {
  const old = before.entries(lifeId);
  if (old.length === 0) return new Set();
  const known = new Set(old.map(likeness));
  return new Set(after.entries(lifeId).filter((entry) => !known.has(likeness(entry))));
}

/** Everything of a mapping that a person sees. */
function likeness(entry: MapsEntry): string {
  const flags = entry.smaps?.vmFlags?.join(' ') ?? '';
  return `${entry.start} ${entry.end} ${entry.perms} ${entry.offset} ${entry.path} ${flags}`;
}
