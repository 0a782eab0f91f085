import { expect, test } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { formatMapsLine, formatMapsSelection, formatSmapsHeaderAndFlags } from '../../src/procfs/format_maps';
import { parseMaps } from '../../src/procfs/maps';
import type { MapsEntry } from '../../src/procfs/maps_entry';

const ENTRY: MapsEntry = {
  line: 0,
  start: vpn(0x7f0000000),
  end: vpn(0x7f0000002),
  perms: 'rw-p',
  offset: 0,
  dev: '00:00',
  inode: '0',
  path: '',
  deleted: false,
  anonName: null,
  smaps: null,
};

test('an unnamed mapping ends in a blank', () => {
  expect(formatMapsLine(ENTRY)).toBe('7f0000000000-7f0000002000 rw-p 00000000 00:00 0 ');
});

test('73 characters stand before a name, whatever the width of the numbers before it', () => {
  for (const start of [1, 0x400, 0x7f0000000, 0xffffffffff600]) {
    const line = formatMapsLine({ ...ENTRY, start: vpn(start), end: vpn(start + 1), path: '[heap]' });
    expect(line.indexOf('[heap]')).toBe(73);
  }
  const wide = { ...ENTRY, start: vpn(0xffffffffff600), end: vpn(0xffffffffff601), dev: 'fff:fffff' };
  const line = formatMapsLine({
    ...wide,
    offset: 0xfffffffffffff000n,
    inode: '18446744073709551615',
    path: '/x',
  });
  expect(line).toBe(
    'ffffffffff600000-ffffffffff601000 rw-p fffffffffffff000 fff:fffff 18446744073709551615  /x',
  );
});

test('a path is printed as bytes, with its newlines escaped and the mark of a deleted file', () => {
  const path = 'caf\u00e9\udcff a\nb\n';
  expect(formatMapsLine({ ...ENTRY, path, deleted: true }).slice(73)).toBe(
    'caf\xc3\xa9\xff a\\012b\\012 (deleted)',
  );
});

test('header and flags of a replayed mapping', () => {
  const smaps = { fields: new Map(), vmFlags: ['rd', 'wr', 'sl'], complete: true };
  const line = formatMapsLine(ENTRY);
  expect(formatSmapsHeaderAndFlags({ ...ENTRY, smaps })).toBe(`${line}\nVmFlags: rd wr sl \n`);
  expect(formatSmapsHeaderAndFlags({ ...ENTRY, smaps: { ...smaps, vmFlags: [] } })).toBe(
    `${line}\nVmFlags: \n`,
  );
  expect(formatSmapsHeaderAndFlags(ENTRY)).toBe(`${line}\n`);
});

test('a selection keeps the fields of its entries and nothing else', () => {
  const text = [
    'junk',
    '00001000-00002000 rw-p 00000000 00:00 0 ',
    'Rss:                   4 kB',
    'VmFlags: rd wr ',
    '',
    '00002000-00003000 r--p 00000000 00:00 0 ',
    'Rss:                   8 kB',
    'VmFlags: rd ',
    '',
  ].join('\n');
  const document = parseMaps(text);
  expect(formatMapsSelection(document, (entry) => entry.perms === 'r--p')).toBe(
    '00002000-00003000 r--p 00000000 00:00 0 \nRss:                   8 kB\nVmFlags: rd \n',
  );
  expect(formatMapsSelection(document, (entry) => entry.perms === 'rw-p')).toBe(
    '00001000-00002000 rw-p 00000000 00:00 0 \nRss:                   4 kB\nVmFlags: rd wr \n',
  );
});
