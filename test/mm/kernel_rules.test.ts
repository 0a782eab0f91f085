import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  isKernelVersion,
  KERNEL_VERSIONS,
  kernelRules,
  parseRuleOverride,
  RULE_TABLE,
} from '../../src/mm/kernel_rules';

describe('the table', () => {
  it('gives each version its column', () => {
    expect(KERNEL_VERSIONS.map((version) => kernelRules(version).sealCheck)).toEqual([
      'none',
      'pre-pass',
      'pre-pass',
      'in-loop',
      'in-loop',
      'in-loop',
    ]);
    expect(KERNEL_VERSIONS.map((version) => kernelRules(version).droppable)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    for (const version of KERNEL_VERSIONS) expect(kernelRules(version).flagLayout).toBe(version);
  });

  it.each(Object.entries(RULE_TABLE))(
    '%s: one value for each version, each of them in its domain, and a reason',
    (_, { values, domain, why }: { values: readonly unknown[]; domain: readonly unknown[]; why: string }) => {
      expect(values).toHaveLength(KERNEL_VERSIONS.length);
      for (const value of values) expect(domain).toContain(value);
      expect(new Set(domain).size).toBe(domain.length);
      expect(why).not.toBe('');
    },
  );

  it('a rule that is overridden leaves the others', () => {
    const rules = kernelRules('7.3', { sealCheck: 'pre-pass', droppable: false });
    expect(rules).toEqual({ ...kernelRules('7.3'), sealCheck: 'pre-pass', droppable: false });
  });
});

describe('overrides as text', () => {
  it.each([
    ['sealCheck=pre-pass', { sealCheck: 'pre-pass' }],
    ['droppable=false', { droppable: false }],
    ['droppable=true', { droppable: true }],
    ['flagLayout=6.12', { flagLayout: '6.12' }],
  ])('%s', (text, override) => {
    expect(parseRuleOverride(text)).toEqual(override);
  });

  it.each([
    '',
    'sealCheck',
    'sealCheck=',
    'sealCheck=maybe',
    'droppable=1',
    'noSuchRule=true',
    'toString=true',
    '__proto__=x',
  ])('%j is none', (text) => {
    expect(parseRuleOverride(text)).toBeUndefined();
  });
});

it('knows a version by its name only', () => {
  expect(KERNEL_VERSIONS.every(isKernelVersion)).toBe(true);
  for (const text of ['6.2', '6.1.192', '', 'v6.12', '7.30']) expect(isKernelVersion(text)).toBe(false);
});

describe('docs/kernel-rules.md', () => {
  const text = readFileSync(new URL('../../docs/kernel-rules.md', import.meta.url), 'utf8');
  const rows = new Map(
    text
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
      .filter((cells) => cells.length > 8 && Object.hasOwn(RULE_TABLE, cells[1] ?? ''))
      .map((cells) => [cells[1] ?? '', cells.slice(2, 8)] as const),
  );

  it('states every rule', () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(RULE_TABLE).sort());
  });

  it.each(Object.entries(RULE_TABLE))('%s: the same values', (name, row) => {
    const words = row.values.map((value) => (value === true ? 'yes' : value === false ? 'no' : value));
    expect(rows.get(name)).toEqual(words);
  });
});
