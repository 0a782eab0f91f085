import { expect, test } from 'vitest';
import { parseMapsLine } from '../../src/procfs/maps_line';

test('a line gives an entry', () => {
  expect(
    parseMapsLine('00400000-0040b000 r-xp 00001000 fd:01 77120                            /bin/cat'),
  ).toEqual({
    ok: true,
    value: {
      line: 1,
      start: 0x400,
      end: 0x40b,
      perms: 'r-xp',
      offset: 0x1000,
      dev: 'fd:01',
      inode: '77120',
      path: '/bin/cat',
      deleted: false,
      anonName: null,
      smaps: null,
    },
  });
});

test.each<[string, string]>([
  ['', 'not-a-maps-line'],
  ['Rss:   4 kB', 'not-a-maps-line'],
  ['0040000000400000000-00500000 rw-p 00000000 00:00 0', 'not-a-maps-line'],
  ['00400000-0050000g rw-p 00000000 00:00 0', 'not-a-maps-line'],
  ['00400000', 'cut-off'],
  ['00400000-0050', 'cut-off'],
  ['00400000-00500000 rw', 'cut-off'],
  ['00400000-00500000 rw-p 000000', 'cut-off'],
  ['00400000-00500000 rw-p 00000000 00:', 'cut-off'],
  ['00400000-00500000 rw-p 00000000 00:00', 'cut-off'],
  ['00400000-00500000 rw-p 00000000 00:00 ', 'cut-off'],
  ['00400000-00500000 default anon=1', 'bad-columns'],
  ['00400000-00500000 rw-pp 00000000 00:00 0', 'bad-columns'],
  ['00400000-00500000 rw-p 0000x000 00:00 0', 'bad-columns'],
  ['00400000-00500000 rw-p 00000000000000000 00:00 0', 'bad-columns'],
  ['00400000-00500000 rw-p 00000000 0000 0', 'bad-columns'],
  ['00400000-00500000 rw-p 00000000 00:00 x', 'bad-columns'],
  ['00400000-00500000 rw-p 00000000 00:00 0x', 'bad-columns'],
  ['00400000-00500000 rw-p 00000000 00:00 123456789012345678901', 'bad-columns'],
  ['00500000-00400000 rw-p 00000000 00:00 0', 'end-below-start'],
  ['00500000-00500000 rw-p 00000000 00:00 0', 'empty-range'],
  ['00400010-00500000 rw-p 00000000 00:00 0', 'unaligned-address'],
  ['00400000-00500fff rw-p 00000000 00:00 0', 'unaligned-address'],
])('%j is no entry: %s', (line, code) => {
  const parsed = parseMapsLine(line);
  expect(parsed).toMatchObject({ ok: false, error: { line: 1, code } });
});

test('the rollup may cover no memory', () => {
  expect(parseMapsLine('00000000-00000000 ---p 00000000 00:00 0  [rollup]').ok).toBe(true);
});

test('upper-case hex and other blanks between the columns are taken', () => {
  const parsed = parseMapsLine('7FFE0000-7FFF0000  rw-p\t00000000 6A3C:4A24 0\t\t/x');
  expect(parsed).toMatchObject({ ok: true, value: { start: 0x7ffe0, dev: '6A3C:4A24', path: '/x' } });
});
