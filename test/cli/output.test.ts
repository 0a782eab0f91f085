import { describe, expect, it } from 'vitest';
import { jsonText } from '../../src/cli/exact_json';
import { Output, wantsColour } from '../../src/cli/output';
import { Recorder } from './recorder';

describe('Output', () => {
  it('keeps the order of lines, raw text and bytes', async () => {
    const sink = new Recorder();
    const out = new Output(sink, false);
    await out.line('one');
    await out.bytes('\xff\x00\n');
    await out.raw('two\n');
    await out.flush();
    expect(sink.bytes.toString('latin1')).toBe('one\n\xff\x00\ntwo\n');
  });

  it('ends quietly when the reader goes away', async () => {
    const sink = new Recorder({ closeAfter: 1 });
    const out = new Output(sink, false);
    const long = 'x'.repeat(70_000);
    await out.line(long);
    await out.line(long);
    await out.line(long);
    await out.flush();
    expect(out.closed).toBe(true);
    expect(sink.length).toBe(70_001);
  });

  it('knows the width only of a terminal', () => {
    expect(new Output(new Recorder(), false).columns).toBeUndefined();
    expect(new Output(new Recorder({ isTTY: true, columns: 120 }), false).columns).toBe(120);
  });
});

describe('wantsColour', () => {
  it('colours terminals only, and respects NO_COLOR', () => {
    expect(wantsColour('auto', true, {})).toBe(true);
    expect(wantsColour('auto', false, {})).toBe(false);
    expect(wantsColour('auto', true, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColour('auto', true, { NO_COLOR: '' })).toBe(true);
    expect(wantsColour('auto', true, { TERM: 'dumb' })).toBe(false);
    expect(wantsColour('always', false, { NO_COLOR: '1' })).toBe(true);
    expect(wantsColour('never', true, {})).toBe(false);
  });
});

describe('jsonText', () => {
  it('escapes what a terminal would act on and reads back the same', () => {
    const value = { a: '\u001b]0;x\u0007', b: '\u009b2J', c: '\u202e', d: 'é\udcff', e: '\u2028' };
    const text = jsonText(value);
    expect(text).toBe(
      '{"a":"\\u001b]0;x\\u0007","b":"\\u009b2J","c":"\\u202e","d":"é\\udcff","e":"\\u2028"}',
    );
    expect(JSON.parse(text)).toEqual(value);
  });
});
