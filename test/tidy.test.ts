import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TIDY_RULES } from './tidy/rules';
import { readTree } from './tidy/tree';

const tree = readTree(join(import.meta.dirname, '..'));

test.each(Object.entries(TIDY_RULES))('%s', (_, rule) => {
  expect(rule(tree)).toEqual([]);
});
