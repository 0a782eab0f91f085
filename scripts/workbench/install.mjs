/**
 * Installs the workbench (npm's code-server) once, into a cache folder: `node scripts/workbench/install.mjs [--yes]`.
 *
 * It is put together in a folder beside the final one, which gets its name only after the workbench has run there;
 * so the final folder is whole or absent. Steps that are done are noted, so that a second run continues where a
 * failed or interrupted one stopped.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  CODE_SERVER_VERSION,
  KERBEROS_MODULE,
  NATIVE_MODULES,
  NODE_MAJOR,
  NODE_PACKAGE,
  codeServerEntry,
  codeServerFolder,
  isInstalled,
  nodeBinary,
  nodeFolder,
  stampFile,
  workbenchFolder,
} from './layout.mjs';
import { isAlive } from './processes.mjs';
import { StepError, minutesAndSeconds, runLogged, runPool, withClock } from './progress.mjs';
import { TO_COMPILE, ensure, findProgram, hasKerberosHeaders, mayInstall } from './requirements.mjs';

/** Measured with a fast network and nothing in npm's cache: 1:53 on two idle cores, 3:48 on two busy ones. */
const USUAL_TIME = 'two to four minutes on two cores with a fast network';
const USUAL_SIZE = 'about 800 MB';
/**
 * npm's settings in all steps. Install scripts are run one by one, by us, whatever this npm would do by itself.
 * Its own patience with a network that does not answer is many minutes, in which it says nothing.
 */
const NPM_SETTINGS = {
  npm_config_ignore_scripts: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '5000',
};
const LOCK_WAIT_MS = 30 * 60_000;

/**
 * Makes sure that the workbench is installed.
 * @param {{ yes: boolean }} options yes: missing Debian packages may be installed without a question
 * @returns {Promise<string>} the folder of the workbench
 */
export async function installWorkbench({ yes }) {
  const folder = workbenchFolder();
  if (isInstalled(folder)) return folder;
  if (process.platform !== 'linux') {
    throw new Error(
      'The workbench in the browser runs on Linux only. Install VS Code and put "code" on your PATH.',
    );
  }
  const partial = `${folder}.partial`;
  const release = await lock(partial);
  try {
    if (isInstalled(folder)) return folder;
    mkdirSync(partial, { recursive: true });
    console.log(
      `VS Code's workbench is needed once (npm's code-server ${CODE_SERVER_VERSION}: the real editor, shown by a browser).\n` +
        `  into   ${folder}  (${USUAL_SIZE}; delete the folder to be rid of it)\n` +
        `  takes  ${USUAL_TIME}; npm downloads it, then native modules are compiled\n` +
        `  log    ${logFile(folder)}`,
    );
    await ensure(TO_COMPILE, { yes });
    const started = Date.now();
    await assemble(folder, partial);
    console.log(`The workbench is installed (${minutesAndSeconds(Date.now() - started)}).`);
    return folder;
  } finally {
    release();
  }
}

/** @param {string} folder the final folder */
function logFile(folder) {
  return `${folder}.log`;
}

/**
 * @param {string} folder the final folder
 * @param {string} partial where it is put together
 */
