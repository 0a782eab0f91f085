import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { plantProject } from './project';

const project = plantProject({
  'src/extension/extension.ts':
    "import { used } from '../mm/used';\nexport const activate = (): number => used();\n",
  'src/mm/used.ts':
    'export const used = (): number => 1;\nexport const unusedExport = 2;\nexport type UnusedType = 1;\n',
  'src/mm/unused_file.ts': 'export const x = 1;\n',
  'src/cli/main.ts': "import { something } from 'not-in-package-json';\nsomething();\n",
});
afterAll(project.remove);

const manifest = join(project.root, 'package.json');
const { devDependencies, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  readonly devDependencies: Record<string, string>;
};
writeFileSync(
  manifest,
  JSON.stringify({ ...rest, devDependencies: { ...devDependencies, 'unused-package': '1.0.0' } }),
);

interface KnipIssue {
  readonly file: string;
  readonly files?: readonly { readonly name: string }[];
  readonly exports: readonly { readonly name: string }[];
  readonly types: readonly { readonly name: string }[];
  readonly devDependencies: readonly { readonly name: string }[];
  readonly unlisted: readonly { readonly name: string }[];
}

test('dead code: unused files, exports, types and packages, and packages that are not listed', async () => {
  const { status, stdout } = await project.run('dead', '--reporter', 'json');
  const { issues } = JSON.parse(stdout) as { readonly issues: readonly KnipIssue[] };
  const named = (kind: 'files' | 'exports' | 'types' | 'unlisted'): readonly string[] =>
    issues.flatMap((issue) => (issue[kind] ?? []).map(({ name }) => `${issue.file}: ${name}`));
  expect(named('files')).toEqual(['src/mm/unused_file.ts: src/mm/unused_file.ts']);
  expect(named('exports')).toEqual(['src/mm/used.ts: unusedExport']);
  expect(named('types')).toEqual(['src/mm/used.ts: UnusedType']);
  expect(named('unlisted')).toEqual(['src/cli/main.ts: not-in-package-json']);
  // Packages that only the real tree uses are reported here too.
  expect(issues.flatMap((issue) => issue.devDependencies.map(({ name }) => name))).toContain(
    'unused-package',
  );
  expect(status).not.toBe(0);
}, 120_000);
