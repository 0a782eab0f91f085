/**
 * The end-to-end tests: `npm run test:e2e -- [FILTER]… [--yes] [--vsix FILE]`.
 *
 * Packages the extension if its package is missing or older than its sources, installs it into a fresh profile of
 * the real workbench, and runs the test files of this folder against it, one after another. Results, screenshots
 * and, after a failure, the workbench's logs go to test/e2e/out.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { explain, installWorkbench } from '../../scripts/workbench/install.mjs';
import { whenOrphaned } from '../../scripts/workbench/processes.mjs';
import { minutesAndSeconds } from '../../scripts/workbench/progress.mjs';
import { packageExtension, packageIsFresh, packagePath } from '../../scripts/workbench/package.mjs';
import { TO_TEST, ensure, findChromium, mayInstall } from '../../scripts/workbench/requirements.mjs';
import {
  QUIET_SETTINGS,
  installExtensions,
  startServer,
  writeSettings,
} from '../../scripts/workbench/server.mjs';

/**
 * A row that sticks to the top of its tree would lie over the rows that the tests want to click; a picture must not
 * show half a change of colours; and a list must not close because the focus comes back to a view a moment too late.
 */
const SETTINGS = {
  ...QUIET_SETTINGS,
  'workbench.quickOpen.closeOnFocusLost': false,
  'workbench.tree.enableStickyScroll': false,
  'workbench.reduceMotion': 'on',
};

const here = fileURLToPath(new URL('.', import.meta.url));
const out = join(here, 'out');

/** A closed page's extension host ends after this time; the default is three hours. */
const GRACE = ['--reconnection-grace-time', '1'];

/** @returns {{ filters: string[], vsix: string | undefined }} */
function readArguments() {
  const args = process.argv.slice(2).filter((arg) => arg !== '--yes');
  const at = args.indexOf('--vsix');
  const vsix = at < 0 ? undefined : args.splice(at, 2)[1];
  return { filters: args, vsix };
}

/**
 * @param {string} home a temporary folder
 * @param {string} vsix
 * @param {readonly string[]} filters
 */
async function runIn(home, vsix, filters) {
  const workbench = await installWorkbench({ yes: mayInstall(process.argv) });
  const log = join(out, 'server.log');
  const profile = { workbench, userData: join(home, 'user-data'), extensions: join(home, 'extensions'), log };
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { recursive: true });
  writeSettings(profile.userData, SETTINGS);
  installExtensions(profile, [vsix]);
  const server = await startServer(profile, { folder: workspace, port: 0, more: GRACE });
  stopper.stop = server.stop;
  const vitest = await startVitest('test', [...filters], {
    config: false,
    root: here,
    dir: here,
    include: ['**/*.test.ts'],
    watch: false,
    fileParallelism: false,
    testTimeout: 60_000,
    // A busy machine may miss a click; what needed its second try is marked in the output.
    retry: 1,
    hookTimeout: 90_000,
    reporters: ['default', ['json', { outputFile: join(out, 'vitest.json') }]],
    provide: {
      workbench: {
        url: server.url,
        chromium: findChromium() ?? '',
        machineSettings: join(profile.userData, 'Machine', 'settings.json'),
        workspace,
        out,
      },
    },
  });
  await vitest.close();
  await server.stop();
  return report(profile.userData);
}

/**
 * The numbers of the run, written to results.json as well. Keeps the workbench's logs of a run that failed.
 * @param {string} userData
 */
function report(userData) {
  const file = join(out, 'vitest.json');
  if (!existsSync(file)) throw new Error('The tests left no results.');
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, success } = results;
  if (!success) cpSync(join(userData, 'logs'), join(out, 'logs'), { recursive: true });
  writeFileSync(join(out, 'results.json'), `${JSON.stringify({ passed, failed, skipped, success })}\n`);
  return { passed, failed, skipped, success };
}

/** What ends the server, once there is one. @type {{ stop: () => Promise<void> }} */
const stopper = { stop: () => Promise.resolve() };

async function main() {
  const started = Date.now();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { filters, vsix } = readArguments();
  await ensure(TO_TEST, { yes: mayInstall(process.argv) });
  const fresh = vsix ?? (packageIsFresh() ? packagePath() : await packageExtension(join(out, 'package.log')));
  const home = mkdtempSync(join(tmpdir(), 'vma-lens-e2e-'));
  try {
    const result = await runIn(home, fresh, filters);
    console.log(
      `end-to-end: ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped ` +
        `in ${minutesAndSeconds(Date.now() - started)}; screenshots in test/e2e/out`,
    );
    return result;
  } finally {
    await stopper.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

const leave = () => void stopper.stop().then(() => process.exit(130));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, leave);
whenOrphaned(leave);
try {
  const result = await main();
  // A run without a single test has shown nothing.
  process.exitCode = result.success && result.passed > 0 ? 0 : 1;
} catch (error) {
  explain(error);
  process.exitCode = 1;
}