async function assemble(folder, partial) {
  const log = logFile(folder);
  const env = childEnvironment(partial);
  const steps = new DoneSteps(partial);
  const npm = (/** @type {string[]} */ ...args) => runLogged('npm', args, { cwd: partial, env, log });

  await steps.run('node', `Node ${NODE_MAJOR} with its headers`, () => {
    writeFileSync(join(partial, 'package.json'), '{ "private": true }\n');
    return npm('install', `${NODE_PACKAGE}@${NODE_MAJOR}`);
  });
  await steps.run('code-server', `code-server ${CODE_SERVER_VERSION}`, () =>
    npm('install', `code-server@${CODE_SERVER_VERSION}`),
  );
  await steps.run('dependencies', 'its dependencies', () =>
    runLogged('sh', ['./postinstall.sh'], {
      cwd: codeServerFolder(partial),
      env: { ...env, ...postinstallEnvironment(partial) },
      log,
    }),
  );
  const modules = hasKerberosHeaders() ? [...NATIVE_MODULES, KERBEROS_MODULE] : NATIVE_MODULES;
  await steps.run('native', `${modules.length} native modules`, () => compileAll(modules, partial, env, log));
  await withClock('trying it out', () => tryOut(partial, env, log));

  writeFileSync(stampFile(partial), `${JSON.stringify({ codeServer: CODE_SERVER_VERSION })}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}

/** Which steps are done, kept in the partial folder. A done step is not run again. */
class DoneSteps {
  /** @param {string} partial */
  constructor(partial) {
    this.file = join(partial, 'steps.json');
    /** @type {string[]} */
    this.done = existsSync(this.file) ? JSON.parse(readFileSync(this.file, 'utf8')) : [];
  }

  /**
   * @param {string} name
   * @param {string} title
   * @param {() => Promise<void>} work
   */
  async run(name, title, work) {
    if (this.done.includes(name)) {
      console.log(`  ${title}: done before`);
      return;
    }
    await withClock(title, work);
    this.done.push(name);
    writeFileSync(this.file, JSON.stringify(this.done));
  }
}

/**
 * @param {readonly string[]} modules
 * @param {string} partial
 * @param {NodeJS.ProcessEnv} env
 * @param {string} log
 */
function compileAll(modules, partial, env, log) {
  const nodeGyp = findNodeGyp();
  const args = [nodeGyp, 'rebuild', `--nodedir=${nodeFolder(partial)}`];
  const jobs = modules.map((name) => () => {
    const cwd = join(codeServerFolder(partial), 'lib', 'vscode', 'node_modules', name);
    return runLogged(nodeBinary(partial), args, { cwd, env, log });
  });
  return runPool(jobs, Math.max(1, Math.min(4, availableParallelism())));
}

/**
 * code-server must say its version and each native module must load, in the Node that will run them.
 * @param {string} partial
 * @param {NodeJS.ProcessEnv} env
 * @param {string} log
 */
async function tryOut(partial, env, log) {
  const node = nodeBinary(partial);
  // code-server keeps logs in the data folder, else in the person's own one.
  const version = { cwd: partial, env: { ...env, XDG_DATA_HOME: join(partial, 'data') }, log };
  await runLogged(node, [codeServerEntry(partial), '--version'], version);
  const load = `for (const name of ${JSON.stringify(NATIVE_MODULES)}) require(name);`;
  await runLogged(node, ['-e', load], { cwd: join(codeServerFolder(partial), 'lib', 'vscode'), env, log });
}

/** The node-gyp that npm brings along. */
function findNodeGyp() {
  const npm = process.env.npm_execpath ?? findProgram('npm');
  if (npm === undefined) throw new Error('npm was not found on PATH.');
  try {
    return createRequire(realpathSync(npm)).resolve('node-gyp/bin/node-gyp.js');
  } catch {
    throw new Error(
      `npm's node-gyp was not found beside ${npm}. Install npm 10 or newer ("npm install -g npm").`,
    );
  }
}

/**
 * The environment of the steps: the workbench's own Node first on PATH, and nothing of the npm that started us,
 * whose settings (npm_config_local_prefix, …) would make an inner npm install into this project.
 * @param {string} partial
 */
function childEnvironment(partial) {
  const keep = /^npm_config_(registry|cache|userconfig|globalconfig|proxy|https?_proxy|noproxy|ca|cafile)$/i;
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || keep.test(name));
  return {
    ...Object.fromEntries(entries),
    ...NPM_SETTINGS,
    PATH: [join(nodeFolder(partial), 'bin'), process.env.PATH ?? ''].join(delimiter),
    JOBS: 'max',
  };
}

/**
 * What code-server's postinstall.sh looks at. It reads the versions of npm and Node from the user agent.
 * @param {string} partial
 */
function postinstallEnvironment(partial) {
  const version = spawnSync(nodeBinary(partial), ['--version'], { encoding: 'utf8' }).stdout.trim();
  return {
    npm_config_user_agent: `npm/11 node/${version} linux ${process.arch}`,
    npm_config_unsafe_perm: 'true',
  };
}

/**
 * Lets one installation run at a time. A lock whose owner is gone is taken over.
 * @param {string} partial
 * @returns {Promise<() => void>} call it to give the lock back
 */
async function lock(partial) {
  const file = `${partial}.lock`;
  const until = Date.now() + LOCK_WAIT_MS;
  let told = false;
  while (!tryLock(file)) {
    const owner = lockOwner(file);
    if (owner === undefined) {
      rmSync(file, { force: true });
      continue;
    }
    if (Date.now() > until) throw new Error(`Process ${owner} has held ${file} for too long.`);
    if (!told) console.log(`Process ${owner} is installing the workbench already; waiting for it.`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  return () => {
    process.removeListener('exit', release);
    release();
  };
}

/** @param {string} file */
function tryLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * The process that holds the lock; undefined if it is gone, or if it ended before it had written its number.
 * @param {string} file
 * @returns {number | undefined}
 */
function lockOwner(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    const justMade = Date.now() - statSync(file).mtimeMs < 5000;
    return isAlive(pid) || (pid === 0 && justMade) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Prints an error for a person: what went wrong, and where to read more.
 * @param {unknown} error
 */
export function explain(error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof StepError) {
    console.error(
      `\nThe whole output is in ${error.log}. The same command continues where this one stopped.`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  try {
    console.log(await installWorkbench({ yes: mayInstall(process.argv) }));
  } catch (error) {
    explain(error);
    process.exitCode = 1;
  }
}
