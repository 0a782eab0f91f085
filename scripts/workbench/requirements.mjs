/**
 * What must be on the machine before the workbench can be compiled or shown, and how to get it.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';

/** @typedef {{ what: string, debian: string, present: () => boolean }} Requirement */

/**
 * The path of a program, found as a shell would find it.
 * @param {string} name
 * @returns {string | undefined}
 */
export function findProgram(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (folder !== '' && statSync(path).isFile()) return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/**
 * The browser for the end-to-end tests: the variable CHROMIUM, or one that is installed.
 * @returns {string | undefined}
 */
export function findChromium() {
  const own = process.env.CHROMIUM;
  if (own !== undefined && own !== '') return existsSync(own) ? own : undefined;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return names.map(findProgram).find((path) => path !== undefined);
}

/** Whether the headers for the Kerberos module are installed (Debian: libkrb5-dev). */
export function hasKerberosHeaders() {
  const compiler = findProgram('g++');
  if (compiler === undefined) return false;
  const result = spawnSync(compiler, ['-E', '-x', 'c++', '-'], { input: '#include <gssapi/gssapi.h>\n' });
  return result.status === 0;
}

/** @type {readonly Requirement[]} */
export const TO_COMPILE = [
  { what: 'python3', debian: 'python3', present: () => findProgram('python3') !== undefined },
  { what: 'make', debian: 'make', present: () => findProgram('make') !== undefined },
  { what: 'g++', debian: 'g++', present: () => findProgram('g++') !== undefined },
];

/** @type {readonly Requirement[]} */
export const TO_TEST = [
  {
    what: 'chromium (or name one in CHROMIUM)',
    debian: 'chromium',
    present: () => findChromium() !== undefined,
  },
  { what: 'python3', debian: 'python3', present: () => findProgram('python3') !== undefined },
];

/**
 * Makes sure that everything in the list is present. On Debian and its relatives, as root, what is missing is
 * installed with apt-get if the person says so: by `--yes`, by answering the question, or by running in CI.
 * @param {readonly Requirement[]} requirements
 * @param {{ yes: boolean }} options
 * @returns {Promise<void>} rejects, with the line to type, if something is still missing
 */
export async function ensure(requirements, { yes }) {
  const missing = requirements.filter((requirement) => !requirement.present());
  if (missing.length === 0) return;
  const packages = missing.map((requirement) => requirement.debian);
  const root = process.getuid?.() === 0;
  const line = `${root ? '' : 'sudo '}apt-get install -y ${packages.join(' ')}`;
  const complaint = `Not found: ${missing.map((requirement) => requirement.what).join(', ')}.`;
  if (root && findProgram('apt-get') !== undefined && (yes || (await confirm(complaint, line)))) {
    console.log(`${complaint} Running: ${line}`);
    aptGet(['update']);
    aptGet(['install', '-y', ...packages]);
    const still = missing.filter((requirement) => !requirement.present());
    if (still.length === 0) return;
    throw new Error(
      `Still not found after apt-get: ${still.map((requirement) => requirement.what).join(', ')}.`,
    );
  }
  throw new Error(
    `${complaint} On Debian or Ubuntu this gets it:\n\n    ${line}\n\n` +
      'Elsewhere the packages have similar names. Then run the same command again.',
  );
}

/** @param {readonly string[]} args */
function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync('apt-get', args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) throw new Error(`"apt-get ${args.join(' ')}" failed; see what it printed above.`);
}

/**
 * @param {string} complaint
 * @param {string} line
 */
async function confirm(complaint, line) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await reader.question(`${complaint} Run "${line}" now? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}

/**
 * Whether things may be installed without a question.
 * @param {readonly string[]} args
 */
export function mayInstall(args) {
  const ci = process.env.CI;
  return args.includes('--yes') || (ci !== undefined && ci !== '' && ci !== 'false' && ci !== '0');
}
