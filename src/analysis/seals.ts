import type { U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';
import { addExact } from './exact_sum';
import { sizeOf, withoutRepeats } from './totals';

/**
 * Can this source tell which mappings are sealed? Only the VmFlags line of smaps does, only where the kernel
 * prints `sl`, and a saved file does not say which kernel wrote it.
 */
export type SealReporting =
  /** A VmFlags line without `sl` means not sealed. */
  | 'reported'
  /** The kernel has no mseal: nothing is sealed. */
  | 'impossible'
  /** Only `sl` itself says something. */
  | 'unknown';

/** mseal and its `sl` in smaps came with this release. */
const MSEAL_SINCE = { major: 6, minor: 10 };

/**
 * What the text itself proves: `sl` somewhere, or another trace of a kernel that prints it. `dp` (droppable,
 * 6.11), `gu` (guard markers, 6.18), `ur` (7.x) and [vvar_vclock] (6.13) are all younger than `sl`.
 */
export function sealReportingOf(entries: readonly MapsEntry[]): SealReporting {
  const anyFlags = entries.some((entry) => (entry.smaps?.vmFlags ?? null) !== null);
  if (!anyFlags) return 'unknown';
  const proof = entries.some(
    (entry) =>
      entry.path === '[vvar_vclock]' || entry.smaps?.vmFlags?.some((flag) => YOUNGER.has(flag)) === true,
  );
  return proof ? 'reported' : 'unknown';
}

const YOUNGER: ReadonlySet<string> = new Set(['sl', 'dp', 'gu', 'ur']);

/** The same for a known kernel (`6.1.0-18-amd64`); 'unknown' for a release that cannot be read. */
export function sealReportingOfRelease(release: string): SealReporting {
  const match = /^(\d{1,4})\.(\d{1,4})/.exec(release);
  if (match === null) return 'unknown';
  const major = Number(match[1]);
  const minor = Number(match[2]);
  const has = major > MSEAL_SINCE.major || (major === MSEAL_SINCE.major && minor >= MSEAL_SINCE.minor);
  return has ? 'reported' : 'impossible';
}

/** Is this mapping sealed? null where the source cannot tell. */
export function sealedOf(entry: MapsEntry, reporting: SealReporting): boolean | null {
  const flags = entry.smaps?.vmFlags ?? null;
  if (flags?.includes('sl') === true) return true;
  if (reporting === 'impossible') return false;
  return flags !== null && reporting === 'reported' ? false : null;
}

export interface SealCoverage {
  /** `some`: at least one seal; `none`: every mapping is known not to be sealed; `unknown`: the rest. */
  readonly state: 'some' | 'none' | 'unknown';
  readonly sealed: readonly MapsEntry[];
  readonly sealedBytes: U64;
  readonly totalCount: number;
  readonly totalBytes: U64;
  /** Mappings of which the source cannot tell. */
  readonly unknownCount: number;
}

/** How much of an address space is sealed, and of how much that cannot be said. */
export function sealCoverage(entries: readonly MapsEntry[], reporting: SealReporting): SealCoverage {
  const sealed: MapsEntry[] = [];
  const unique = withoutRepeats(entries);
  let sealedBytes: U64 = 0;
  let totalBytes: U64 = 0;
  let unknownCount = 0;
  for (const entry of unique) {
    const size = sizeOf(entry);
    const state = sealedOf(entry, reporting);
    totalBytes = addExact(totalBytes, size);
    if (state === null) unknownCount++;
    if (state !== true) continue;
    sealed.push(entry);
    sealedBytes = addExact(sealedBytes, size);
  }
  const state = sealed.length > 0 ? 'some' : unknownCount > 0 || reporting === 'unknown' ? 'unknown' : 'none';
  return { state, sealed, sealedBytes, totalCount: unique.length, totalBytes, unknownCount };
}
