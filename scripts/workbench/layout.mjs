/**
 * Where the workbench is kept and what is where inside it.
 *
 * "The workbench" is VS Code as npm's code-server packages it: the real workbench in a browser and the real
 * extension host, on the same Linux as the person, so that /proc is real there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const CODE_SERVER_VERSION = '4.139.1';
/** code-server refuses to run on any other major version of Node. */
export const NODE_MAJOR = 24;

/** The npm package with a Node for this machine and its headers. */
export const NODE_PACKAGE = `node-linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}`;

/** Modules of the workbench that are compiled on this machine. */
export const NATIVE_MODULES = [
  '@parcel/watcher',
  '@vscode/deviceid',
  '@vscode/fs-copyfile',
  '@vscode/native-watchdog',
  '@vscode/spdlog',
  '@vscode/sqlite3',
  'node-pty',
];

/** Compiled if its headers are here. The workbench loads it only for a proxy that asks for Kerberos. */
export const KERBEROS_MODULE = 'kerberos';

const STAMP = 'installed.json';

/** The cache folder of this project: everything in it can be deleted at any time. */
export function cacheFolder(env = process.env) {
  const base = env.XDG_CACHE_HOME;
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'vma-lens');
}

/** The folder that the workbench is installed into; the variable VMA_LENS_WORKBENCH overrides it. */
export function workbenchFolder(env = process.env) {
  const own = env.VMA_LENS_WORKBENCH;
  return own !== undefined && own !== '' ? own : join(cacheFolder(env), `workbench-${CODE_SERVER_VERSION}`);
}

/** @param {string} folder the workbench folder */
export function nodeFolder(folder) {
  return join(folder, 'node_modules', NODE_PACKAGE);
}

/** @param {string} folder the workbench folder */
export function nodeBinary(folder) {
  return join(nodeFolder(folder), 'bin', 'node');
}

/** @param {string} folder the workbench folder */
export function codeServerFolder(folder) {
  return join(folder, 'node_modules', 'code-server');
}

/** @param {string} folder the workbench folder */
export function codeServerEntry(folder) {
  return join(codeServerFolder(folder), 'out', 'node', 'entry.js');
}

/** @param {string} folder the workbench folder */
export function stampFile(folder) {
  return join(folder, STAMP);
}

/**
 * Whether the folder holds a finished installation of the version that this project wants. The stamp is written
 * only after the smoke test, so a folder with a stamp has run here once.
 * @param {string} folder the workbench folder
 */
export function isInstalled(folder) {
  if (!existsSync(stampFile(folder)) || !existsSync(codeServerEntry(folder))) return false;
  try {
    return JSON.parse(readFileSync(stampFile(folder), 'utf8')).codeServer === CODE_SERVER_VERSION;
  } catch {
    return false;
  }
}
