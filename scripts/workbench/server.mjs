/**
 * Starts and ends the workbench's server, and sets up the folders it works in.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeServerEntry, nodeBinary } from './layout.mjs';
import { killGroup, stopTree } from './processes.mjs';
import { StepError } from './progress.mjs';
import { findProgram } from './requirements.mjs';

const START_TIMEOUT_MS = 60_000;

/**
 * The folders of one profile. Nothing outside them is written.
 * @typedef {{ workbench: string, userData: string, extensions: string, log: string }} Profile
 */

/** What every profile of ours sets: a quiet workbench, without the offers of a first start. */
export const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
};

/**
 * Writes the profile's user settings; a window takes them over when it opens.
 * @param {string} userData
 * @param {Record<string, unknown>} settings
 */
export function writeSettings(userData, settings) {
  const file = join(userData, 'User', 'settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * Installs packaged extensions into the profile.
 * @param {Profile} profile
 * @param {readonly string[]} packages paths of .vsix files
 */
export function installExtensions(profile, packages) {
  const args = [
    codeServerEntry(profile.workbench),
    ...profileArguments(profile),
    ...packages.flatMap((path) => ['--install-extension', path]),
    '--force',
  ];
  const env = serverEnvironment(profile);
  const result = spawnSync(nodeBinary(profile.workbench), args, { env, encoding: 'utf8' });
  writeFileSync(profile.log, `${result.stdout}${result.stderr}`, { flag: 'a' });
  // code-server ends with 0 also when an installation failed.
  if (
    result.status !== 0 ||
    /Failed Installing|Error while installing/i.test(result.stdout + result.stderr)
  ) {
    throw new StepError(
      `The extension could not be installed:\n${result.stdout}${result.stderr}`,
      profile.log,
    );
  }
}

/** @param {Profile} profile */
function profileArguments({ userData, extensions }) {
  return [
    '--user-data-dir',
    userData,
    '--extensions-dir',
    extensions,
    // Else it makes a configuration file in the person's own folder.
    '--config',
    join(userData, 'code-server.yaml'),
  ];
}

/** @param {Profile} profile */
function serverEnvironment({ userData }) {
  const own = /^(npm_|VSCODE_|CODE_SERVER_|ELECTRON_|PORT$|INIT_CWD$|NODE_OPTIONS$|VITEST)/;
  const entries = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(entries), XDG_DATA_HOME: join(userData, 'data') };
}

/**
 * A running server. `stop` ends it with everything that it has started and may be called more than once.
 * @typedef {{ url: string, pid: number, ended: Promise<number | null>, stop: () => Promise<void> }} Server
 */

/**
 * Starts the server on the loopback address and waits until it answers.
 * @param {Profile} profile
 * @param {{ folder: string, port: number, more?: readonly string[] }} options folder: what the workbench opens;
 *   port: 0 for any free one; more: further arguments of code-server
 * @returns {Promise<Server>}
 */
export async function startServer(profile, { folder, port, more = [] }) {
  mkdirSync(profile.userData, { recursive: true });
  writeFileSync(join(profile.userData, 'code-server.yaml'), '{}\n');
  const command = [
    // The kernel ends the server if we are killed without a chance to do it.
    ...(findProgram('setpriv') === undefined ? [] : ['setpriv', '--pdeathsig', 'TERM']),
    nodeBinary(profile.workbench),
    codeServerEntry(profile.workbench),
    ...profileArguments(profile),
    ...['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`],
    ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
    ...more,
    folder,
  ];
  const child = spawn(/** @type {string} */ (command[0]), command.slice(1), {
    cwd: folder,
    env: serverEnvironment(profile),
    // Its own process group, so that Ctrl-C reaches us first and we end the whole group.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
  const stop = () => stopTree(child.pid, ended);
  const emergency = () => killGroup(child.pid, 'SIGKILL');
  process.once('exit', emergency);
  void ended.then(() => process.removeListener('exit', emergency));
  try {
    const origin = await listeningAddress(child, ended, profile.log);
    const url = `${origin}/?folder=${encodeURIComponent(folder).replaceAll('%2F', '/')}`;
    return { url, pid: child.pid ?? 0, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The address that the server says it listens on. Everything that it prints goes to the log as well.
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {Promise<number | null>} ended
 * @param {string} log
 * @returns {Promise<string>}
 */
function listeningAddress(child, ended, log) {
  const file = createWriteStream(log, { flags: 'a' });
  let text = '';
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ what) =>
      reject(new StepError(`The workbench's server ${what}.\n${text.trimEnd()}`, log));
    const timer = setTimeout(() => fail('did not start in a minute'), START_TIMEOUT_MS);
    const read = (/** @type {Buffer} */ chunk) => {
      file.write(chunk);
      if (text.length > 100_000) return;
      text += chunk.toString('utf8');
      const match = /HTTP server listening on (http:\/\/[^\s/]+)/.exec(text);
      if (match?.[1] !== undefined) {
        clearTimeout(timer);
        resolve(match[1]);
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => {
      clearTimeout(timer);
      file.end();
      fail(/EADDRINUSE/.test(text) ? 'found its port in use' : `ended with code ${code}`);
    });
  });
}
