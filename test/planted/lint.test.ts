import { relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { plantProject } from './project';

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');

/** Each planted file and the one rule that must report it, once. */
const PLANTED: Readonly<Record<string, { readonly rule: string | null; readonly text: string }>> = {
  'src/mm/fine.ts': {
    rule: null,
    text: 'export const size = (pages: number): string => `${pages} pages`;\n',
  },
  'src/mm/clock.ts': {
    rule: 'no-restricted-globals',
    text: 'export const now = (): number => Date.now();\n',
  },
  'src/mm/dice.ts': {
    rule: 'no-restricted-properties',
    text: 'export const roll = (): number => Math.random();\n',
  },
  'src/mm/hidden_clock.ts': {
    rule: 'no-restricted-properties',
    text: 'export const now = (): number => globalThis.Date.now();\n',
  },
  'src/mm/state.ts': {
    rule: 'no-restricted-syntax',
    text: 'let count = 0;\nexport function next(): number {\n  count += 1;\n  return count;\n}\n',
  },
  'src/mm/exported_state.ts': {
    rule: 'no-restricted-syntax',
    text: 'export let count = 0;\nexport function step(): void {\n  count += 1;\n}\n',
  },
  'src/mm/cache.ts': {
    rule: 'no-restricted-syntax',
    text: 'export const seen = new Map<number, string>();\n',
  },
  'src/mm/table.ts': {
    rule: null,
    text: "export const TABLE: ReadonlyMap<number, string> = new Map([[1, 'one']]);\n",
  },
  'src/mm/default_export.ts': { rule: 'no-restricted-syntax', text: 'export default 1;\n' },
  'src/mm/long_file.ts': {
    rule: 'max-lines',
    text: lines(401, (n) => `export const V${n} = ${n};\n`),
  },
  'src/mm/long_function.ts': {
    rule: 'max-lines-per-function',
    text: `export function f(x: number): number {\n  let y = x;\n${lines(70, (n) => `  y += ${n};\n`)}  return y;\n}\n`,
  },
  'src/mm/any.ts': {
    rule: '@typescript-eslint/no-explicit-any',
    text: 'export type Anything = any;\n',
  },
  'src/mm/non_null.ts': {
    rule: '@typescript-eslint/no-non-null-assertion',
    text: 'export const first = (xs: readonly number[]): number => xs[0]!;\n',
  },
  'src/mm/open_switch.ts': {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    text:
      "export function f(kind: 'a' | 'b'): number {\n  let n = 0;\n" +
      "  switch (kind) {\n    case 'a':\n      n = 1;\n  }\n  return n;\n}\n",
  },
  'src/mm/loose_equal.ts': {
    rule: 'eqeqeq',
    text: 'export const same = (a: string, b: string): boolean => a == b;\n',
  },
  'src/mm/type_import.ts': {
    rule: '@typescript-eslint/consistent-type-imports',
    text: "import { Pages } from './pages';\nexport const two: Pages = 2;\n",
  },
  'src/mm/pages.ts': { rule: null, text: 'export type Pages = number;\n' },
  'src/node/floating.ts': {
    rule: '@typescript-eslint/no-floating-promises',
    text: 'export function f(read: () => Promise<void>): void {\n  read();\n}\n',
  },
  'src/node/prints.ts': {
    rule: 'no-console',
    text: "export function f(): void {\n  console.log('read');\n}\n",
  },
  'src/cli/prints.ts': { rule: null, text: "export function f(): void {\n  console.log('read');\n}\n" },
  'test/mm/floating.test.ts': {
    rule: '@typescript-eslint/no-floating-promises',
    text: 'export function f(read: () => Promise<void>): void {\n  read();\n}\n',
  },
  'scripts/unused.mjs': {
    rule: '@typescript-eslint/no-unused-vars',
    text: 'const unused = 1;\n',
  },
};

const project = plantProject(
  Object.fromEntries(Object.entries(PLANTED).map(([path, { text }]) => [path, text])),
);
afterAll(project.remove);

interface LintedFile {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null; readonly message: string }[];
}

test('lint: each planted file is reported by its rule and by no other', async () => {
  const { status, stdout } = await project.run('lint', '--format', 'json');
  const files = JSON.parse(stdout) as readonly LintedFile[];
  const found = files.flatMap((file) =>
    file.messages.map((m) => `${relative(project.root, file.filePath)}: ${m.ruleId ?? m.message}`),
  );
  const expected = Object.entries(PLANTED).flatMap(([path, { rule }]) =>
    rule === null ? [] : [`${path}: ${rule}`],
  );
  expect(found.sort()).toEqual(expected.sort());
  expect(status).not.toBe(0);
}, 120_000);
