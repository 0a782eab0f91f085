import type { ParseProblem } from '../base/parse_problem';
import type { Vpn } from '../mm/addr';
import type { MapsEntry, SmapsFields } from './maps_entry';

/** What a text is. `unknown` when nothing in it could be read. */
export type MapsKind = 'maps' | 'smaps' | 'smaps_rollup' | 'gdb' | 'sanitizer' | 'unknown';

/** A text of mappings as far as it could be read, and all that is needed to write it back. */
export interface MapsDocument {
  readonly kind: MapsKind;
  /** In the order of their lines, repeated and overlapping ones included. */
  readonly entries: readonly MapsEntry[];
  /** The sums over the whole process, where the text is (or ends in) an smaps_rollup. */
  readonly rollup: SmapsRollup | null;
  /** By line. */
  readonly problems: readonly ParseProblem[];
  readonly source: MapsSource;
}

/** The one record of smaps_rollup. */
export interface SmapsRollup {
  readonly line: number;
  /** From the start of the first mapping to the end of the last one; both 0 without mappings. */
  readonly start: Vpn;
  readonly end: Vpn;
  readonly smaps: SmapsFields;
}

/** The text that was parsed, cut into blocks: block `i` is `text.slice(blockEnds[i - 1] ?? 0, blockEnds[i])`. */
export interface MapsSource {
  /** The input, a latin1 byte string. */
  readonly text: string;
  readonly blockEnds: readonly number[];
  /** For each block the index in `entries` whose lines it holds, or {@link OUTSIDE}. */
  readonly blockOwners: readonly number[];
  /** The text does not end in a newline: what its last line says may be only the beginning. */
  readonly noFinalNewline: boolean;
}

/** Owner of blocks that belong to no entry. */
export const OUTSIDE = -1;
