import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COLORS, COMMANDS, CONTEXT_KEYS, SETTINGS, VIEW_CONTAINER, VIEWS } from '../src/extension/ids';
import { manifestProblems, type Manifest } from './tidy/manifest';
import { TIDY_RULES } from './tidy/rules';
import { readTree } from './tidy/tree';

const tree = readTree(join(import.meta.dirname, '..'));

test.each(Object.entries(TIDY_RULES))('%s', (_, rule) => {
  expect(rule(tree)).toEqual([]);
});

test('ids in package.json and in src/extension/ids.ts', () => {
  const manifest = JSON.parse(tree.get('package.json') ?? '') as Manifest;
  const ids = {
    commands: COMMANDS,
    views: VIEWS,
    settings: SETTINGS,
    contextKeys: CONTEXT_KEYS,
    colors: COLORS,
    viewContainer: VIEW_CONTAINER,
  };
  expect(manifestProblems(manifest, ids)).toEqual([]);
});
