import { describe, expect, it } from 'vitest';
import { displayWidth, fitText, lineWidth, renderLine, styled, wrapText } from '../../src/cli/styled';

describe('renderLine', () => {
  it('writes only our own escape sequences, whatever a span holds', () => {
    const line = ['\u001b[31mred\u0007', styled('name', 'a\nb\u202ec')];
    expect(renderLine(line, false)).toBe('\\x1b[31mred\\x07a\\x0ab\\u202ec');
    expect(renderLine(line, true)).toBe('\\x1b[31mred\\x07\u001b[36ma\\x0ab\\u202ec\u001b[0m');
  });

  it('colours no empty text', () => {
    expect(renderLine([styled('bad', ''), 'x'], true)).toBe('x');
  });
});

describe('width', () => {
  it('counts columns of the printable form', () => {
    expect(lineWidth(['ab', styled('bad', '\u0001')])).toBe(6);
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(displayWidth('😀')).toBe(2);
  });

  it('cuts at either end and never exceeds the width', () => {
    expect(fitText('/usr/lib/libc.so.6', 10, 'end')).toBe('…libc.so.6');
    expect(fitText('/usr/lib/libc.so.6', 10, 'start')).toBe('/usr/lib/…');
    expect(fitText('日本語', 4, 'start')).toBe('日…');
    expect(fitText('abc', 3, 'end')).toBe('abc');
    expect(fitText('abc', 0, 'end')).toBe('');
  });
});

describe('wrapText', () => {
  it('breaks between words', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapText('a verylongword b', 5)).toEqual(['a', 'verylongword', 'b']);
    expect(wrapText('  ', 5)).toEqual([]);
  });
});
