import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** The layers that run unchanged in Node, in a webview and in VS Code for the Web. */
const CORE = ['base', 'mm', 'procfs', 'trace', 'replay', 'analysis', 'present', 'protocol'].map(
  (layer) => `src/${layer}/**/*.ts`,
);

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name, so that a thing is called the same everywhere.',
};

/** The core answers the same question with the same answer: no clock, no dice, nothing remembered. */
const noHiddenState = [
  {
    selector: ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration[kind="let"]',
    message: 'No module-level state in the core: hand it in by a parameter.',
  },
  {
    selector:
      ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration > ' +
      'VariableDeclarator:not([id.typeAnnotation]) > NewExpression[callee.name=/^(Map|Set|WeakMap|WeakSet)$/]',
    message: 'A module-level table is annotated ReadonlyMap or ReadonlySet; a cache does not belong there.',
  },
];

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', '.cache/', 'media/', 'test/fixtures/', 'test/e2e/out/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    name: 'vma-lens/typescript',
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', noDefaultExport],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A default branch is a decision about every kind that is not named; without one, each must be.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    name: 'vma-lens/size',
    files: ['src/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    name: 'vma-lens/core',
    files: CORE,
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'Date', message: 'The core has no clock: take the time as a parameter.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'The core has no dice: use the seeded base/prng.' },
        { object: 'globalThis', property: 'Date', message: 'The core has no clock.' },
      ],
      'no-restricted-syntax': ['error', noDefaultExport, ...noHiddenState],
    },
  },
  {
    name: 'vma-lens/cli',
    files: ['src/cli/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    name: 'vma-lens/tests',
    files: ['test/**/*.ts'],
    rules: {
      // A test may look into JSON that it has just made.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  {
    name: 'vma-lens/tool-configuration',
    files: ['*.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    name: 'vma-lens/scripts',
    files: ['**/*.mjs', '**/*.cjs'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-unreachable': 'error',
      'no-dupe-keys': 'error',
      'no-empty': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
);
