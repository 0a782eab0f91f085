import { describe, expect, it } from 'vitest';
import { anonVmaNameEq, AnonVmaNames, type AnonVmaName } from '../../src/mm/anon_vma_name';
import { nameOf } from './vmas';

describe('counts', () => {
  it('follow references, and the last one frees the object', () => {
    const names = new AnonVmaNames();
    const name = nameOf(names, 'arena');
    expect(names.refs(name)).toBe(0);
    expect(names.alive().size).toBe(0);
    names.get(name);
    names.get(name);
    expect(names.refs(name)).toBe(2);
    names.put(name);
    expect([...names.alive()]).toEqual([[name, 1]]);
    names.put(name);
    expect(names.refs(name)).toBe(0);
    expect(names.alive().size).toBe(0);
  });

  it('are kept apart for objects with equal texts', () => {
    const names = new AnonVmaNames();
    const [one, other] = [nameOf(names, 'same'), nameOf(names, 'same')];
    names.get(one);
    names.get(one);
    names.get(other);
    expect([names.refs(one), names.refs(other)]).toEqual([2, 1]);
    expect(one.id).not.toBe(other.id);
  });

  it('a reference that nobody has cannot be dropped', () => {
    const names = new AnonVmaNames();
    const name = nameOf(names, 'arena');
    expect(() => names.put(name)).toThrow('must have the reference that is dropped');
    names.get(name);
    names.put(name);
    expect(() => names.put(name)).toThrow('must have the reference that is dropped');
  });
});

describe('one more holder', () => {
  it('gets the object itself', () => {
    const names = new AnonVmaNames();
    const name = nameOf(names, 'arena');
    names.get(name);
    expect(names.reuse(name)).toBe(name);
  });

  it('gets a copy once the counter is at its limit', () => {
    const names = new AnonVmaNames();
    const name = nameOf(names, 'arena', 'prefix');
    setCount(names, name, 0x7ffffffe);
    expect(names.reuse(name)).toBe(name);
    names.get(name);
    const copy = names.reuse(name);
    expect(copy).toEqual({ ...name, id: name.id + 1 });
    expect(names.refs(copy)).toBe(0);
    expect(names.refs(name)).toBe(0x7fffffff);
  });
});

describe('equality', () => {
  it('is by content, and no name is not the empty name', () => {
    const names = new AnonVmaNames();
    const [one, other, empty] = [nameOf(names, 'x'), nameOf(names, 'x'), nameOf(names, '')];
    expect(anonVmaNameEq(one, other)).toBe(true);
    expect(anonVmaNameEq(one, nameOf(names, 'y'))).toBe(false);
    expect(anonVmaNameEq(null, null)).toBe(true);
    expect(anonVmaNameEq(empty, null)).toBe(false);
    expect(anonVmaNameEq(null, empty)).toBe(false);
    expect(anonVmaNameEq(empty, nameOf(names, ''))).toBe(true);
  });

  it.each(['prefix', 'pointer'] as const)(
    'a text that is a %s only equals nothing but itself',
    (certainty) => {
      const names = new AnonVmaNames();
      const part = nameOf(names, 'x', certainty);
      expect(anonVmaNameEq(part, part)).toBe(true);
      expect(anonVmaNameEq(part, nameOf(names, 'x', certainty))).toBe(false);
      expect(anonVmaNameEq(part, nameOf(names, 'x'))).toBe(false);
      expect(anonVmaNameEq(nameOf(names, 'x'), part)).toBe(false);
    },
  );
});

it('numbers stay dense when a call is taken back', () => {
  const names = new AnonVmaNames();
  expect(nameOf(names, 'a').id).toBe(1);
  const mark = names.mark();
  expect(nameOf(names, 'b').id).toBe(2);
  names.rewind(mark);
  expect(nameOf(names, 'c').id).toBe(2);
});

/** Plants a count that no test could reach by taking references. */
function setCount(names: AnonVmaNames, name: AnonVmaName, count: number): void {
  (names.alive() as Map<AnonVmaName, number>).set(name, count);
}
