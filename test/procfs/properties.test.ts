import { LINEAR_FOR_16, timeRatio } from '../time_ratio';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMapsLine, formatMapsLines, formatSmapsHeaderAndFlags } from '../../src/procfs/format_maps';
import { parseMaps } from '../../src/procfs/maps';
import { parseMapsLine } from '../../src/procfs/maps_line';
import { kernelLines, mappings, mapsText, mixedText, noise, smapsText } from './arbitraries';
import { parseAndCheck } from './document_properties';

const RUNS = { numRuns: 300 };

test('what the kernel prints is read and printed again, line by line', () => {
  fc.assert(
    fc.property(mappings, (list) => {
      for (const line of kernelLines(list)) {
        const parsed = parseMapsLine(line);
        expect(parsed.ok && formatMapsLine(parsed.value)).toBe(line);
      }
    }),
    RUNS,
  );
});

test('maps of any kernel: an entry a line, no problem', () => {
  fc.assert(
    fc.property(mapsText, (text) => {
      const document = parseAndCheck(text);
      if (text === '') return;
      expect(document.problems).toEqual([]);
      expect(document.kind).toBe('maps');
      expect(document.entries).toHaveLength(text.split('\n').length - 1);
      expect(formatMapsLines(document.entries)).toBe(text);
    }),
    RUNS,
  );
});

test('smaps of any kernel: every record complete, no problem', () => {
  fc.assert(
    fc.property(smapsText, (text) => {
      const document = parseAndCheck(text);
      if (text === '') return;
      expect(document.problems).toEqual([]);
      expect(document.kind).toBe('smaps');
      expect(document.entries.every((entry) => entry.smaps?.complete === true)).toBe(true);
      const headersAndFlags = text.replace(/^(?!VmFlags)[A-Z][A-Za-z_]*:.*\n/gm, '');
      expect(document.entries.map(formatSmapsHeaderAndFlags).join('')).toBe(headersAndFlags);
    }),
    RUNS,
  );
});

test('cut anywhere: what is before the cut stays, what the cut touches is told or cannot be seen', () => {
  fc.assert(
    fc.property(fc.oneof(smapsText, mapsText), fc.double({ min: 0, max: 1, noNaN: true }), (text, where) => {
      const whole = parseMaps(text);
      const at = Math.floor(where * text.length);
      const cut = parseAndCheck(text.slice(0, at));
      expect(cut.entries.length).toBeLessThanOrEqual(whole.entries.length);
      expect(cut.entries.slice(0, -1)).toEqual(whole.entries.slice(0, Math.max(0, cut.entries.length - 1)));

      const last = cut.entries.at(-1);
      const original = whole.entries[cut.entries.length - 1];
      if (last === undefined || original === undefined) return;
      const { path, deleted, anonName, smaps, ...columns } = last;
      const { path: wholePath, deleted: _, anonName: __, smaps: wholeSmaps, ...wholeColumns } = original;
      // Only the end of a path can be lost without a trace; a bracket that does not close is seen.
      expect(columns).toEqual(wholeColumns);
      if (path !== wholePath || deleted !== original.deleted || anonName !== original.anonName) {
        expect(cut.source.noFinalNewline).toBe(true);
        expect(anonName).toBeNull();
      }
      // A value is the one that was printed, or not there.
      for (const [name, value] of smaps?.fields ?? []) expect(value).toEqual(wholeSmaps?.fields.get(name));
      if (smaps?.complete === true) expect(smaps.fields).toEqual(wholeSmaps?.fields);
      if (smaps?.complete === false) expect(cut.problems).not.toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('pieces of every form between noise', () => {
  fc.assert(
    fc.property(mixedText, (text) => void parseAndCheck(text)),
    { numRuns: 1000 },
  );
});

test('bytes without any form', () => {
  fc.assert(
    fc.property(noise, (text) => void parseAndCheck(text)),
    { numRuns: 1000 },
  );
});

test('lines that end in CR LF read as those that end in LF', () => {
  fc.assert(
    fc.property(fc.oneof(smapsText, mapsText), (text) => {
      const crlf = parseAndCheck(text.replaceAll('\n', '\r\n'));
      expect(crlf.entries).toEqual(parseMaps(text).entries);
    }),
    RUNS,
  );
});

const hostile = (size: number): string[] => [
  'f'.repeat(size),
  '-'.repeat(size),
  'a-a '.repeat(size / 4),
  '1000-2000 '.repeat(size / 10),
  ' 1000-2000 rw-p 0 0:0 '.repeat(size / 22),
  ':'.repeat(size),
  'A'.repeat(size),
  ' '.repeat(size),
  `Rss: ${'9'.repeat(size)} kB`,
  `VmFlags: ${'r '.repeat(size / 2)}`,
  '0x'.repeat(size / 2),
  '\t0x1-'.repeat(size / 5),
  `00001000-00002000 rw-p 00000000 00:00 0 ${' '.repeat(size)}`,
  `00001000-00002000 rw-p 00000000 00:00 0 /${'\\012'.repeat(size / 4)}`,
  ' (deleted)'.repeat(size / 10),
  'x\n'.repeat(size / 2),
  '00001000-00002000 rw-p 00000000 00:00 0 \n'.repeat(size / 40),
  'Size: 1 kB\n'.repeat(size / 11),
  '\r'.repeat(size),
  '\r\n'.repeat(size / 2),
];

test.each(hostile(64).map((text, index) => [text.slice(0, 24), index] as const))(
  'hostile lines take linear time: %j',
  (_, index) => {
    const work = (text: string): void => {
      parseMaps(text);
      parseMaps(`00001000-00002000 rw-p 00000000 00:00 0 \n${text}\n`);
    };
    const [small, large] = [1 << 14, 1 << 18].map((size) => hostile(size)[index] ?? '');
    expect(timeRatio(work, small ?? '', large ?? '')).toBeLessThan(LINEAR_FOR_16);
  },
);
