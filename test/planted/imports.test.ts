import { afterAll, expect, test } from 'vitest';
import { plantProject } from './project';

/** The table of docs/architecture.md once more, in words: what each layer may import besides itself. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  base: [],
  mm: ['base'],
  procfs: ['base', 'mm/addr', 'mm/vm_flags'],
  trace: ['base', 'mm/addr', 'mm/errno'],
  replay: ['base', 'mm', 'procfs', 'trace'],
  analysis: ['base', 'mm', 'procfs', 'replay'],
  present: ['base', 'mm', 'procfs', 'trace', 'replay', 'analysis'],
  protocol: ['base', 'present'],
  node: [
    'base',
    'procfs',
    'trace',
    'node:fs',
    'node:child_process',
    'node:fs/promises',
    'node:process',
    'node:http',
  ],
  extension: ['base', 'mm', 'procfs', 'trace', 'replay', 'analysis', 'present', 'protocol', 'node', 'vscode'],
  webview: ['base', 'present', 'protocol'],
  cli: ['base', 'mm', 'procfs', 'trace', 'replay', 'analysis', 'present', 'node', 'node:process'],
};

const FILES: readonly string[] = [
  ...Object.keys(MAY).map((layer) => `${layer}/plain`),
  'mm/addr',
  'mm/vm_flags',
  'mm/errno',
];
const MODULES = [
  'vscode',
  'node:fs',
  'node:fs/promises',
  'node:child_process',
  'node:process',
  'node:http',
  'esbuild',
];

const files: Record<string, string> = {
  'test/helper.ts': 'export type T = 1;\n',
  'bench/helper.ts': 'export type T = 1;\n',
};
for (const file of FILES) files[`src/${file}.ts`] = 'export type T = 1;\n';

const expected: string[] = [];
function plant(layer: string, target: string, specifier: string, allowed: boolean): void {
  const path = `src/${layer}/takes_${target.replaceAll(/[:/]/g, '_')}.ts`;
  files[path] = `import type * as T from '${specifier}';\nexport type U = typeof T;\n`;
  if (!allowed) expected.push(`${path}: ${layer}-imports`);
}

for (const [layer, may] of Object.entries(MAY)) {
  for (const file of FILES) {
    const owner = file.split('/')[0] ?? '';
    if (owner === layer) continue;
    plant(layer, file, `../${file}`, may.includes(owner) || may.includes(file));
  }
  for (const module of MODULES) plant(layer, module, module, may.includes(module));
  for (const outside of ['test', 'bench']) plant(layer, outside, `../../${outside}/helper`, false);
}

files['src/mm/chicken.ts'] = "import type { Egg } from './egg';\nexport type Chicken = Egg | 1;\n";
files['src/mm/egg.ts'] = "import type { Chicken } from './chicken';\nexport type Egg = Chicken | 2;\n";
expected.push('src/mm/chicken.ts: no-cycles'); // a cycle is reported once

files['src/protocol/takes_code.ts'] = "import { f } from '../present/words';\nexport const g = f;\n";
files['src/present/words.ts'] = 'export const f = 1;\n';
expected.push('src/protocol/takes_code.ts: protocol-takes-types-of-present');

files['src/util/anything.ts'] = "import type { T } from '../base/plain';\nexport type U = T;\n";
expected.push('src/util/anything.ts: known-layer');

const project = plantProject(files);
afterAll(project.remove);

interface Cruise {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
    readonly totalCruised: number;
  };
}

test('import rules: every forbidden direction is reported, every allowed one passes', async () => {
  const { stdout } = await project.run('imports', '--output-type', 'json');
  const { summary } = JSON.parse(stdout) as Cruise;
  expect(summary.totalCruised).toBeGreaterThanOrEqual(Object.keys(files).length);
  expect(summary.violations.map((v) => `${v.from}: ${v.rule.name}`).sort()).toEqual(expected.sort());
}, 120_000);

test('import rules: the check fails where there is a violation', async () => {
  expect((await project.run('imports')).status).not.toBe(0);
}, 120_000);
