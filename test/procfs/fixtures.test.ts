import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesOfText } from '../../src/base/bytes';
import { hexOfVpn } from '../../src/mm/addr';
import type { MapsDocument } from '../../src/procfs/maps_document';
import { parseAndCheck, problemCodes } from './document_properties';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'procfs');

function read(name: string): MapsDocument {
  return parseAndCheck(readFileSync(join(FIXTURES, name), 'latin1'));
}

function paths(document: MapsDocument): readonly string[] {
  return document.entries.map((entry) => entry.path);
}

function ranges(document: MapsDocument): readonly string[] {
  return document.entries.map((entry) => `${hexOfVpn(entry.start)}-${hexOfVpn(entry.end)}`);
}

/** The value of a field in each entry: `4 kB`, `1`, the text of anything else, null if absent. */
function field(document: MapsDocument, name: string): readonly (string | null)[] {
  return document.entries.map(({ smaps }) => {
    const value = smaps?.fields.get(name);
    if (value === undefined) return null;
    return value.kind === 'text' ? value.text : `${value.value} ${value.unit}`.trimEnd();
  });
}

function flags(document: MapsDocument): readonly (string | null)[] {
  return document.entries.map(({ smaps }) => smaps?.vmFlags?.join(' ') ?? null);
}

function complete(document: MapsDocument): readonly (boolean | null)[] {
  return document.entries.map(({ smaps }) => smaps?.complete ?? null);
}

const CLEAN_MAPS: readonly string[] = [
  'anon-names.maps',
  'bom.maps',
  'crlf.maps',
  'empty-path.maps',
  'high-address.maps',
  'log-prefixes.maps',
  'long-path.maps',
  'memfd.maps',
  'no-final-newline.maps',
  'not-utf8.maps',
  'path-blanks.maps',
  'path-spaces.maps',
  'pseudo-files.maps',
  'several-heaps.maps',
  'some-cr.maps',
  'sysv.maps',
  'two-vdsos.maps',
  'wide-device.maps',
  'wsl1-perms.maps',
  'zero-device.maps',
];

test.each(CLEAN_MAPS)('%s is read without a problem', (name) => {
  const document = read(name);
  expect(document.problems).toEqual([]);
  expect(document.kind).toBe('maps');
  expect(document.entries.every((entry) => entry.smaps === null)).toBe(true);
});

test('every fixture has the properties of all texts', () => {
  const names = readdirSync(FIXTURES);
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) read(name);
});

describe('paths', () => {
  test('keep their spaces', () => {
    expect(paths(read('path-spaces.maps'))).toEqual([
      '/opt/two words/lib  double.so',
      '/opt/two words/lib  double.so',
    ]);
  });

  test('keep tabs, blanks at the end, U+00A0 and CR; an escaped newline is one', () => {
    expect(paths(read('path-blanks.maps'))).toEqual([
      '/var/tab\there',
      '/var/end ',
      '/var/no\u00a0break',
      '/var/   ',
      '/var/new\nline',
      '/var/cr\rinside',
    ]);
  });

  test('have the mark of a deleted file taken off once', () => {
    const document = read('memfd.maps');
    expect(paths(document)).toEqual([
      '/memfd:frame pool',
      '/memfd:stub',
      '/srv/old.so',
      '/srv/really (deleted)',
    ]);
    expect(document.entries.every((entry) => entry.deleted)).toBe(true);
  });

  test('that are not UTF-8 are kept byte for byte and stay different', () => {
    const document = read('not-utf8.maps');
    const [first = '', second = ''] = paths(document);
    expect(bytesOfText(first)).toBe('/var/caf\xe9/\xff\xfe');
    expect(bytesOfText(second)).toBe('/var/caf\xe8/\xff\xfe');
    expect(first).not.toBe(second);
  });

  test('may be longer than a page', () => {
    const document = read('long-path.maps');
    expect(document.entries[0]?.path).toHaveLength(4410);
    expect(paths(document)[1]).toBe('[heap]');
  });

  test('are empty with and without the blank at the end of the line', () => {
    expect(paths(read('empty-path.maps'))).toEqual(['', '', '/bin/x']);
  });

  test('of pseudo-files need no slash', () => {
    expect(paths(read('pseudo-files.maps'))).toEqual([
      'socket:[5120]',
      'anon_inode:[io_uring]',
      '/anon_hugepage',
      '//anon',
      '/[aio]',
      '/dev/zero',
    ]);
  });

  test('of System V segments are told apart by inode', () => {
    const { entries } = read('sysv.maps');
    expect(entries.map(({ path, inode }) => `${path} ${inode}`)).toEqual([
      '/SYSV00000000 3',
      '/SYSVc0ffee11 4',
      '/SYSV00000000 9',
    ]);
  });

  test('of device 00:00 are paths all the same', () => {
    expect(paths(read('zero-device.maps'))).toEqual(['/bin/box', '/lib/x.so']);
  });
});

