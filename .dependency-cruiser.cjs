const { builtinModules } = require('node:module');

const NODE = `(node:)?(${builtinModules.join('|')})$`;

/**
 * Who may import whom. Everything that is not in this table is an error (docs/architecture.md).
 * A layer may always import itself. Patterns are matched against the path from the
 * top folder, or against the name of a module of Node.
 */
const LAYERS = {
  base: [],
  mm: ['src/base/'],
  procfs: ['src/base/', 'src/mm/(addr|vm_flags)[.]ts$'],
  trace: ['src/base/', 'src/mm/(addr|errno)[.]ts$'],
  replay: ['src/(base|mm|procfs|trace)/'],
  analysis: ['src/(base|mm|procfs|replay)/'],
  present: ['src/(base|mm|procfs|trace|replay|analysis)/'],
  protocol: ['src/base/', 'src/present/'],
  node: ['src/(base|procfs|trace)/', NODE],
  extension: [
    'src/(base|mm|procfs|trace|replay|analysis|present|protocol|node)/',
    'vscode$',
    '(node:)?path$',
  ],
  webview: ['src/(base|present|protocol)/'],
  cli: ['src/(base|mm|procfs|trace|replay|analysis|present|node)/', '(node:)?(process|tty|path|util)$'],
};

const layerRules = Object.entries(LAYERS).map(([layer, allowed]) => ({
  name: `${layer}-imports`,
  comment: `src/${layer} may import only itself and: ${allowed.join(' ') || 'nothing'}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { pathNot: [`^src/${layer}/`, ...allowed.map((pattern) => `^${pattern}`)] },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'protocol-takes-types-of-present',
      comment: 'The protocol describes messages: it takes the types of what is shown and no code.',
      severity: 'error',
      from: { path: '^src/protocol/' },
      to: { path: '^src/present/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'known-layer',
      comment: 'A file in src belongs to one of the layers above.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${Object.keys(LAYERS).join('|')})/` },
      to: {},
    },
    {
      name: 'no-cycles',
      comment: 'Files that need each other are one file, or miss a third one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.base.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js', '.json'] },
  },
};
