import { describe, expect, test } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import { parseAndCheck, problemCodes } from './document_properties';

const A = '00001000-00002000 rw-p 00000000 00:00 0 \n';
const B = '00002000-00003000 r--p 00000000 00:00 0 \n';
const FIELDS = 'Size:                  4 kB\nRss:                   4 kB\n';
const FLAGS = 'VmFlags: rd mr \n';

describe('texts without mappings', () => {
  test.each<[string, string]>([
    ['', 'empty-text'],
    ['\n \r\n', 'empty-text'],
    ['hello\nworld\n', 'not-maps'],
    ['\0\x01\x02binary', 'not-maps'],
    ['7f00000000 default anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n', 'not-maps'],
    ['mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f0000000000\n', 'not-maps'],
    ['process 12\nMapped address spaces:\n', 'not-maps'],
    ['==12==Process memory map follows:\n==12==End of process memory map.\n', 'not-maps'],
  ])('%j: one problem, %s', (text, code) => {
    const document = parseAndCheck(text);
    expect(document.kind).toBe('unknown');
    expect(document.problems.map((problem) => problem.code)).toEqual([code]);
  });

  test.each<[string, string]>([
    ['maps: Operation not permitted', 'looks like a read error: operation not permitted'],
    ['7f00000000 default anon=1', 'numa_maps'],
    ['[pid 12] mmap(NULL, 4096) = 0x7f0000000000', 'system-call trace'],
    ['M\0a\0p\0s\0', 'UTF-16'],
    ['ab\0', 'binary'],
  ])('%j is recognised', (text, words) => {
    expect(parseMaps(text).problems[0]?.text).toContain(words);
  });

  test('a list of other things is not one of fields', () => {
    expect(problemCodes(parseAndCheck('name: x\nThreads: 4\ncount: 7\n'))).toEqual(['1 not-maps']);
  });

  test('the problem is at the first line that says something', () => {
    expect(problemCodes(parseAndCheck('\n\n\nhello\n'))).toEqual(['4 not-maps']);
  });

  test('fields alone are one problem', () => {
    const document = parseAndCheck(FIELDS + FLAGS);
    expect(document.kind).toBe('unknown');
    expect(problemCodes(document)).toEqual(['1 field-without-mapping']);
    expect(document.problems[0]?.text).toContain('(and the 2 lines after it)');
  });
});

describe('the last line without its newline', () => {
  const last = (line: string) => parseAndCheck(A + line);

  test.each([
    '00002000-00003000 r--p 00000000 00:00 0',
    '00002000-00003000 r--p 00000000 00:00 0 ',
    '00002000-00003000 r--p 00000000 fd:01 9                                  /a',
    '00002000-00003000 r--p 00000000 00:00 0                                  [heap]',
  ])('%j may be whole', (line) => {
    expect(last(line).entries).toHaveLength(2);
    expect(last(line).problems).toEqual([]);
    expect(last(line).source.noFinalNewline).toBe(true);
  });

  test.each([
    '0',
    '00002000-',
    '00002000-00003000 r--',
    '00002000-00003000 r--p 00000000 fd:01',
    '00002000-00003000 r--p 00000000 fd:01 9',
    '00002000-00003000 r--p 00000000 fd:01 9   ',
    '00002000-00003000 r--p 00000000 00:00 0  ',
    '00002000-00003000 r--p 00000000 00:00 0                                  [hea',
  ])('%j is cut, and no mapping is made of it', (line) => {
    expect(last(line).entries).toHaveLength(1);
    expect(problemCodes(last(line))).toEqual(['2 cut-off']);
  });

  test.each([
    'S',
    'Rss',
    'Rss:',
    'Rss:        ',
    'Rss:        1',
    'Rss:        12 k',
    'THPeligible:    0',
    'VmFlags:',
    'VmFlags: rd m',
  ])('a field cut at %j is unknown', (line) => {
    const document = parseAndCheck(`${A}Size:                  4 kB\n${line}`);
    expect(document.entries[0]?.smaps).toEqual({
      fields: new Map([['Size', { kind: 'number', value: 4, unit: 'kB' }]]),
      vmFlags: null,
      complete: false,
    });
    expect(problemCodes(document)).toEqual(['3 cut-off']);
  });

  test('a header cut after whole records leaves them whole', () => {
    for (const begun of ['0000200', 'S', '00002000-00003000 r--p 0000']) {
      const document = parseAndCheck(A + FIELDS + FLAGS + begun);
      expect(document.entries.map((entry) => entry.smaps?.complete)).toEqual([true]);
      expect(problemCodes(document)).toEqual(['5 cut-off']);
    }
  });

  test('a single cut field is enough to be incomplete', () => {
    const document = parseAndCheck(`${A}Rss:                   4 kB\nPss:                   1`);
    expect(document.entries[0]?.smaps?.complete).toBe(false);
    expect(document.entries[0]?.smaps?.fields.has('Pss')).toBe(false);
  });

  test('flags that lack what the permissions need are cut', () => {
    const whole = parseAndCheck(`${A}${FIELDS}VmFlags: rd wr mr`);
    expect(whole.entries[0]?.smaps?.vmFlags).toEqual(['rd', 'wr', 'mr']);
    expect(whole.problems).toEqual([]);
    const cut = parseAndCheck(`${A}${FIELDS}VmFlags: rd`);
    expect(cut.entries[0]?.smaps?.vmFlags).toBeNull();
    expect(problemCodes(cut)).toEqual(['4 cut-off']);
  });
});

