/**
 * Runs one step after another as child processes: their output goes to a log file, and the terminal shows one
 * line for each step with the time it has taken.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

const PLAIN_NOTE_EVERY_MS = 30_000;

/** A step that ended with an error. The message is meant for a person; `log` names the file to read. */
export class StepError extends Error {
  /**
   * @param {string} message
   * @param {string} log
   */
  constructor(message, log) {
    super(message);
    this.log = log;
  }
}

/** @param {number} ms a duration, shown as `1:05` */
export function minutesAndSeconds(ms) {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/**
 * Shows a line with a running clock until the promise settles. On a terminal the line is rewritten each second;
 * elsewhere (a log, a pipe) a line is printed at the start, at the end, and now and then between.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withClock(title, work) {
  const out = process.stdout;
  const started = Date.now();
  const line = () => `  ${title} … ${minutesAndSeconds(Date.now() - started)}`;
  const rewrite = (/** @type {string} */ text) => out.write(`\r\u001b[K${text}`);
  const plain = (/** @type {string} */ text) => out.write(`${text}\n`);
  if (out.isTTY) rewrite(line());
  else plain(`  ${title} …`);
  const timer = setInterval(
    () => (out.isTTY ? rewrite(line()) : plain(line())),
    out.isTTY ? 1000 : PLAIN_NOTE_EVERY_MS,
  );
  const finish = (/** @type {string} */ word) => {
    clearInterval(timer);
    const text = `  ${title}: ${word} after ${minutesAndSeconds(Date.now() - started)}`;
    if (out.isTTY) rewrite(`${text}\n`);
    else plain(text);
  };
  try {
    const result = await work();
    finish('done');
    return result;
  } catch (error) {
    finish('failed');
    throw error;
  }
}

/**
 * Runs a command to its end with nothing on its standard input and its output appended to the log.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, log: string }} options
 * @returns {Promise<void>} rejects with a StepError that shows the end of what the command printed
 */
export function runLogged(command, args, { cwd, env, log }) {
  const fd = openSync(log, 'a');
  writeSync(fd, `\n$ ${[command, ...args].join(' ')}    (in ${cwd})\n`);
  return new Promise((resolve, reject) => {
    // In a process group of its own, so that we can end what it has started, too.
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', fd, fd], detached: true });
    const stop = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    process.once('exit', stop);
    const fail = (/** @type {string} */ what) => {
      reject(new StepError(`"${[command, ...args].join(' ')}" ${what}.\n${tail(log)}`, log));
    };
    child.on('error', (error) => {
      closeSync(fd);
      fail(`could not be started (${error.message})`);
    });
    child.on('close', (code, signal) => {
      process.removeListener('exit', stop);
      closeSync(fd);
      if (code === 0) resolve();
      else fail(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
    });
  });
}

/**
 * The last lines of a log, indented, for an error message.
 * @param {string} log
 */
function tail(log, lines = 12) {
  return readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => `    ${line}`)
    .join('\n');
}

/**
 * Runs the jobs, `width` at a time. After the first failure no new one is started.
 * @param {readonly (() => Promise<void>)[]} jobs
 * @param {number} width
 */
export async function runPool(jobs, width) {
  const waiting = [...jobs];
  let failed = false;
  const worker = async () => {
    for (let job = waiting.shift(); job !== undefined && !failed; job = waiting.shift()) {
      try {
        await job();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: width }, worker));
  const rejected = results.find((result) => result.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
}