describe('names', () => {
  test('of anonymous memory keep leading blanks, colons, markup and may be empty', () => {
    const document = read('anon-names.maps');
    expect(document.entries.map((entry) => entry.anonName)).toEqual([
      ' Go: stacks',
      '',
      'q'.repeat(79),
      'x/y:z "w" (deleted)',
      '<i>&lt;',
      'anon:z',
      'ring',
      null,
    ]);
    expect(document.entries.some((entry) => entry.deleted)).toBe(false);
    expect(paths(document)[6]).toBe('[anon_shmem:ring]');
  });

  test('of anonymous memory may be any bytes', () => {
    const document = read('anon-name-bytes.smaps');
    expect(bytesOfText(document.entries[0]?.anonName ?? '')).toBe('\x81\xfe odd');
    expect(field(document, 'Rss')).toEqual(['4 kB', '0 kB']);
    expect(document.problems).toEqual([]);
  });

  test('in brackets are all kept, known or not', () => {
    const document = read('special-names.maps');
    expect(paths(document)).toEqual([
      '[vvar]',
      '[vvar_vclock]',
      '[vdso]',
      '[uprobes]',
      '[something new]',
      '[vectors]',
      '[vsyscall]',
    ]);
    expect(document.entries.at(-1)?.perms).toBe('--xp');
    expect(problemCodes(document)).toEqual(['6 out-of-order']);
  });

  test('may be there several times', () => {
    expect(paths(read('several-heaps.maps'))).toEqual(['[heap]', '[heap]', '[heap]', '[heap]']);
    expect(paths(read('two-vdsos.maps'))).toEqual(['[vdso]', '[vdso]', '[vvar]']);
  });
});

describe('columns', () => {
  test('hold wide devices, 64-bit inodes and offsets', () => {
    const { entries } = read('wide-device.maps');
    expect(entries.map((entry) => entry.dev)).toEqual(['103:07', '00:3c1', 'ffe:ffffe', 'fd:01']);
    expect(entries.map((entry) => entry.offset)).toEqual([0x1b000, 0, 0, 0xfffffffffffff000n]);
    expect(entries[3]?.inode).toBe('18446744073709551615');
  });

  test('hold addresses above 2^53', () => {
    const document = read('high-address.maps');
    expect(ranges(document)).toEqual(['fe987654321000-fe987654323000', 'ffffffffff600000-ffffffffff601000']);
    expect(document.entries.map((entry) => entry.end - entry.start)).toEqual([2, 1]);
  });

  test('hold short addresses', () => {
    const document = read('short-addresses.maps');
    expect(ranges(document)).toEqual(['8000-9000', '9000-b000', 'fffe0000-ffff0000', '2000-3000']);
    expect(problemCodes(document)).toEqual(['4 out-of-order']);
  });

  test('hold permissions that are neither private nor shared', () => {
    const { entries } = read('wsl1-perms.maps');
    expect(entries.map(({ perms, path }) => `${perms} ${path}`)).toEqual(['r-x- /home/w/app', 'rw-- ']);
  });
});

describe('line ends and prefixes', () => {
  test('CR LF and CR CR LF are line ends when every line has them', () => {
    expect(paths(read('crlf.maps'))).toEqual(['/lib/t.so', '', '[heap]']);
  });

  test('CR is part of a path when only some lines have it, but no path by itself', () => {
    expect(paths(read('some-cr.maps'))).toEqual(['/lib/t.so\r', '', '']);
  });

  test('the last line may lack its newline', () => {
    expect(paths(read('no-final-newline.maps'))).toEqual(['/lib/t.so', '[heap]']);
  });

  test('a byte order mark is not part of the first address', () => {
    expect(ranges(read('bom.maps'))[0]).toBe('7fa2c0000000-7fa2c0001000');
  });

  test('what a logger puts before lines is passed over, in paths it is not looked for', () => {
    expect(paths(read('log-prefixes.maps'))).toEqual([
      '/lib/a b.so',
      '',
      '[heap]',
      '/lib/c 7f00-7f01 rw-p.so',
    ]);
  });

  test('fields are found behind the prefix of their header', () => {
    const document = read('logged.smaps');
    expect(document.kind).toBe('smaps');
    expect(document.problems).toEqual([]);
    expect(field(document, 'Rss')).toEqual(['4 kB', '8 kB']);
    expect(flags(document)).toEqual(['rd wr mr mw me ac', 'rd wr mr mw me ac']);
  });
});

