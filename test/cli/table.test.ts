import { describe, expect, it } from 'vitest';
import { lineWidth, renderLine, styled, type Line } from '../../src/cli/styled';
import { tableLines, type Column } from '../../src/cli/table';

const COLUMNS: readonly Column[] = [
  { title: 'range', align: 'left' },
  { title: 'size', align: 'right' },
  { title: 'path', align: 'left', keep: 'end' },
];

const text = (lines: readonly Line[]): string[] => lines.map((line) => renderLine(line, false));

describe('tableLines', () => {
  it('aligns columns and leaves no blanks at the end', () => {
    const rows = [
      ['1000-2000', '4 kB', '/bin/a'],
      ['10000-2000000', '1.9 MB', ''],
      ['3000-4000', '4 kB', [styled('good', 'sealed '), '']],
    ];
    expect(text(tableLines(COLUMNS, rows))).toEqual([
      'range            size  path',
      '1000-2000        4 kB  /bin/a',
      '10000-2000000  1.9 MB',
      '3000-4000        4 kB  sealed',
    ]);
  });

  it('cuts the elastic column to the terminal and nothing without one', () => {
    const rows = [['1000-2000', '4 kB', '/usr/lib/x86_64-linux-gnu/libstdc++.so.6']];
    const cut = tableLines(COLUMNS, rows, 40);
    expect(text(cut)[1]).toBe('1000-2000  4 kB  …nux-gnu/libstdc++.so.6');
    expect(Math.max(...cut.map(lineWidth))).toBeLessThanOrEqual(40);
    expect(text(tableLines(COLUMNS, rows))[1]).toContain('/usr/lib/x86_64-linux-gnu/libstdc++.so.6');
  });

  it('measures what is printed, not what was there', () => {
    const rows = [
      ['\u001b[2J', '1', 'x'],
      ['a', '22', 'y'],
    ];
    expect(text(tableLines(COLUMNS, rows))).toEqual([
      'range    size  path',
      '\\x1b[2J     1  x',
      'a          22  y',
    ]);
  });

  it('cuts a cell of several spans', () => {
    const columns: Column[] = [{ title: '', align: 'left', keep: 'start' }];
    const rows = [[['abcdefgh', styled('name', 'ijklmnopq'), styled('dim', 'rst')]]];
    expect(text(tableLines(columns, rows, 12))).toEqual(['abcdefghijk…']);
    expect(text(tableLines(columns, rows, 18))).toEqual(['abcdefghijklmnopq…']);
    expect(text(tableLines(columns, rows, 20))).toEqual(['abcdefghijklmnopqrst']);
    const ends: Column[] = [{ title: '', align: 'left', keep: 'end' }];
    expect(
      text(
        tableLines(
          ends,
          [['sealed ', '/usr/lib/library']].map((cell) => [cell]),
          16,
        ),
      ),
    ).toEqual(['sealed …/library']);
  });
});
