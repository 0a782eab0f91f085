import { posix } from 'node:path';
import type { Tree } from './tree';

/**
 * Taste turned into rules. Each takes the project's files and returns one line a finding, `PATH: what`.
 * test/tidy.test.ts holds them against the real tree, test/planted/tidy.test.ts sees each fail.
 */
export type TidyRule = (tree: Tree) => readonly string[];

export const MAX_LINES = 400;

/** Folders of test/ that mirror no folder of src/, and why they are there. */
const OWN_TEST_FOLDERS: ReadonlyMap<string, string> = new Map([
  ['', 'what concerns the whole project'],
  ['planted', 'sees each rule of the tools fail'],
  ['tidy', 'the rules of this file'],
  ['scripts', 'mirrors scripts/'],
  ['property', 'random runs over several layers'],
  ['e2e', 'the package in a real VS Code'],
  ['kernel', 'records what real kernels do'],
]);

export const TIDY_RULES: Readonly<Record<string, TidyRule>> = {
  'short files': shortFiles,
  'nothing left to do': nothingLeftToDo,
  'tests mirror src': testsMirrorSrc,
  'local links': localLinks,
  'commands in texts': commandsInTexts,
  'CI runs the README’s test command': ciRunsTestCommand,
  'lockfile without addresses': lockfileWithoutAddresses,
  'nobody’s machine': nobodysMachine,
};

function shortFiles(tree: Tree): readonly string[] {
  return linesOf(tree, /^src\//).flatMap(({ path, lines }) =>
    lines.length > MAX_LINES ? [`${path}: ${lines.length} lines`] : [],
  );
}

/** An open end is an issue of the project, not a note in its source. */
function nothingLeftToDo(tree: Tree): readonly string[] {
  const note = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`);
  return linesOf(tree, /\.(ts|mjs|cjs|c|css|sh)$/).flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (note.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

function testsMirrorSrc(tree: Tree): readonly string[] {
  const folders = new Set([...tree.keys()].map((path) => posix.dirname(path)));
  return [...tree.keys()].flatMap((path) => {
    if (!/^test\/.*\.test\.ts$/.test(path)) return [];
    const folder = posix.dirname(path).slice('test/'.length);
    const own = OWN_TEST_FOLDERS.has(folder.split('/')[0] ?? '');
    return own || folders.has(`src/${folder}`) ? [] : [`${path}: no folder src/${folder}`];
  });
}

/** A link in a text for people leads to a file of the project; where it names a heading, that exists. */
function localLinks(tree: Tree): readonly string[] {
  const folders = new Set([...tree.keys()].flatMap((path) => parents(path)));
  return [...tree].flatMap(([path, text]) => {
    if (!path.endsWith('.md')) return [];
    const links = [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)].map((match) => match[1] ?? '');
    return links.flatMap((link) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = '', heading] = link.split('#');
      const target =
        file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '');
      if (!tree.has(target) && !folders.has(target)) return [`${path}: dead link ${link}`];
      const known = heading === undefined || headings(tree.get(target) ?? '').has(heading);
      return known ? [] : [`${path}: no heading ${link}`];
    });
  });
}

/** A text that says `npm run NAME` names a script that there is. */
function commandsInTexts(tree: Tree): readonly string[] {
  const manifest = JSON.parse(tree.get('package.json') ?? '{}') as {
    readonly scripts?: Readonly<Record<string, string>>;
  };
  const scripts = new Set(Object.keys(manifest.scripts ?? {}));
  return linesOf(tree, /\.md$|^\.ci\//).flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      [...line.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(test|start)\b)/g)]
        .map((match) => match[1] ?? match[2] ?? '')
        .filter((name) => !scripts.has(name))
        .map((name) => `${path}:${index + 1}: no script ${name}`),
    ),
  );
}

const TEST_COMMAND = 'npm ci && npm test';

function ciRunsTestCommand(tree: Tree): readonly string[] {
  return ['README.md', '.ci/run'].flatMap((path) =>
    tree.get(path)?.includes(TEST_COMMAND) === true ? [] : [`${path}: no ${TEST_COMMAND}`],
  );
}

function lockfileWithoutAddresses(tree: Tree): readonly string[] {
  const count = (tree.get('package-lock.json') ?? '').split('"resolved"').length - 1;
  return count === 0 ? [] : [`package-lock.json: ${count} addresses of packages`];
}

/**
 * No text depends on where somebody's work tree lies or on the registry that somebody uses. Captured text
 * shows other people's machines, but not the one that it was made on.
 */
function nobodysMachine(tree: Tree): readonly string[] {
  const workTree = /(?<![\w.~-])\/(work|builds)\/[\w.]/;
  const home = /(?<![\w.~-])\/(root|home\/runner|Users)\/[\w.]/;
  const registry =
    /\b(registry\.npm|npmjs|deb\.debian|pypi|proxy\.golang|unpkg|jsdelivr)\w*\.(org|com|net)\b/;
  return linesOf(tree, /^(?!package-lock\.json$|test\/(tidy|planted)\/)/).flatMap(({ path, lines }) => {
    const captured = /^(test\/fixtures|media\/example)\/(?!README)/.test(path);
    const patterns = captured ? [workTree] : [workTree, home, registry];
    return lines.flatMap((line, index) =>
      patterns.flatMap((pattern) => {
        const found = pattern.exec(line);
        return found === null ? [] : [`${path}:${index + 1}: ${found[0]}`];
      }),
    );
  });
}

function linesOf(
  tree: Tree,
  paths: RegExp,
): readonly { readonly path: string; readonly lines: readonly string[] }[] {
  return [...tree].flatMap(([path, text]) =>
    paths.test(path) ? [{ path, lines: text.replace(/\n$/, '').split('\n') }] : [],
  );
}

function parents(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/```[^]*?```/g, '').replaceAll(/`[^`\n]*`/g, '');
}

/** The anchors that a page of headings has: lower case, spaces to dashes, punctuation gone. */
function headings(markdown: string): ReadonlySet<string> {
  const titles = [...markdown.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
