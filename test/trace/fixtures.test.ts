import { readFileSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrace } from '../../src/trace/strace/importer';
import { expectSoundTrace, parseInChunks } from './properties';
import { renderTrace } from './render';

const FOLDER = new URL('../fixtures/trace/', import.meta.url);
const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.strace'))
  .map((name) => name.slice(0, -'.strace'.length));

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'latin1');
}

describe.each(names)('%s', (name) => {
  const bytes = read(`${name}.strace`);

  it('gives the events that stand beside it', () => {
    const expected = readFileSync(new URL(`${name}.events`, FOLDER), 'utf8');
    expect(renderTrace(parseStrace(bytes))).toBe(expected);
  });

  it('is sound, whole and cut anywhere', () => {
    expectSoundTrace(bytes);
    for (let end = 0; end < bytes.length; end += 7) expectSoundTrace(bytes.slice(0, end));
  });

  it('gives the same whatever the chunks', () => {
    const whole = parseStrace(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (cuts) => {
        expect(parseInChunks(bytes, cuts)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
    expect(
      parseInChunks(
        bytes,
        Array.from({ length: bytes.length }, (_, index) => index),
      ),
    ).toEqual(whole);
  });

  it('gives the same with CR LF', () => {
    const plain = bytes.replaceAll('\r', '');
    expect(parseStrace(plain.replaceAll('\n', '\r\n'))).toEqual(parseStrace(plain));
  });
});

it('has a file of events for every capture', () => {
  const events = readdirSync(FOLDER).filter((name) => name.endsWith('.events'));
  expect(events.map((name) => name.slice(0, -'.events'.length))).toEqual(names);
});
