import { afterAll, expect, test } from 'vitest';
import { plantProject } from './project';

const project = plantProject({
  'src/mm/well_formatted.ts': "export const NAME = 'anon';\n",
  'src/mm/double_quotes.ts': 'export const NAME = "anon";\n',
  'test/mm/no_semicolon.test.ts': "export const NAME = 'anon'\n",
  'docs/loose_list.md': '* one\n* two\n',
});
afterAll(project.remove);

test('formatting: each file that differs is named, no other', async () => {
  const { status, stderr } = await project.run('format');
  const named = [...stderr.matchAll(/^\[warn\] (\S+\.\w+)$/gm)].map((match) => match[1]);
  expect(named.sort()).toEqual([
    'docs/loose_list.md',
    'src/mm/double_quotes.ts',
    'test/mm/no_semicolon.test.ts',
  ]);
  expect(status).not.toBe(0);
}, 120_000);
