import type { Item } from './items';
import { NO_PID } from './lead';

/** Pid given to unprefixed lines when nothing in the capture tells it. If a line names this one, the next free is taken. */
export const FALLBACK_PID = 1;

/** Names of the calls that make a task, as halves of split calls carry them. */
const CLONES: ReadonlySet<string> = new Set(['clone', 'clone3', 'fork', 'vfork']);

/**
 * Gives lines without a pid one. strace leaves the pid out while it follows one task only (and writes no -o
 * file with -f), so such a line belongs to the one task that is alive then, which at first is the root.
 * The root's pid is the one in prefixes that no clone returned; without any prefix that which
 * set_tid_address, gettid or getpid returned.
 *
 * Returns the pid that had to be made up, undefined if none had.
 */
export function resolvePids(
  items: readonly Item[],
  attached: ReadonlySet<number>,
  given: number | undefined,
): number | undefined {
  if (items.every((item) => item.pid !== NO_PID)) return undefined;
  const prefixed = prefixedPids(items);
  const children = new Set(attached);
  for (const item of items) for (const child of childrenOf(item)) children.add(child);
  const known = given ?? prefixed.find((pid) => !children.has(pid)) ?? ownPid(items);
  const root = known ?? unused(FALLBACK_PID, new Set([...prefixed, ...children]));
  assign(items, root);
  return known === undefined ? root : undefined;
}

/** In order of first appearance. */
function prefixedPids(items: readonly Item[]): number[] {
  const pids = new Set<number>();
  for (const item of items) if (item.pid !== NO_PID) pids.add(item.pid);
  return [...pids];
}

/** Pids that this item shows to be somebody's child. */
function childrenOf(item: Item): readonly number[] {
  if (item.kind === 'resume') {
    const result = CLONES.has(item.name) ? /\)\s*= (\d{1,10})/.exec(item.rest)?.[1] : undefined;
    return result === undefined ? [] : [Number(result)];
  }
  if (item.kind !== 'syscall' || item.call.name !== 'clone' || item.result.kind !== 'value') return [];
  const { childInTracerNs } = item.call;
  return childInTracerNs === undefined ? [Number(item.result.value)] : [childInTracerNs];
}

/** Calls that return the caller's own pid; the first two that of the thread. */
const SELF: readonly string[] = ['set_tid_address', 'gettid', 'getpid'];

/** The pid of an unprefixed task by its own words, as its own pid namespace has it. */
function ownPid(items: readonly Item[]): number | undefined {
  const said = new Map<string, number>();
  for (const item of items) {
    if (item.pid !== NO_PID) break;
    if (item.kind !== 'syscall' || item.call.name !== 'other' || item.result.kind !== 'value') continue;
    const { syscall } = item.call;
    if (SELF.includes(syscall) && !said.has(syscall)) said.set(syscall, Number(item.result.value));
  }
  for (const name of SELF) {
    const pid = said.get(name);
    if (pid !== undefined && pid > 0) return pid;
  }
  return undefined;
}

function unused(first: number, used: ReadonlySet<number>): number {
  let pid = first;
  while (used.has(pid)) pid++;
  return pid;
}

/** Follows which tasks are alive, by the lines they have. */
function assign(items: readonly Item[], root: number): void {
  const alive = new Set<number>();
  for (const item of items) {
    if (item.kind === 'superseded') alive.delete(item.by);
    if (item.pid === NO_PID) {
      const [only] = alive;
      item.pid = alive.size === 1 && only !== undefined ? only : root;
    }
    if (item.kind === 'exit') alive.delete(item.pid);
    else alive.add(item.pid);
  }
}