describe('damage', () => {
  test('a range that ends before its start is left out with a problem', () => {
    const document = read('end-before-start.maps');
    expect(ranges(document)).toEqual(['7fa2c0008000-7fa2c0009000']);
    expect(problemCodes(document)).toEqual(['1 end-below-start']);
  });

  test('repeated and overlapping lines are told with the line that they repeat', () => {
    const document = read('torn-read.maps');
    expect(document.entries).toHaveLength(4);
    expect(problemCodes(document)).toEqual(['3 repeated-line', '4 overlap']);
    expect(document.problems[0]?.text).toContain('line 3 repeats line 2');
    expect(document.problems[1]?.text).toContain('line 4 overlaps line 2');
  });

  test('lines out of order are kept in their order', () => {
    const document = read('out-of-order.maps');
    expect(document.entries.map((entry) => entry.line)).toEqual([1, 2, 3]);
    expect(document.problems).toEqual([{ line: 3, code: 'out-of-order', text: 'line 3 is below line 2' }]);
  });

  test('a saved read error is one plain problem', () => {
    const document = read('read-error.maps');
    expect(document.kind).toBe('unknown');
    expect(document.problems).toEqual([
      { line: 1, code: 'not-maps', text: 'not a maps line; looks like a read error: no such process' },
    ]);
  });

  test('UTF-16 is recognised', () => {
    const document = read('utf16.maps');
    expect(problemCodes(document)).toEqual(['1 not-maps']);
    expect(document.problems[0]?.text).toContain('UTF-16');
  });

  test('an entry that the text ends in is incomplete, what it has is known', () => {
    const document = read('cut.smaps');
    expect(complete(document)).toEqual([true, false]);
    expect(field(document, 'Rss')).toEqual(['4 kB', '44 kB']);
    expect(flags(document)).toEqual(['rd wr mr mw me ac', null]);
    expect(problemCodes(document)).toEqual(['11 cut-off']);
  });

  test('fields of a mapping whose header is lost go to no other mapping', () => {
    const document = read('lost-header.smaps');
    expect(field(document, 'Rss')).toEqual(['4 kB', '4 kB']);
    expect(problemCodes(document)).toEqual(['8 lost-header']);
  });

  test('fields of a mapping whose header is damaged go to no other mapping', () => {
    const document = read('bad-header.smaps');
    expect(field(document, 'Rss')).toEqual(['4 kB', '4 kB']);
    expect(problemCodes(document)).toEqual(['8 bad-columns']);
  });

  test('what stands around the maps in a report is not read into them', () => {
    const document = read('crash-report.maps');
    expect(document.kind).toBe('maps');
    expect(document.entries).toHaveLength(2);
    expect(document.problems).toEqual([
      {
        line: 1,
        code: 'not-a-maps-line',
        text: 'neither an address range nor an smaps field (and the line after it)',
      },
      {
        line: 5,
        code: 'not-a-maps-line',
        text: 'neither an address range nor an smaps field (and the line after it)',
      },
    ]);
  });
});

