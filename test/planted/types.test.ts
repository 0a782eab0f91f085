import { afterAll, expect, test } from 'vitest';
import { plantProject } from './project';

const CORE = ['base', 'mm', 'procfs', 'trace', 'replay', 'analysis', 'present', 'protocol'];
/** What a pure layer cannot name, and what the compiler calls it. */
const AMBIENT: Readonly<Record<string, string>> = {
  console: 'console.log(1);',
  process: 'process.exit(1);',
  document: 'document.title;',
  window: 'window.name;',
  setTimeout: 'setTimeout(f, 1);',
  fetch: "fetch('x');",
  Buffer: 'Buffer.alloc(1);',
};

const files: Record<string, string> = {
  'src/mm/fine.ts': 'export const PAGES = 2;\n',
  'src/node/fine.ts':
    "import { readFileSync } from 'node:fs';\nconsole.log(readFileSync('x'));\nexport const X = 1;\n",
  'src/mm/wrong_type.ts': "export const PAGES: number = 'two';\n",
  'src/mm/unchecked_index.ts': 'export const at = (pages: number[]): number => pages[0];\n',
  'src/mm/unused_local.ts': 'export function f(): void {\n  const unused = 1;\n}\n',
  'src/node/wrong_type.ts': "export const PAGES: number = 'two';\n",
  'test/mm/wrong_type.test.ts': "export const PAGES: number = 'two';\n",
  'test/e2e/wrong_type.test.ts': 'export const title: number = document.title;\n',
  'scripts/wrong_name.mjs': 'undefinedFunction();\n',
};
const expected = [
  'src/mm/wrong_type.ts: TS2322',
  'src/mm/unchecked_index.ts: TS2322',
  'src/mm/unused_local.ts: TS6133',
  'src/node/wrong_type.ts: TS2322',
  'test/mm/wrong_type.test.ts: TS2322',
  'test/e2e/wrong_type.test.ts: TS2322',
  'scripts/wrong_name.mjs: TS2304',
];
for (const layer of CORE) {
  for (const [name, use] of Object.entries(AMBIENT)) {
    const path = `src/${layer}/uses_${name}.ts`;
    files[path] = `export function f(): void {\n  ${use}\n}\n`;
    expected.push(`${path}: ${name}`);
  }
  files[`src/${layer}/reads_files.ts`] = "export * from 'node:fs';\n";
  expected.push(`src/${layer}/reads_files.ts: node:fs`);
}

const project = plantProject(files);
afterAll(project.remove);

test('types: each planted error is found in its file, nothing else is', async () => {
  const { status, stdout } = await project.run('types');
  // "Cannot find name 'x'" has several numbers, one a hint; what counts is the name that was not found.
  const found = [...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error (TS\d+): (.*)$/gm)].map(
    ([, path, code, text]) => {
      const name = /^Cannot find (?:name|module) '([^']+)'/.exec(text ?? '')?.[1];
      return `${path ?? ''}: ${(path?.startsWith('src/') === true ? name : undefined) ?? code ?? ''}`;
    },
  );
  expect(found.sort()).toEqual(expected.sort());
  expect(status).not.toBe(0);
}, 120_000);
