import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindContext, kindOf } from '../../src/analysis/kind';
import { fieldTotals, totalsOf } from '../../src/analysis/totals';
import { bytesOfText } from '../../src/base/bytes';
import { hexOfU64, hexOfVpn, vpnOf } from '../../src/mm/addr';
import { formatMapsLine } from '../../src/procfs/format_maps';
import type { MapsDocument } from '../../src/procfs/maps_document';
import type { MapsEntry } from '../../src/procfs/maps_entry';
import { parseAndCheck, problemCodes } from './document_properties';

const SHARED = join(import.meta.dirname, '..', '..', '..', 'shared');
const CASES = join(SHARED, 'cases');
const TRACES = join(SHARED, 'traces');

function readCase(name: string): MapsDocument {
  return parseAndCheck(readFileSync(join(CASES, name), 'latin1'));
}

/** The JSON block of a note: what each entry is expected to say. */
interface ExpectedEntry {
  readonly start: string;
  readonly end: string;
  readonly perms: string;
  readonly name: string;
  readonly offset?: string;
  readonly dev?: string;
  readonly inode?: string;
  readonly anonName?: string;
  readonly kind?: string;
}

function expectedEntries(note: string): readonly ExpectedEntry[] | null {
  const block = /```json\n([^]*?)```/.exec(note)?.[1];
  return block === undefined ? null : (JSON.parse(block) as readonly ExpectedEntry[]);
}

function asExpected(entry: MapsEntry, wanted: ExpectedEntry): ExpectedEntry {
  return {
    start: hexOfVpn(entry.start),
    end: hexOfVpn(entry.end),
    perms: entry.perms,
    name: entry.path,
    ...(wanted.offset === undefined ? {} : { offset: hexOfU64(entry.offset) }),
    ...(wanted.dev === undefined ? {} : { dev: entry.dev }),
    ...(wanted.inode === undefined ? {} : { inode: entry.inode }),
    ...(wanted.anonName === undefined ? {} : { anonName: entry.anonName ?? 'none' }),
    ...(wanted.kind === undefined ? {} : { kind: kindOf(entry, kindContext([entry])) }),
  };
}

function rss(document: MapsDocument): readonly unknown[] {
  return document.entries.map((entry) => {
    const value = entry.smaps?.fields.get('Rss');
    return value?.kind === 'number' ? value.value : null;
  });
}

function kinds(document: MapsDocument): readonly string[] {
  const context = kindContext(document.entries);
  return document.entries.map((entry) => kindOf(entry, context));
}

