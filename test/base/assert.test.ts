import { expect, it } from 'vitest';
import { assert, unreachable } from '../../src/base/assert';
import { err, ok } from '../../src/base/result';

it('an assertion says why it must hold', () => {
  expect(() => {
    assert(false, 'the sky is up');
  }).toThrow('assertion failed: the sky is up');
  expect(() => {
    assert(true, 'never shown');
  }).not.toThrow();
});

it('what no switch handles is named', () => {
  expect(() => unreachable({ kind: 'new' } as never)).toThrow('unhandled case: {"kind":"new"}');
});

it('a result is one of two', () => {
  expect(ok(1)).toEqual({ ok: true, value: 1 });
  expect(err('no')).toEqual({ ok: false, error: 'no' });
});
