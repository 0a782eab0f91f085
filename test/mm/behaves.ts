import { describe, expect, it } from 'vitest';
import type { Scenario } from './scenario';
import { expectations, outcome, row } from './scenario_table';

/** One test a version: what the script gives there, written as in the numbered scenarios. */
export function behaves(
  title: string,
  script: (kernel: Scenario) => Scenario | string,
  gives: Readonly<Record<string, string>>,
): void {
  const one = row(0, title, script, gives);
  describe(title, () => {
    it.each([...expectations(one)])('on %s', (version, expected) => {
      expect(outcome(one, version)).toBe(expected);
    });
  });
}