describe.skipIf(!existsSync(CASES))('the collected cases', () => {
  const names = existsSync(CASES) ? readdirSync(CASES).filter((name) => /\.s?maps$/.test(name)) : [];

  test.each(names)('%s says what its note expects of each entry', (name) => {
    const note = readFileSync(join(CASES, name.replace(/\.s?maps$/, '.expect.md')), 'utf8');
    const document = readCase(name);
    const wanted = expectedEntries(note);
    if (wanted === null) return;
    expect(document.entries).toHaveLength(wanted.length);
    const found = document.entries.map((entry, i) => asExpected(entry, wanted[i] ?? ({} as ExpectedEntry)));
    expect(found).toEqual(wanted);
  });

  test.each<[string, number, readonly string[]]>([
    ['001.maps', 2, []],
    ['002.maps', 4, []],
    ['005.maps', 2, []],
    ['006.maps', 2, []],
    ['007.smaps', 2, []],
    ['010.maps', 2, []],
    ['011.maps', 3, []],
    ['012.maps', 3, []],
    ['015.maps', 2, []],
    ['016.maps', 6, ['5 out-of-order']],
    ['017.maps', 5, []],
    ['020.maps', 4, []],
    ['021.maps', 4, []],
    ['022.maps', 5, []],
    ['025.maps', 3, []],
    ['026.maps', 4, []],
    ['027.maps', 5, ['5 out-of-order']],
    ['030.maps', 2, []],
    ['031.maps', 2, []],
    ['032.maps', 3, []],
    ['035.maps', 1, ['1 end-below-start']],
    ['036.maps', 4, ['3 repeated-line', '4 overlap']],
    ['037.maps', 3, ['3 out-of-order']],
    ['040.maps', 2, []],
    ['041.maps', 3, []],
    ['042.maps', 0, ['1 not-maps']],
    ['045.maps', 4, []],
    ['046.maps', 1, ['2 sanitizer-layout']],
    ['047.maps', 3, ['5 gdb-layout']],
    ['050.smaps', 3, []],
    ['051.smaps', 1, []],
    ['052.smaps', 3, []],
    ['055.smaps', 1, ['10 odd-unit']],
    ['056.smaps', 3, []],
    ['057.smaps', 3, []],
    ['060.smaps', 2, ['11 cut-off']],
  ])('%s: %i entries and the problems %j', (name, count, problems) => {
    const document = readCase(name);
    expect(document.entries).toHaveLength(count);
    expect(problemCodes(document)).toEqual(problems);
  });

  test('006: the bytes of the path are recoverable', () => {
    const bytes = Buffer.from(bytesOfText(readCase('006.maps').entries[0]?.path ?? ''), 'latin1');
    expect(bytes.toString('hex')).toBe('2f746d702f6c6174e9696e2fb8fe');
  });

  test('007: an anonymous name of six bytes', () => {
    const document = readCase('007.smaps');
    expect(bytesOfText(document.entries[0]?.anonName ?? '')).toHaveLength(6);
    expect(rss(document)).toEqual([4, 0]);
  });

  test('010: a path of 4211 characters', () => {
    expect(readCase('010.maps').entries.map((entry) => entry.path.length)).toEqual([4211, 6]);
  });

  test('015: byte-exact look-ups above 2^53', () => {
    const [first, vsyscall] = readCase('015.maps').entries;
    const holds = (entry: MapsEntry | undefined, address: bigint) => {
      const page = vpnOf(address);
      return entry !== undefined && page >= entry.start && page < entry.end;
    };
    expect(holds(vsyscall, 0xffffffffff600123n)).toBe(true);
    expect(holds(first, 0xff123456789fffn)).toBe(true);
    expect(holds(first, 0xff12345678a000n)).toBe(false);
  });

  test('016, 017: names in brackets are special, known or not', () => {
    expect(kinds(readCase('016.maps'))).toEqual(Array.from({ length: 6 }, () => 'special'));
    expect(kinds(readCase('017.maps')).slice(1, 4)).toEqual(['special', 'special', 'special']);
  });

  test('020: several heaps of 0x25 pages together', () => {
    const { entries } = readCase('020.maps');
    expect(entries.reduce((pages, { start, end }) => pages + end - start, 0)).toBe(0x25);
    expect(kinds(readCase('020.maps'))).toEqual(['heap', 'heap', 'heap', 'heap']);
  });

  test('022: names hold what they hold, and none is a deleted file', () => {
    const { entries } = readCase('022.maps');
    expect(entries.some((entry) => entry.deleted)).toBe(false);
  });

  test('025, 026, 030: kinds by path', () => {
    expect(kinds(readCase('025.maps'))).toEqual(['sysv', 'sysv', 'sysv']);
    expect(readCase('025.maps').entries.map((entry) => entry.path)).toEqual([
      '/SYSV00000000',
      '/SYSVba5bd51c',
      '/SYSV00000000',
    ]);
    expect(kinds(readCase('026.maps'))).toEqual(['socket', 'anon-inode', 'hugetlb', 'anonymous']);
    expect(kinds(readCase('030.maps'))).toEqual(['file', 'file']);
  });

  test('036: totals count a repeated line once', () => {
    const document = readCase('036.maps');
    expect(document.problems[0]?.text).toContain('line 3 repeats line 2');
    expect(document.problems[1]?.text).toContain('line 4 overlaps line 2');
    expect(totalsOf(document.entries)).toMatchObject({ count: 3, bytes: (4 + 2 + 4) * 4096 });
  });

  test('046, 047: other layouts', () => {
    const [sanitizer] = readCase('046.maps').entries;
    expect(sanitizer).toMatchObject({ perms: '????', path: '/dev/ashmem/dalvik-main space', deleted: true });
    const gdb = readCase('047.maps').entries;
    expect(gdb.map(({ offset, path }) => [offset, path])).toEqual([
      [0, '/usr/bin/demo'],
      [0x4000, '/usr/bin/demo'],
      [0, ''],
    ]);
  });

  test('050 to 060: fields and flags', () => {
    expect(readCase('050.smaps').entries.map((entry) => entry.smaps?.vmFlags?.slice(-3))).toEqual([
      ['dd', 'sd', 'dp'],
      ['me', 'ac', 'sl'],
      ['mr', '??', 'zz'],
    ]);
    expect(readCase('051.smaps').entries[0]?.smaps?.vmFlags).toHaveLength(6);
    expect(readCase('052.smaps').entries.map((entry) => entry.smaps?.fields.get('THPeligible'))).toEqual(
      [0, 1, 1].map((value) => ({ kind: 'number', value, unit: '' })),
    );
    const odd = fieldTotals(readCase('055.smaps').entries);
    expect(odd.get('NewThing')).toBe(12);
    expect(odd.has('OddUnit')).toBe(false);
    expect(rss(readCase('057.smaps'))).toEqual([16, 4, 4]);
    const cut = readCase('060.smaps').entries[1]?.smaps;
    expect(cut?.complete).toBe(false);
    expect(cut?.fields.get('Rss')).toEqual({ kind: 'number', value: 64, unit: 'kB' });
  });
});

