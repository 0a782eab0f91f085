import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KERNEL_VERSIONS, kernelRules } from '../../src/mm/kernel_rules';
import * as flags from '../../src/mm/vm_flags';
import {
  hasAll,
  hasAny,
  intersect,
  union,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_FLAG_TABLE,
  VM_LOCKONFAULT,
  VM_MERGEABLE,
  VM_NONE,
  VM_PKEY_BIT0,
  VM_READ,
  VM_SEALED,
  VM_UFFD_RWP,
  VM_WRITE,
  without,
  type VmFlags,
} from '../../src/mm/vm_flags';
import { flagsOfMnemonics, mnemonicsOf } from '../../src/replay/maps_view';

const ROWS = VM_FLAG_TABLE.map((row) => row.flag);

/** A set as rows of the table, and as VmFlags. */
const anySet = fc.subarray(ROWS).map((rows) => ({ rows, set: unionOf(...rows) }));

/** The same set by arithmetic: rows are different powers of two. */
const setOf = (rows: readonly VmFlags[]): number => [...new Set(rows)].reduce((sum, row) => sum + row, 0);

describe('sets of flags', () => {
  it('behave as sets, below and above bit 32', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const both = a.rows.filter((row) => b.rows.includes(row));
        expect(union(a.set, b.set)).toBe(setOf([...a.rows, ...b.rows]));
        expect(intersect(a.set, b.set)).toBe(setOf(both));
        expect(without(a.set, b.set)).toBe(setOf(a.rows.filter((row) => !b.rows.includes(row))));
        expect(hasAll(a.set, b.set)).toBe(both.length === b.rows.length);
        expect(hasAny(a.set, b.set)).toBe(both.length > 0);
      }),
    );
  });

  it('the flag at bit 31 and the ones beside it', () => {
    const all = unionOf(VM_MERGEABLE, VM_PKEY_BIT0, VM_READ);
    expect(without(all, VM_MERGEABLE)).toBe(unionOf(VM_PKEY_BIT0, VM_READ));
    expect(without(all, VM_PKEY_BIT0)).toBe(unionOf(VM_MERGEABLE, VM_READ));
    expect(hasAny(VM_PKEY_BIT0, VM_READ)).toBe(false);
    expect(hasAny(VM_MERGEABLE, VM_PKEY_BIT0)).toBe(false);
  });

  it('the highest flag is exact', () => {
    const all = unionOf(...ROWS);
    expect(without(all, VM_UFFD_RWP)).not.toBe(all);
    expect(union(without(all, VM_UFFD_RWP), VM_UFFD_RWP)).toBe(all);
    expect(hasAll(all, unionOf(VM_SEALED, VM_UFFD_RWP))).toBe(true);
  });

  it('of nothing', () => {
    expect(unionOf()).toBe(VM_NONE);
    expect(hasAny(VM_NONE, VM_ACCESS_FLAGS)).toBe(false);
    expect(hasAll(VM_READ, VM_NONE)).toBe(true);
  });
});

describe('the table', () => {
  it('has one row for each flag of the kernel', () => {
    const single = Object.entries(flags).filter(
      ([name, value]) => name.startsWith('VM_') && typeof value === 'number' && isOneFlag(value),
    );
    expect(VM_FLAG_TABLE.map((row) => row.name).sort()).toEqual(single.map(([name]) => name).sort());
    for (const row of VM_FLAG_TABLE) expect(Reflect.get(flags, row.name)).toBe(row.flag);
  });

  it('names no mnemonic twice', () => {
    const mnemonics = VM_FLAG_TABLE.flatMap((row) => row.mnemonic ?? []);
    expect(new Set(mnemonics).size).toBe(mnemonics.length);
    for (const mnemonic of mnemonics) expect(mnemonic).toMatch(/^[a-z]{2}$/);
  });
});

function isOneFlag(value: number): boolean {
  return value > 0 && Number.isInteger(Math.log2(value));
}

describe('mnemonics', () => {
  it.each(KERNEL_VERSIONS)('lead back to the same flags on %s', (version) => {
    const rules = kernelRules(version);
    const hidden = unionOf(flags.VM_PKEY_MASK, ...(rules.lockOnFaultMnemonic ? [] : [VM_LOCKONFAULT]));
    fc.assert(
      fc.property(anySet, ({ set }) => {
        const printed = mnemonicsOf(set, rules);
        const shown = without(set, hidden);
        expect(flagsOfMnemonics(printed).flags).toBe(shown);
        // Printed again they are in the same order.
        expect(mnemonicsOf(union(flagsOfMnemonics(printed).flags, intersect(set, hidden)), rules)).toEqual(
          printed,
        );
      }),
    );
  });

  it('are in the order of the bits of that kernel', () => {
    const set = unionOf(
      VM_READ,
      flags.VM_UFFD_MINOR,
      flags.VM_DROPPABLE,
      VM_SEALED,
      VM_MERGEABLE,
      flags.VM_UFFD_RWP,
    );
    const order = (version: (typeof KERNEL_VERSIONS)[number]): string =>
      mnemonicsOf(set, kernelRules(version)).join(' ');
    // The seal was the last of all bits until 6.12, and comes before `ur` since; `ui` moved behind `dp`.
    expect(order('6.10')).toBe('rd mg ui dp ur sl');
    expect(order('6.12')).toBe('rd mg ui dp ur sl');
    expect(order('6.18')).toBe('rd mg dp ui sl ur');
    expect(order('7.3')).toBe('rd mg dp ui sl ur');
    expect(order('6.1')).toBe('rd mg ui dp ur sl');
  });

  it('one that a kernel does not name yet is ??, and says nothing when read', () => {
    const set = unionOf(VM_READ, VM_WRITE, VM_LOCKONFAULT);
    expect(mnemonicsOf(set, kernelRules('6.1'))).toEqual(['rd', 'wr', '??']);
    expect(mnemonicsOf(set, kernelRules('6.12'))).toEqual(['rd', 'wr', 'lf']);
    expect(flagsOfMnemonics(['rd', '??', 'zz'])).toEqual({ flags: VM_READ, rest: ['??', 'zz'] });
  });
});