describe('smaps fields', () => {
  test('flags that nobody knows are kept in order', () => {
    const document = read('unknown-flags.smaps');
    expect(flags(document)).toEqual(['rd wr mr mw me nr wf dd dp', 'rd wr mr mw me ac sl', 'rd mr ?? qq']);
    expect(document.problems).toEqual([]);
  });

  test('VmFlags is no amount, and gone flags are flags', () => {
    const document = read('flags-only.smaps');
    expect(flags(document)).toEqual(['rd ex mr mw me dw']);
    expect(field(document, 'VmFlags')).toEqual([null]);
    expect(field(document, 'Size')).toEqual(['12 kB']);
  });

  test('a kernel before 3.8 prints no flags, and its records are complete', () => {
    const document = read('old-kernel.smaps');
    expect(flags(document)).toEqual([null]);
    expect(complete(document)).toEqual([true]);
    expect(document.problems).toEqual([]);
  });

  test('values without a unit are what they are, also behind tabs', () => {
    const document = read('unitless.smaps');
    expect(field(document, 'THPeligible')).toEqual(['1', '0', '1']);
    expect(field(document, 'ProtectionKey')).toEqual(['5', null, null]);
    expect(document.problems).toEqual([]);
  });

  test('unknown fields, units and values are kept as they are, with a problem where totals leave them out', () => {
    const document = read('odd-fields.smaps');
    expect(field(document, 'Brand_New')).toEqual(['24 kB']);
    expect(field(document, 'WideUnit')).toEqual(['3 MB']);
    expect(field(document, 'Bare')).toEqual(['9']);
    expect(field(document, 'Words')).toEqual(['maybe']);
    expect(field(document, 'Huge')).toEqual(['99999999999999999999 kB']);
    expect(document.entries[0]?.smaps?.fields.get('Huge')?.kind).toBe('text');
    expect(problemCodes(document)).toEqual(['8 odd-unit', '12 odd-value']);
  });

  test('the last entry has its own fields', () => {
    const document = read('last-entry.smaps');
    expect(field(document, 'Rss')).toEqual(['0 kB', '4 kB', '0 kB']);
    expect(paths(document)).toEqual(['[vvar]', '[vdso]', '[vsyscall]']);
    expect(flags(document)[2]).toBe('ex');
  });

  test('a path that looks like a field or a header is a path', () => {
    const document = read('field-like-names.smaps');
    expect(paths(document)).toEqual([
      '[anon:GC: old space 3]',
      '/tmp/Pss:  7777 kB',
      '/tmp/00400000-00401000 rw-p 00000000 00:00 0',
    ]);
    expect(field(document, 'Pss')).toEqual(['16 kB', '4 kB', '4 kB']);
    expect(document.problems).toEqual([]);
  });

  test('Android prints the name as a field', () => {
    const document = read('android-name.smaps');
    expect(field(document, 'Name')).toEqual(['[anon:libc_malloc]', null]);
  });

  test('a rollup is no mapping', () => {
    const document = read('rollup.smaps_rollup');
    expect(document.kind).toBe('smaps_rollup');
    expect(document.entries).toEqual([]);
    expect(document.problems).toEqual([]);
    const rollup = document.rollup;
    expect([rollup?.start, rollup?.end].map((page) => hexOfVpn(page ?? 0))).toEqual([
      '55e000000000',
      '7ffd00002000',
    ]);
    expect(rollup?.smaps.complete).toBe(true);
    expect(rollup?.smaps.fields.get('Pss_Anon')).toEqual({ kind: 'number', value: 96, unit: 'kB' });
  });
});

describe('other layouts', () => {
  test("gdb's table", () => {
    const document = read('gdb.maps');
    expect(document.kind).toBe('gdb');
    expect(ranges(document)).toEqual([
      '400000000000-400000002000',
      '400000002000-400000003000',
      '400000003000-400000004000',
    ]);
    expect(document.entries.map(({ perms, offset, path }) => ({ perms, offset, path }))).toEqual([
      { perms: 'r--p', offset: 0, path: '/opt/a b' },
      { perms: 'r-xp', offset: 0x2000, path: '/opt/a b' },
      { perms: 'rw-p', offset: 0, path: '' },
    ]);
    expect(problemCodes(document)).toEqual(['5 gdb-layout']);
  });

  test("an older gdb's table has no permissions: they are unknown", () => {
    const document = read('gdb-7.maps');
    expect(document.entries.map(({ perms, path }) => `${perms} ${path}`)).toEqual([
      '???? /opt/r--p',
      '???? [heap]',
    ]);
  });

  test("a sanitizer's map in a log", () => {
    const document = read('sanitizer.maps');
    expect(document.kind).toBe('sanitizer');
    expect(ranges(document)).toEqual(['22c00000-22e07000', '22e07000-22e08000']);
    expect(document.entries.map(({ perms, dev, inode, path }) => [perms, dev, inode, path])).toEqual([
      ['????', '', '', '/dev/ashmem/pool'],
      ['????', '', '', ''],
    ]);
    expect(problemCodes(document)).toEqual(['2 sanitizer-layout']);
  });
});