describe.skipIf(!existsSync(TRACES))('maps and smaps of real processes', () => {
  const files = existsSync(TRACES) ? mapsFilesIn(TRACES) : [];
  /** Two files were cut by the buffer of the program that wrote them, qemu prints [vsyscall] twice. */
  const cut = files.filter((name) => /s-race-72-rec.*(quiet|end)\.smaps$/.test(name));
  const qemu = files.filter((name) => name.includes('qemu-'));
  const clean = files.filter((name) => !cut.includes(name) && !qemu.includes(name));

  test('parse without a problem, and each line is printed again from its values', () => {
    expect(clean.length).toBeGreaterThan(1300);
    for (const name of clean) {
      const text = readFileSync(name, 'latin1');
      const document = parseAndCheck(text);
      expect(document.problems, name).toEqual([]);
      const lines = text.split('\n');
      const changed = document.entries.filter((entry) => formatMapsLine(entry) !== lines[entry.line - 1]);
      expect(changed, name).toEqual([]);
      expect(document.kind, name).toBe(name.endsWith('.smaps') ? 'smaps' : 'maps');
      expect(document.entries.filter((entry) => entry.smaps?.complete === false)).toEqual([]);
    }
  });

  test('two that were cut while they were written say so', () => {
    expect(cut).toHaveLength(2);
    for (const name of cut) {
      const document = parseAndCheck(readFileSync(name, 'latin1'));
      expect(document.problems.map(({ code }) => code)).toEqual(['cut-off']);
      expect(document.entries.filter((entry) => entry.smaps?.complete === false)).toHaveLength(1);
    }
  });

  test('those of qemu repeat one line', () => {
    expect(qemu.length).toBeGreaterThan(5);
    for (const name of qemu) {
      const document = parseAndCheck(readFileSync(name, 'latin1'));
      expect(document.problems.map(({ code }) => code)).toEqual(['repeated-line']);
    }
  });
});

function mapsFilesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return mapsFilesIn(path);
    return /\.s?maps$/.test(name) ? [path] : [];
  });
}
