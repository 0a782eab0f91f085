/**
 * `npm start`: packages the extension and opens VS Code with it and the example trace.
 *
 * A `code` on PATH is used if there is one, with a profile of its own; else VS Code's workbench in the browser,
 * which is installed once into a cache folder. Options: --browser (never the desktop's `code`), --yes (install
 * missing Debian packages without a question), --vsix FILE (this package instead of building one).
 * The variable PORT sets the workbench's port.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain, installWorkbench } from './workbench/install.mjs';
import { cacheFolder } from './workbench/layout.mjs';
import { isAlive, whenOrphaned } from './workbench/processes.mjs';
import { PROJECT, packageExtension, packageHelper } from './workbench/package.mjs';
import { findProgram, mayInstall } from './workbench/requirements.mjs';
import { QUIET_SETTINGS, installExtensions, startServer, writeSettings } from './workbench/server.mjs';

/** Each run has a folder here, named by its process, so that several can run at a time. */
const STARTS = join(cacheFolder(), 'start');

/** @typedef {{ home: string, log: string, userData: string, extensions: string, workspace: string }} Folders */

/**
 * The folders of this run, with a copy of the example to open, so that nothing in this project is written to.
 * @param {string} name of the folder below the cache folder that holds them all
 * @returns {Folders}
 */
function prepareFolders(name) {
  const home = join(STARTS, name);
  const workspace = join(home, 'example');
  mkdirSync(workspace, { recursive: true });
  cpSync(join(PROJECT, 'media', 'example'), workspace, { recursive: true });
  return {
    home,
    log: join(home, 'start.log'),
    userData: join(home, 'user-data'),
    extensions: join(home, 'extensions'),
    workspace,
  };
}

/** Removes what runs that were killed or have failed left behind. */
function removeOldFolders() {
  if (!existsSync(STARTS)) return;
  for (const name of readdirSync(STARTS)) {
    if (/^\d+$/.test(name) && !isAlive(Number(name))) {
      rmSync(join(STARTS, name), { recursive: true, force: true });
    }
  }
}

/**
 * `code`, if it can open a window from here. Inside a remote VS Code terminal `code` is another program, which
 * takes neither a profile nor an own folder of extensions.
 * @returns {string | undefined}
 */
function findDesktop() {
  if (process.argv.includes('--browser') || process.env.VSCODE_IPC_HOOK_CLI !== undefined) return undefined;
  const hasDisplay = [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some(
    (value) => value !== undefined && value !== '',
  );
  if (process.platform === 'linux' && !hasDisplay) return undefined;
  return findProgram(process.platform === 'win32' ? 'code.cmd' : 'code');
}

/**
 * Opens the desktop's VS Code. Its folder stays: the window may outlive us.
 * @param {string} code
 */
async function openDesktop(code) {
  const { home, log, userData, extensions, workspace } = prepareFolders('desktop');
  const packages = await makePackages(home, log);
  writeSettings(userData, QUIET_SETTINGS);
  const shell = process.platform === 'win32';
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const profile = [...root, '--user-data-dir', userData, '--extensions-dir', extensions];
  const install = packages.flatMap((path) => ['--install-extension', path]);
  const installed = spawnSync(code, [...profile, ...install, '--force'], { encoding: 'utf8', shell });
  if (installed.status !== 0) {
    throw new Error(`"${code} --install-extension" failed:\n${installed.stdout}${installed.stderr}`);
  }
  console.log(`VMA Lens opens in VS Code (${code}, with a profile of its own in ${home}).`);
  console.log('Close its window to end.');
  const child = spawn(code, [...profile, '--new-window', '--wait', workspace], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell,
  });
  stopper.end = () => child.kill('SIGTERM');
  await new Promise((done) => child.once('close', done));
}

/** Opens VS Code's workbench for a browser, until it is stopped. */
async function openBrowser() {
  removeOldFolders();
  const { home, log, userData, extensions, workspace } = prepareFolders(String(process.pid));
  const packages = await makePackages(home, log);
  const workbench = await installWorkbench({ yes: mayInstall(process.argv) });
  const profile = { workbench, userData, extensions, log };
  writeSettings(userData, QUIET_SETTINGS);
  installExtensions(profile, packages);
  const server = await startServer(profile, { folder: workspace, port: wantedPort() });
  stopper.end = () => void server.stop();
  console.log("\nVMA Lens runs in VS Code's workbench. Open this address in a browser:\n");
  console.log(`    ${server.url}\n`);
  console.log('Ctrl-C stops it.');
  const code = await server.ended;
  await server.stop();
  if (!stopper.asked) {
    throw new Error(`The workbench's server ended by itself with code ${code}. Its log: ${log}`);
  }
  rmSync(home, { recursive: true, force: true });
  console.log('Stopped.');
}

/**
 * The extension, and a small one that opens the example when the window is up.
 * @param {string} home
 * @param {string} log
 */
async function makePackages(home, log) {
  const given = process.argv.indexOf('--vsix');
  const extension = given < 0 ? await packageExtension(log) : resolve(process.argv[given + 1] ?? '');
  const starter = join(home, 'starter.vsix');
  await packageHelper(fileURLToPath(new URL('workbench/starter', import.meta.url)), starter, log);
  return [extension, starter];
}

function wantedPort() {
  const text = process.env.PORT ?? '';
  if (text === '') return 0;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new Error(`PORT is "${text}", not a port number.`);
  return port;
}

/**
 * Listens to Ctrl-C and its like; also notes when npm, which started us, is killed and cannot tell us. Before
 * there is something to end (and at a second Ctrl-C) it leaves at once: exit handlers end what runs.
 */
class Stopper {
  constructor() {
    /** What ends the thing that runs. @type {(() => void) | undefined} */
    this.end = undefined;
    this.asked = false;
    this.since = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => this.ask());
    whenOrphaned(() => this.ask());
  }

  ask() {
    const now = Date.now();
    // One Ctrl-C may come twice: from the terminal and passed on by npm.
    if (this.asked && now - this.since < 1000) return;
    if (this.asked || this.end === undefined) process.exit(130);
    this.asked = true;
    this.since = now;
    this.end();
  }
}

const stopper = new Stopper();
try {
  const desktop = findDesktop();
  if (desktop !== undefined) await openDesktop(desktop);
  else await openBrowser();
} catch (error) {
  explain(error);
  process.exitCode = 1;
}
