import { describe, expect, it } from 'vitest';
import type { AnonVmaName } from '../../src/mm/anon_vma_name';
import type { Mm, MmSystem } from '../../src/mm/mm';
import { validateMm } from '../../src/mm/validate_mm';
import type { Vma } from '../../src/mm/vma';
import { mmOf, nameOf, systemOf, vmaOf } from './vmas';

/** Two address spaces that share a name object. */
function world(): { readonly system: MmSystem; readonly mms: readonly [Mm, Mm]; readonly name: AnonVmaName } {
  const system = systemOf();
  const name = nameOf(system.names, 'shared');
  const mms = [
    mmOf([vmaOf(0, 2, { name }), vmaOf(2, 4)], system),
    mmOf([vmaOf(0, 1, { name }), vmaOf(1, 2, { name })], system),
  ] as const;
  return { system, mms, name };
}

/** Puts `vma` in the place of the first VMA, past all that watches over the tree. */
function corrupt(mm: Mm, vma: Partial<Vma>): void {
  const [first] = mm.tree.all();
  if (first !== undefined) mm.tree.splice(0, 1, [{ ...first, ...vma }]);
}

it('finds nothing wrong where nothing is', () => {
  const { system, mms } = world();
  expect(() => validateMm(mms, system.names)).not.toThrow();
});

describe('finds what is planted', () => {
  it.each<[string, Partial<Vma>]>([
    ['an overlap', { end: vmaOf(0, 3).end }],
    ['an empty VMA', { end: vmaOf(0, 0).end }],
    ['a VMA that ends before it starts', { start: vmaOf(5, 6).start }],
    ['a negative page offset', { pgoff: -1 }],
    ['inherited memory that nobody touched', { forkChild: true }],
  ])('%s', (_, planted) => {
    const { system, mms } = world();
    corrupt(mms[0], planted);
    expect(() => validateMm(mms, system.names)).toThrow('assertion failed');
  });

  it('VMAs out of order', () => {
    const { system, mms } = world();
    mms[0].tree.splice(0, 2, [vmaOf(2, 4), vmaOf(0, 2)]);
    expect(() => validateMm(mms, system.names)).toThrow('VMAs are ordered, apart and not empty');
  });

  it('a VMA past the end of 64 bits', () => {
    const { system, mms } = world();
    mms[0].tree.splice(1, 1, [vmaOf(2 ** 52 - 1, 2 ** 52 + 1)]);
    expect(() => validateMm(mms, system.names)).toThrow('VMAs are ordered, apart and not empty');
  });

  it('a count that is too high', () => {
    const { system, mms, name } = world();
    system.names.get(name);
    expect(() => validateMm(mms, system.names)).toThrow('name object 1 has 3 holders and a count of 4');
  });

  it('a count that is too low', () => {
    const { system, mms, name } = world();
    system.names.put(name);
    expect(() => validateMm(mms, system.names)).toThrow('name object 1 has 3 holders and a count of 2');
  });

  it('an object that lives on without holders', () => {
    const { system, mms } = world();
    system.names.get(nameOf(system.names, 'leaked'));
    expect(() => validateMm(mms, system.names)).toThrow('name object 2 has 0 holders and a count of 1');
  });

  it('a holder of an object that is gone', () => {
    const { system, mms } = world();
    corrupt(mms[1], { name: nameOf(system.names, 'gone') });
    expect(() => validateMm(mms, system.names)).toThrow('assertion failed');
  });

  it('an address space that was left out', () => {
    const { system, mms } = world();
    expect(() => validateMm([mms[0]], system.names)).toThrow('name object 1 has 1 holders and a count of 3');
  });
});
