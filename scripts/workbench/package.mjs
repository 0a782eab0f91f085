/**
 * Packages this project's extension, and says whether a package is still of today's sources.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLogged, withClock } from './progress.mjs';

/** The folder of this project. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** What goes into the package, by its sources. */
const SOURCES = ['src', 'media', 'package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', '.vscodeignore'];

/** The path of the package that `npm run package` makes. */
export function packagePath() {
  const { name, version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  return join(PROJECT, `${name}-${version}.vsix`);
}

/** Whether the package is there and newer than everything that it is made of. */
export function packageIsFresh() {
  const path = packagePath();
  return (
    existsSync(path) &&
    statSync(path).mtimeMs > Math.max(...SOURCES.map((name) => newest(join(PROJECT, name))))
  );
}

/**
 * The time of the last change of a file, or of anything in a folder, in milliseconds.
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/**
 * Builds and packages the extension.
 * @param {string} log
 * @returns {Promise<string>} the path of the package
 */
export async function packageExtension(log) {
  await withClock('building and packaging the extension', () =>
    runLogged('npm', ['run', '--silent', 'package'], { cwd: PROJECT, env: process.env, log }),
  );
  return packagePath();
}

/**
 * Packages one of the helper extensions that live beside the scripts and the tests.
 * @param {string} folder
 * @param {string} out the path of the package
 * @param {string} log
 */
export function packageHelper(folder, out, log) {
  const vsce = join(PROJECT, 'node_modules', '.bin', 'vsce');
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', out];
  return runLogged(vsce, args, {
    cwd: folder,
    env: process.env,
    log,
  });
}
