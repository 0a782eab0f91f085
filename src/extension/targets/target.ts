import type { ParseProblem } from '../../base/parse_problem';
import type { Result } from '../../base/result';
import type { SealReporting } from '../../analysis/seals';
import type { SourceError } from '../../node/source_error';
import type { MapsEntry } from '../../procfs/maps_entry';

/** What a target shows at one moment. */
export interface AddressSpace {
  readonly entries: readonly MapsEntry[];
  readonly sealing: SealReporting;
  /** Problems in the text that it was read from. */
  readonly problems: readonly ParseProblem[];
  /** What a person must know to read it right, one sentence each. */
  readonly notes: readonly string[];
  /** What the last step of a replay changed. */
  readonly changed: ReadonlySet<MapsEntry>;
}

/** Something whose address space can be looked at: a live process, a saved file, an instant of a replay. */
export interface Target {
  readonly kind: 'live' | 'file' | 'replay';
  /** The same for the same thing. */
  readonly id: string;
  /** A few words: `node 1234`, `a.smaps`, `story.strace: 21 worker`. */
  readonly label: string;
  /** Longer words for hovers. */
  readonly location: string;
  /** Reads it as it is now. */
  read(signal: AbortSignal): Promise<Result<AddressSpace, SourceError>>;
}