describe('records that end early', () => {
  test('without VmFlags where others have it', () => {
    const document = parseAndCheck(A + FIELDS + FLAGS + B + FIELDS);
    expect(document.entries.map((entry) => entry.smaps?.complete)).toEqual([true, false]);
    expect(problemCodes(document)).toEqual(['7 incomplete-mapping']);
    expect(document.problems[0]?.text).toContain('the text ends inside the mapping of line 5');
  });

  test('in the middle', () => {
    const document = parseAndCheck(A + FIELDS + B + FIELDS + FLAGS);
    expect(document.entries.map((entry) => entry.smaps?.complete)).toEqual([false, true]);
    expect(document.problems[0]?.text).toContain('lines are missing from the mapping of line 1');
  });

  test('without any field among records', () => {
    const document = parseAndCheck(A + FIELDS + FLAGS + B);
    expect(document.entries[1]?.smaps).toEqual({ fields: new Map(), vmFlags: null, complete: false });
    expect(problemCodes(document)).toEqual(['5 incomplete-mapping']);
  });

  test('as the beginning of the record before it, where no kernel flags are printed', () => {
    const document = parseAndCheck(`${A}${FIELDS}${B}Size:                  4 kB\n`);
    expect(document.entries.map((entry) => entry.smaps?.complete)).toEqual([true, false]);
  });

  test('alone: cut after a field that is never the last', () => {
    expect(parseAndCheck(A + FIELDS).entries[0]?.smaps?.complete).toBe(false);
    // Someone kept only what they wanted to see.
    expect(parseAndCheck(`${A}Rss:                   4 kB\n`).entries[0]?.smaps?.complete).toBe(true);
  });

  test('alone: a modern kernel goes on after Locked', () => {
    const locked = `${FIELDS}Locked:                0 kB\n`;
    expect(parseAndCheck(A + locked).entries[0]?.smaps?.complete).toBe(true);
    const modern = `${FIELDS}LazyFree:              0 kB\nLocked:                0 kB\n`;
    expect(parseAndCheck(A + modern).entries[0]?.smaps?.complete).toBe(false);
  });

  test('a rollup ends in Locked', () => {
    const header = '00001000-7fff00000000 ---p 00000000 00:00 0                              [rollup]\n';
    expect(parseAndCheck(`${header}${FIELDS}Locked:  0 kB\n`).rollup?.smaps.complete).toBe(true);
    const cut = parseAndCheck(header + FIELDS);
    expect(cut.rollup?.smaps.complete).toBe(false);
    expect(problemCodes(cut)).toEqual(['3 incomplete-mapping']);
  });
});

test('any subset and order of fields is complete', () => {
  const record = 'VmFlags: rd \nPss: 1 kB\nSize: 4 kB\n';
  const document = parseAndCheck(A + record + B + record);
  expect(document.problems).toEqual([]);
  expect(document.entries.map((entry) => [...(entry.smaps?.fields.keys() ?? [])])).toEqual([
    ['Pss', 'Size'],
    ['Pss', 'Size'],
  ]);
});

test('values up to 64 bits are exact', () => {
  const document = parseAndCheck(`${A}Rss:     18446744073709551615 kB\n${FLAGS}`);
  expect(document.entries[0]?.smaps?.fields.get('Rss')).toEqual({
    kind: 'number',
    value: 18446744073709551615n,
    unit: 'kB',
  });
});

