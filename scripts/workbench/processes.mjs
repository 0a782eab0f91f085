/**
 * Processes that we started, and those that started us: Linux's /proc tells who belongs to whom.
 */
import { readFileSync, readdirSync } from 'node:fs';

const STOP_TIMEOUT_MS = 5_000;

/**
 * @param {number | undefined} pid
 * @param {NodeJS.Signals} signal
 */
export function killGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}

/**
 * Ends a process group, politely first, and then whatever descends from it: terminals of the workbench are in
 * sessions of their own.
 * @param {number | undefined} pid the leader of the group
 * @param {Promise<number | null>} ended
 */
export async function stopTree(pid, ended) {
  if (pid === undefined) return;
  const family = descendants(pid);
  killGroup(pid, 'SIGTERM');
  const leaderGone = Promise.race([
    ended,
    new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref()),
  ]);
  await leaderGone;
  const until = Date.now() + 2000;
  while (family.some(isSame) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
  killGroup(pid, 'SIGKILL');
  for (const member of family.filter(isSame)) {
    try {
      process.kill(member.pid, 'SIGKILL');
    } catch {
      // It ended just now.
    }
  }
}

/** A process, told apart by its start time from a later one with the same number.
 * @typedef {{ pid: number, parent: number, started: string }} ProcessIdentity */

/**
 * @param {number} pid
 * @returns {ProcessIdentity | undefined} undefined when there is none (or it is a zombie)
 */
function identify(pid) {
  try {
    // The command name stands in parentheses and may hold anything, also ") ".
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return { pid, parent: Number(fields[1]), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** @param {ProcessIdentity} member */
function isSame(member) {
  return identify(member.pid)?.started === member.started;
}

/**
 * Every process that descends from this one, now.
 * @param {number} root
 * @returns {ProcessIdentity[]}
 */
function descendants(root) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => identify(Number(name)))
    .filter((found) => found !== undefined);
  const family = all.filter((member) => member.pid === root);
  for (const member of family) family.push(...all.filter((other) => other.parent === member.pid));
  return family;
}

/**
 * Calls back when npm, which started us through a shell, has gone without a word: it was killed. Does nothing when
 * we were started otherwise.
 * @param {() => void} callback
 */
export function whenOrphaned(callback) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const chain = () => `${process.ppid} ${identify(process.ppid)?.parent ?? ''}`;
  const before = chain();
  const timer = setInterval(() => {
    if (chain() === before) return;
    clearInterval(timer);
    callback();
  }, 1000);
  timer.unref();
}

/**
 * Whether there is a process with this number.
 * @param {number} pid
 */
export function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
