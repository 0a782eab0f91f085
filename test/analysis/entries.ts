import { vpn } from '../../src/mm/addr';
import type { MapsEntry, SmapsFields, SmapsValue } from '../../src/procfs/maps_entry';

/** What a test says of a mapping; everything else is an unnamed private anonymous page range. */
export interface EntrySketch {
  readonly at?: number;
  readonly pages?: number;
  readonly perms?: string;
  readonly path?: string;
  readonly name?: string;
  readonly inode?: string;
  readonly dev?: string;
  readonly deleted?: boolean;
  readonly line?: number;
  readonly offset?: number | bigint;
  /** smaps fields in kB; without it and without `flags` the entry is one of plain maps. */
  readonly kB?: Readonly<Record<string, number | bigint>>;
  readonly flags?: string;
  readonly complete?: boolean;
}

/** Makes one mapping at page `at`. `name` makes it `[anon:NAME]`. */
export function entry(sketch: EntrySketch = {}): MapsEntry {
  const start = sketch.at ?? 0x1000;
  const path = sketch.path ?? (sketch.name === undefined ? '' : `[anon:${sketch.name}]`);
  return {
    line: sketch.line ?? 0,
    start: vpn(start),
    end: vpn(start + (sketch.pages ?? 1)),
    perms: sketch.perms ?? 'rw-p',
    offset: sketch.offset ?? 0,
    dev: sketch.dev ?? '00:00',
    inode: sketch.inode ?? (path.startsWith('/') ? '7' : '0'),
    path,
    deleted: sketch.deleted ?? false,
    anonName: sketch.name ?? null,
    smaps: smapsOf(sketch),
  };
}

/** Mappings one after the other, each right behind the one before unless it says where it is. */
export function entriesOf(...sketches: readonly EntrySketch[]): readonly MapsEntry[] {
  let at = 0x1000;
  return sketches.map((sketch) => {
    const made = entry({ at, ...sketch });
    at = made.end;
    return made;
  });
}

function smapsOf(sketch: EntrySketch): SmapsFields | null {
  if (sketch.kB === undefined && sketch.flags === undefined) return null;
  const fields = new Map<string, SmapsValue>();
  for (const [name, value] of Object.entries(sketch.kB ?? {}))
    fields.set(name, { kind: 'number', value, unit: 'kB' });
  const vmFlags = sketch.flags === undefined ? null : sketch.flags.split(' ').filter((flag) => flag !== '');
  return { fields, vmFlags, complete: sketch.complete ?? true };
}
