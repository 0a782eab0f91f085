import { describe, expect, it } from 'vitest';
import { ArgumentScanner, endOfComment, endOfNote } from '../../../src/trace/strace/arguments';

/** The arguments of `f(…`, and what follows the parenthesis; null if it never closes. */
function scan(text: string): { args: string[]; rest: string | null; inString: boolean } {
  const scanner = new ArgumentScanner();
  scanner.scan(text, 0, text.length);
  const args = [];
  for (let i = 0; i < scanner.count; i++) args.push(text.slice(scanner.starts[i], scanner.ends[i]));
  return { args, rest: scanner.close < 0 ? null : text.slice(scanner.close + 1), inString: scanner.inString };
}

describe('ArgumentScanner', () => {
  it.each<[string, string[], string]>([
    [') = 0', [], ' = 0'],
    ['NULL, 8192, A|B) = 1', ['NULL', '8192', 'A|B'], ' = 1'],
    ['  a ,  b  ) = 1', ['a', 'b'], ' = 1'],
    ['"a, b) = 1", 2) = 3', ['"a, b) = 1"', '2'], ' = 3'],
    ['"a\\"b", "c\\\\") = 3', ['"a\\"b"', '"c\\\\"'], ' = 3'],
    ['{a=[1, 2], b={c, d}}, (e, f)) = 3', ['{a=[1, 2], b={c, d}}', '(e, f)'], ' = 3'],
    ['3</a, b)>, 4</x<char 1:5>>) = 0', ['3</a, b)>', '4</x<char 1:5>>'], ' = 0'],
    ['8<TCP:[1.2.3.4:80->5.6.7.8:90]>, 1) = 0', ['8<TCP:[1.2.3.4:80->5.6.7.8:90]>', '1'], ' = 0'],
    ['8</ends in->, 1) = 0', ['8</ends in->', '1'], ' = 0'],
    ['A|21<<MAP_HUGE_SHIFT, -1) = 0', ['A|21<<MAP_HUGE_SHIFT', '-1'], ' = 0'],
    ['A|21<<MAP_HUGE_SHIFT, 3</x, y>) = 0', ['A|21<<MAP_HUGE_SHIFT', '3</x, y>'], ' = 0'],
    ['0x24 /* 0x4 /* X, ) */|Y */, 0) = 0', ['0x24 /* 0x4 /* X, ) */|Y */', '0'], ' = 0'],
    ['{a} => {b=[1]}, 88) = 14', ['{a} => {b=[1]}', '88'], ' = 14'],
    ['1 < 2, 3) = 0', ['1 < 2', '3'], ' = 0'],
    ['a/b, c) = 0', ['a/b', 'c'], ' = 0'],
  ])('splits %s', (text, args, rest) => {
    expect(scan(text)).toEqual({ args, rest, inString: false });
  });

  it('takes what is there of a list that breaks off', () => {
    expect(scan('1, {a, b')).toEqual({ args: ['1', '{a, b'], rest: null, inString: false });
    expect(scan('1, ')).toEqual({ args: ['1'], rest: null, inString: false });
    expect(scan('1, "a) = 3')).toEqual({ args: ['1', '"a) = 3'], rest: null, inString: true });
  });

  it('reads an opening bracket without an end as text', () => {
    expect(scan('1<2, 3) = 0').args).toEqual(['1<2', '3']);
    expect(scan('1 /* 2, 3) = 0').args).toEqual(['1 /* 2', '3']);
  });

  it('can end at another bracket', () => {
    const scanner = new ArgumentScanner();
    const text = 'a=1, b=[2, 3]} => 4';
    expect(scanner.scan(text, 0, text.length, '}'.charCodeAt(0))).toBe(true);
    expect(scanner.count).toBe(2);
    expect(scanner.close).toBe(13);
  });
});

it('endOfNote and endOfComment tell when there is no end', () => {
  expect(endOfNote('<a<b>', 0, 5)).toBe(-1);
  expect(endOfNote('<a\\>b>', 0, 6)).toBe(6);
  expect(endOfComment('/* /* */', 0, 8)).toBe(-1);
  expect(endOfComment('/* a */ b', 0, 9)).toBe(7);
});
