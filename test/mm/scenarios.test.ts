import { describe, expect, it } from 'vitest';
import { KERNEL_VERSIONS } from '../../src/mm/kernel_rules';
import { expectations, outcome } from './scenario_table';
import { CALL_ROWS } from './scenarios_calls';
import { MERGE_ROWS } from './scenarios_merge';
import { NAME_ROWS } from './scenarios_names';
import { SEAL_ROWS } from './scenarios_seal';

/** A hundred numbered scenarios. What each kernel makes of them was seen on real kernels; see docs/kernel-rules.md. */
const ROWS = [...MERGE_ROWS, ...CALL_ROWS, ...SEAL_ROWS, ...NAME_ROWS];

for (const row of ROWS) {
  describe(`${row.number} ${row.title}`, () => {
    it.each([...expectations(row)])('on %s', (version, expected) => {
      expect(outcome(row, version)).toBe(expected);
    });
  });
}

it('every number is there once', () => {
  const numbers = ROWS.map(({ number }) => number);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

it('a row says nothing of a version only where the call does not exist', () => {
  const silent = ROWS.flatMap((row) => {
    const named = expectations(row);
    return KERNEL_VERSIONS.filter((version) => !named.has(version)).map(
      (version) => `${row.number} ${version}`,
    );
  });
  // All of these begin with mseal, which 6.1 does not have.
  expect(silent).toEqual(
    [58, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 89].map(
      (number) => `${number} 6.1`,
    ),
  );
});
