import { expect, test } from 'vitest';
import { manifestProblems } from '../tidy/manifest';
import { MAX_LINES, TIDY_RULES } from '../tidy/rules';

const tree = new Map([
  [
    'README.md',
    '[a](docs/here.md) [b](docs/gone.md) [c](docs/here.md#known-heading) [d](#gone) [e](https://x.y/z)\n',
  ],
  [
    'docs/here.md',
    '# Known heading\n\n`[f](not/a/link)`\n\nnpm test, npm start, npm run build, npm run biuld, npm ci\n',
  ],
  ['package.json', '{ "scripts": { "build": "", "test": "" } }\n'],
  ['.ci/run', 'npm ci && npm test\n'],
  ['src/mm/just_right.ts', 'export {};\n'.repeat(MAX_LINES)],
  ['src/mm/too_long.ts', 'export {};\n'.repeat(MAX_LINES + 1)],
  ['src/mm/later.ts', `// ${'TO' + 'DO'}: finish\n// mastodon\n`],
  ['test/mm/fine.test.ts', ''],
  ['test/mm_old/stray.test.ts', ''],
  ['test/property/own.test.ts', ''],
  ['package-lock.json', '{ "resolved": "https://example.org/x.tgz" }\n'],
  [
    'scripts/mine.mjs',
    "open('/work/tree/file');\nopen('/proc/self/maps');\nget('https://registry.npmjs.org/x');\n",
  ],
  ['test/fixtures/strace/a.strace', 'open("/root/.profile")\nopen("/work/tree/a")\n'],
]);

/** What each rule must find in that tree. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'short files': [`src/mm/too_long.ts: ${MAX_LINES + 1} lines`],
  'nothing left to do': [`src/mm/later.ts:1: // ${'TO' + 'DO'}: finish`],
  'tests mirror src': ['test/mm_old/stray.test.ts: no folder src/mm_old'],
  'local links': ['README.md: dead link docs/gone.md', 'README.md: no heading #gone'],
  'commands in texts': ['docs/here.md:5: no script start', 'docs/here.md:5: no script biuld'],
  'CI runs the README’s test command': ['README.md: no npm ci && npm test'],
  'lockfile without addresses': ['package-lock.json: 1 addresses of packages'],
  'nobody’s machine': [
    'scripts/mine.mjs:1: /work/t',
    'scripts/mine.mjs:3: registry.npmjs.org',
    'test/fixtures/strace/a.strace:2: /work/t',
  ],
};

test('each tidy rule has a planted violation', () => {
  expect(Object.keys(EXPECTED)).toEqual(Object.keys(TIDY_RULES));
});

test.each(Object.entries(TIDY_RULES))('tidy: %s', (name, rule) => {
  expect(rule(tree)).toEqual(EXPECTED[name]);
});

test('tidy: ids in package.json and in ids.ts are the same, and those used exist', () => {
  const manifest = {
    contributes: {
      commands: [
        { command: 'vmaLens.open' },
        {
          command: 'vmaLens.onlyInManifest',
          enablement: 'vmaLens.keyOnlyInManifest && !config.vmaLens.live',
        },
      ],
      views: {
        vmaLens: [
          { id: 'vmaLens.processes', when: '!vmaLens.replaying' },
          { id: 'vmaLens.viewOnlyInManifest' },
        ],
      },
      viewsWelcome: [{ view: 'vmaLens.goneView', contents: '[Open](command:vmaLens.goneCommand)' }],
      menus: {
        'view/title': [{ command: 'vmaLens.open', when: 'view == vmaLens.otherGoneView && isLinux' }],
      },
      keybindings: [{ command: 'workbench.action.findInFiles' }],
      colors: [{ id: 'vmaLens.sealedForeground' }, { id: 'vmaLens.colourOnlyInManifest' }],
      viewsContainers: { activitybar: [{ id: 'vmaLensOther' }] },
      configuration: { properties: { 'vmaLens.live': {}, 'vmaLens.settingOnlyInManifest': {} } },
    },
  };
  const ids = {
    commands: { open: 'vmaLens.open', b: 'vmaLens.commandOnlyInIds' },
    views: { processes: 'vmaLens.processes', b: 'vmaLens.viewOnlyInIds' },
    settings: { live: 'vmaLens.live', b: 'vmaLens.settingOnlyInIds' },
    contextKeys: { replaying: 'vmaLens.replaying', b: 'vmaLens.keyOnlyInIds' },
    colors: { sealed: 'vmaLens.sealedForeground', b: 'vmaLens.colourOnlyInIds' },
    viewContainer: 'vmaLens',
  };
  expect(manifestProblems(manifest, ids)).toEqual([
    'command vmaLens.onlyInManifest is in package.json but not in ids.ts',
    'command vmaLens.commandOnlyInIds is in ids.ts but not in package.json',
    'view vmaLens.viewOnlyInManifest is in package.json but not in ids.ts',
    'view vmaLens.viewOnlyInIds is in ids.ts but not in package.json',
    'setting vmaLens.settingOnlyInManifest is in package.json but not in ids.ts',
    'setting vmaLens.settingOnlyInIds is in ids.ts but not in package.json',
    'context key vmaLens.keyOnlyInManifest is in package.json but not in ids.ts',
    'context key vmaLens.keyOnlyInIds is in ids.ts but not in package.json',
    'colour vmaLens.colourOnlyInManifest is in package.json but not in ids.ts',
    'colour vmaLens.colourOnlyInIds is in ids.ts but not in package.json',
    'view container vmaLensOther is in package.json but not in ids.ts',
    'view container vmaLens is in ids.ts but not in package.json',
    'command vmaLens.goneCommand is used in package.json but not contributed',
    'view vmaLens.otherGoneView is used in package.json but not contributed',
    'view vmaLens.goneView is used in package.json but not contributed',
  ]);
});