test('a read error after the maps is no field', () => {
  const document = parseAndCheck(`${A}${FIELDS}${FLAGS}cat: /proc/1/smaps: No such process\n`);
  expect(document.entries[0]?.smaps?.fields.has('cat')).toBe(false);
  expect(problemCodes(document)).toEqual(['5 read-error']);
});

test('fields after a prefixed header need no prefix of their own', () => {
  const document = parseAndCheck(`[long tag] ${A}Private_Dirty:  4 kB\n${FLAGS}`);
  expect([...(document.entries[0]?.smaps?.fields.keys() ?? [])]).toEqual(['Private_Dirty']);
});

test('a range in the prefix of a log is not the mapping', () => {
  const document = parseAndCheck(`06-27 20:32:02 1-2 tag: ${A}`);
  expect(document.entries.map(({ start, end }) => [start, end])).toEqual([[1, 2]]);
});

test('ranges in other text are no rows of a sanitizer', () => {
  for (const line of ['map 0x1000-0x2000\t/x', '\t0x1000-0x2000 /x', '\t0x1000 0x2000\t/x']) {
    expect(parseAndCheck(`${A}${line}\n`).entries).toHaveLength(1);
  }
  expect(parseAndCheck(`${A}tag: \t0x2000-0x3000\t/x\n`).entries).toHaveLength(2);
});

test('four numbers are a row of gdb only if the third is the size', () => {
  expect(parseAndCheck('  0x1000 0x3000 0x2000 0x0 r--p /x\n').kind).toBe('gdb');
  expect(parseAndCheck('  0x1000 0x3000 0x1000 0x0 r--p /x\n').kind).toBe('unknown');
  expect(problemCodes(parseAndCheck('  0x3000 0x1000 0x2000 0x0 r--p /x\n'))).toEqual(['1 end-below-start']);
});

test('a second rollup is told and left out', () => {
  const rollup = '00001000-00002000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\nLocked: 0 kB\n';
  const document = parseAndCheck(rollup + rollup);
  expect(document.kind).toBe('smaps_rollup');
  expect(document.entries).toEqual([]);
  expect(problemCodes(document)).toEqual(['4 second-rollup']);
});

test('smaps with its rollup after it', () => {
  const document = parseAndCheck(
    `${A}${FIELDS}${FLAGS}00001000-00002000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\nLocked: 0 kB\n`,
  );
  expect(document.kind).toBe('smaps');
  expect(document.entries).toHaveLength(1);
  expect(document.rollup?.line).toBe(5);
});

describe('torn reads', () => {
  const line = (start: number, end: number, path = '') =>
    `${(start * 4096).toString(16).padStart(8, '0')}-${(end * 4096).toString(16).padStart(8, '0')} rw-p 00000000 00:00 0 ${path}\n`;

  test('a mapping that grew after it was printed', () => {
    expect(problemCodes(parseAndCheck(line(1, 3) + line(3, 5) + line(1, 6)))).toEqual(['3 overlap']);
  });

  test('two mappings inside a large one', () => {
    const document = parseAndCheck(line(1, 10) + line(2, 3) + line(5, 6));
    expect(document.problems.map(({ text }) => text.split(':')[0])).toEqual([
      'line 2 overlaps line 1',
      'line 3 overlaps line 1',
    ]);
  });

  test('the same range with another name is no repetition', () => {
    expect(problemCodes(parseAndCheck(line(1, 3, '/a') + line(1, 3, '/b')))).toEqual(['2 overlap']);
  });

  test('smaps of a repeated mapping may differ in its fields', () => {
    const document = parseAndCheck(`${A}${FIELDS}${FLAGS}${A}Size: 4 kB\nRss: 0 kB\n${FLAGS}`);
    expect(problemCodes(document)).toEqual(['5 repeated-line']);
  });

  test('two reads one after the other', () => {
    const once = line(1, 2) + line(2, 3) + line(8, 9);
    expect(problemCodes(parseAndCheck(once + once))).toEqual([
      '4 repeated-line',
      '5 repeated-line',
      '6 repeated-line',
    ]);
  });

  test('thousands of problems of one kind are summed up', () => {
    const lines = Array.from({ length: 3001 }, () => line(1, 2)).join('');
    const { problems } = parseAndCheck(lines);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toEqual({
      line: 1002,
      code: 'repeated-line',
      text: '2000 more like this from here on',
    });
  });
});
