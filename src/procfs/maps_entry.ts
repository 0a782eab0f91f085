import type { U64, Vpn } from '../mm/addr';

/**
 * One mapping as /proc/PID/maps or smaps shows it. The same shape is used for a live process, a saved file
 * and an instant of a replay, so that everything that asks questions of an address space asks them once.
 */
export interface MapsEntry {
  /** 1-based line of the header in its source; 0 where there is no text (a replayed instant). */
  readonly line: number;
  /** First page. */
  readonly start: Vpn;
  /** One past the last page. */
  readonly end: Vpn;
  /** Permissions as printed, normally four characters (`rw-p`). */
  readonly perms: string;
  /** Offset in the file, in bytes. */
  readonly offset: U64;
  /** `major:minor` as printed (hex). */
  readonly dev: string;
  /** Decimal digits: inodes pass 2^53. */
  readonly inode: string;
  /**
   * The text after the inode column, `\012` turned back into a newline, without the ` (deleted)` mark; ''
   * where there is none. Bytes that are not UTF-8 are kept as base/bytes describes.
   */
  readonly path: string;
  /** The line ended in ` (deleted)`. A file may really be called that; the kernel does not tell. */
  readonly deleted: boolean;
  /** NAME of `[anon:NAME]` or `[anon_shmem:NAME]` ('' is a name); null without one. */
  readonly anonName: string | null;
  /** What smaps adds; null in a plain maps file. */
  readonly smaps: SmapsFields | null;
  /**
   * Not observed: concluded from a call that worked there. Only the range is sure (and the permissions, where a call set
   * them); what else is shown is a guess.
   */
  readonly inferred?: true;
}

export interface SmapsFields {
  /** Fields in printed order, by name without the colon. VmFlags is not among them. */
  readonly fields: ReadonlyMap<string, SmapsValue>;
  /** Mnemonics in printed order, unknown ones and `??` kept; null where there was no VmFlags line. */
  readonly vmFlags: readonly string[] | null;
  /** False when the text ended inside this entry: fields that are absent are unknown, not zero. */
  readonly complete: boolean;
}

/** A field's value: a number with its unit as printed (`kB`, or '' without one), or text kept as it is. */
export type SmapsValue =
  | { readonly kind: 'number'; readonly value: U64; readonly unit: string }
  | { readonly kind: 'text'; readonly text: string };
