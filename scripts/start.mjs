/**
 * `npm start`: packages the extension and opens VS Code with it and the example trace.
 *
 * A `code` on PATH is used if there is one, with a profile of its own; else VS Code's workbench in the browser,
 * which is installed once into a cache folder. Options: --browser (never the desktop's `code`), --yes (install
 * missing Debian packages without a question), --vsix FILE (this package instead of building one).
 * The variable PORT sets the workbench's port.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain, installWorkbench } from './workbench/install.mjs';
import { cacheFolder } from './workbench/layout.mjs';
import { PROJECT, packageExtension, packageHelper } from './workbench/package.mjs';
import { findProgram, mayInstall } from './workbench/requirements.mjs';
import { QUIET_SETTINGS, installExtensions, startServer, writeSettings } from './workbench/server.mjs';

const home = join(cacheFolder(), 'start');
const log = join(home, 'start.log');
const userData = join(home, 'user-data');
const extensions = join(home, 'extensions');
const workspace = join(home, 'example');

/** The folder that opens: a copy of the example, so that nothing in this project is written to. */
function prepareWorkspace() {
  const example = join(PROJECT, 'media', 'example');
  mkdirSync(workspace, { recursive: true });
  if (existsSync(example)) cpSync(example, workspace, { recursive: true });
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
 * @param {string} code
 * @param {readonly string[]} packages
 */
async function openDesktop(code, packages) {
  writeSettings(userData, QUIET_SETTINGS);
  const shell = process.platform === 'win32';
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const profile = [...root, '--user-data-dir', userData, '--extensions-dir', extensions];
  const install = packages.flatMap((path) => ['--install-extension', path]);
  const installed = spawnSync(code, [...profile, ...install, '--force'], { encoding: 'utf8', shell });
  if (installed.status !== 0) {
    throw new Error(`"${code} --install-extension" failed:\n${installed.stdout}${installed.stderr}`);
  }
  console.log(
    `VMA Lens opens in VS Code (${code}, with a profile of its own in ${home}). Close its window to end.`,
  );
  const child = spawn(code, [...profile, '--new-window', '--wait', workspace], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell,
  });
  stopper.end = () => child.kill('SIGTERM');
  await new Promise((resolve) => child.once('close', resolve));
}

/** @param {readonly string[]} packages */
async function openBrowser(packages) {
  const workbench = await installWorkbench({ yes: mayInstall(process.argv) });
  const profile = { workbench, userData, extensions, log };
  writeSettings(userData, QUIET_SETTINGS);
  installExtensions(profile, packages);
  const server = await startServer(profile, { folder: workspace, port: wantedPort() });
  stopper.end = () => void server.stop();
  console.log(
    `\nVMA Lens runs in VS Code's workbench. Open this address in a browser:\n\n    ${server.url}\n`,
  );
  console.log('Ctrl-C stops it.');
  const code = await server.ended;
  await server.stop();
  if (stopper.asked) console.log('Stopped.');
  else throw new Error(`The workbench's server ended by itself with code ${code}. Its log: ${log}`);
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
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => this.ask());
    if (process.env.npm_lifecycle_event === undefined) return;
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent && !this.asked) this.ask();
    }, 1000).unref();
  }

  ask() {
    if (this.asked || this.end === undefined) process.exit(130);
    this.asked = true;
    this.end();
  }
}

async function main() {
  mkdirSync(home, { recursive: true });
  // What an earlier version has installed must not stay beside this one.
  rmSync(extensions, { recursive: true, force: true });
  writeFileSync(log, '');
  prepareWorkspace();
  const given = process.argv.indexOf('--vsix');
  const extension = given < 0 ? await packageExtension(log) : (process.argv[given + 1] ?? '');
  const starter = join(home, 'starter.vsix');
  await packageHelper(fileURLToPath(new URL('workbench/starter', import.meta.url)), starter, log);
  const desktop = findDesktop();
  if (desktop !== undefined) await openDesktop(desktop, [extension, starter]);
  else await openBrowser([extension, starter]);
}

const stopper = new Stopper();
try {
  await main();
} catch (error) {
  explain(error);
  process.exitCode = 1;
}
