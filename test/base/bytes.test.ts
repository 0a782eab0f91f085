import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfText, printable, textOfBytes } from '../../src/base/bytes';

const latin1 = (data: Buffer): string => data.toString('latin1');
const byteString = fc.uint8Array({ maxLength: 40 }).map((data) => latin1(Buffer.from(data)));

describe('textOfBytes', () => {
  it('reads UTF-8 of every length', () => {
    const text = 'a é € 𝄞 \u{10ffff} \u07ff \u0800 \uffff';
    expect(textOfBytes(latin1(Buffer.from(text)))).toBe(text);
  });

  it.each([
    ['a lone continuation byte', '\x80', '\udc80'],
    ['a sequence that is cut off', 'a\xe2\x82', 'a\udce2\udc82'],
    ['a sequence that another begins in', '\xe2\xe2\x82\xac', '\udce2€'],
    ['two bytes for an ASCII character', '\xc1\xbf', '\udcc1\udcbf'],
    ['three bytes for what two hold', '\xe0\x9f\xbf', '\udce0\udc9f\udcbf'],
    ['four bytes for what three hold', '\xf0\x8f\xbf\xbf', '\udcf0\udc8f\udcbf\udcbf'],
    ['a surrogate', '\xed\xa0\x80', '\udced\udca0\udc80'],
    ['more than U+10FFFF', '\xf4\x90\x80\x80', '\udcf4\udc90\udc80\udc80'],
    ['bytes that no UTF-8 has', '\xfe\xff', '\udcfe\udcff'],
  ])('keeps %s byte by byte', (_, bytes, text) => {
    expect(textOfBytes(bytes)).toBe(text);
    expect(bytesOfText(text)).toBe(bytes);
  });

  it('loses nothing, and never makes two byte strings one text', () => {
    fc.assert(
      fc.property(byteString, (bytes) => {
        expect(bytesOfText(textOfBytes(bytes))).toBe(bytes);
      }),
    );
  });

  it('agrees with the platform on valid UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const bytes = latin1(Buffer.from(text));
        expect(textOfBytes(bytes)).toBe(text);
        expect(bytesOfText(text)).toBe(bytes);
      }),
    );
  });
});

describe('printable', () => {
  it.each([
    ['nothing to do', 'plain text, é € 𝄞', 'plain text, é € 𝄞'],
    ['an escape sequence', '\x1b[31mred\x07', '\\x1b[31mred\\x07'],
    ['line ends and tabs', 'a\nb\r\tc', 'a\\x0ab\\x0d\\x09c'],
    ['DEL and C1', '\x7f\x9b', '\\x7f\\x9b'],
    ['a bidirectional override', '\u202egnp.exe', '\\u202egnp.exe'],
    ['separators and invisible characters', '\u2028\u200b\ufeff\u00ad', '\\u2028\\u200b\\ufeff\\xad'],
    ['bytes that are not UTF-8', textOfBytes('caf\xe9'), 'caf\\xe9'],
    ['half of a pair', '\ud834x', '\\ud834x'],
  ])('%s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('leaves no control character and no lone surrogate', () => {
    fc.assert(
      fc.property(byteString, (bytes) => {
        const shown = printable(textOfBytes(bytes));
        expect(shown).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
        expect(shown).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
