import { expect } from 'vitest';
import { MAX_CHILDREN } from '../../src/analysis/ranges';
import { tooltipMarkdown } from '../../src/present/tooltip';
import type { TreeNode } from '../../src/present/tree_node';

/** Every row of a tree, parents before children. */
export function allRows(roots: readonly TreeNode[]): readonly TreeNode[] {
  return roots.flatMap((row) => [row, ...allRows(row.children())]);
}

/** The row that the labels lead to. */
export function rowAt(roots: readonly TreeNode[], ...labels: readonly string[]): TreeNode {
  let rows = roots;
  let found: TreeNode | undefined;
  for (const label of labels) {
    found = rows.find((row) => row.label === label);
    if (found === undefined)
      throw new Error(`no row ${label} among ${rows.map((row) => row.label).join(', ')}`);
    rows = found.children();
  }
  if (found === undefined) throw new Error('no labels');
  return found;
}

/** `label: description` of rows. */
export function lines(rows: readonly TreeNode[]): readonly string[] {
  return rows.map((row) => (row.description === '' ? row.label : `${row.label}: ${row.description}`));
}

/**
 * What holds for every tree: ids are unique, no node has too many children, a leaf has none, nothing but
 * printable text reaches labels, and tooltips can be made.
 */
export function expectGoodTree(roots: readonly TreeNode[]): void {
  const rows = allRows(roots);
  const ids = rows.map((row) => row.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(roots.length).toBeLessThanOrEqual(MAX_CHILDREN);
  for (const row of rows) {
    const children = row.children();
    expect(children.length).toBeLessThanOrEqual(MAX_CHILDREN);
    expect(row.expansion === 'leaf').toBe(children.length === 0);
    for (const text of [row.label, row.description, row.accessibility ?? ''])
      expect(text).not.toMatch(UNPRINTABLE);
    expect(row.label).not.toBe('');
    const tooltip = row.tooltip();
    if (tooltip !== undefined) expect(tooltipMarkdown(tooltip)).not.toMatch(/[\u0000-\u0009\u001b\u202e]/);
  }
}

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ud800-\udfff]/u;
