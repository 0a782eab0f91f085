import { printable } from '../base/bytes';
import type { U64 } from '../mm/addr';
import { shortened } from './safe_text';
import { tableBlock, textBlock, type Tooltip } from './tooltip';
import { makeNode, rowsOf, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatCount, formatKilobytes } from './units';

/** What is known of a live process without reading its maps. */
export interface ProcessFacts {
  readonly pid: number;
  readonly ppid: number;
  /** Name of the program (comm), as text. */
  readonly command: string;
  /** Arguments joined by blanks; '' where there are none or they cannot be read. */
  readonly commandLine: string;
  /** Runs as the same user as we do. */
  readonly own: boolean;
  readonly kind: 'user' | 'kernel-thread' | 'zombie';
  /** Memory in use in kB; null where unknown. */
  readonly rss: U64 | null;
  readonly swap: U64 | null;
  readonly threads: number | null;
  /** Ticks since boot: with the pid it names this process and no later one. */
  readonly startTime: string;
  /** Why its maps cannot be read, and what would help; undefined for one that can. */
  readonly unreadable?: { readonly text: string; readonly help?: string };
}

export interface ProcessTreeInput {
  readonly processes: readonly ProcessFacts[];
  /** Part of a command, a command line or a whole pid; '' for all. */
  readonly filter: string;
  /** The process shown in Address Space. */
  readonly inspectedPid: number | undefined;
}

export interface ProcessTree {
  readonly roots: readonly TreeNode[];
  readonly matching: number;
  readonly total: number;
}

/** Own processes as a fork tree, then those of other users and the kernel's threads, each in one group. */
export function processTree(input: ProcessTreeInput): ProcessTree {
  const filter = input.filter.trim().toLowerCase();
  const matches = input.processes.filter((process) => matchesProcess(process, filter));
  const shown = filter === '' ? input.processes : withAncestors(input.processes, matches);
  const context: RowContext = {
    // Other ids while a filter is on: what it found is opened, and what was open before comes back after it.
    prefix: filter === '' ? 'process' : 'found',
    expanded: filter !== '',
    matching: new Set(matches.map((process) => process.pid)),
    inspectedPid: input.inspectedPid,
  };
  const own = shown.filter((process) => process.own && process.kind !== 'kernel-thread');
  const others = shown.filter((process) => !process.own && process.kind !== 'kernel-thread');
  const kernel = shown.filter((process) => process.kind === 'kernel-thread');
  const roots = [
    ...forest('own', own, context, 498),
    ...otherGroup('others', 'Other users', { id: 'organization' }, others, context),
    ...otherGroup('kernel', 'Kernel threads', { id: 'gear' }, kernel, context),
  ];
  return { roots, matching: matches.length, total: input.processes.length };
}

/** Does a process fit the words a person typed? A number also means exactly that pid. */
export function matchesProcess(process: ProcessFacts, filter: string): boolean {
  if (filter === '') return true;
  const text = filter.toLowerCase();
  if (String(process.pid) === text) return true;
  return process.command.toLowerCase().includes(text) || process.commandLine.toLowerCase().includes(text);
}

interface RowContext {
  readonly prefix: string;
  readonly expanded: boolean;
  readonly matching: ReadonlySet<number>;
  readonly inspectedPid: number | undefined;
}

/** The matching processes with those above them, in the order of `all`. */
function withAncestors(
  all: readonly ProcessFacts[],
  matches: readonly ProcessFacts[],
): readonly ProcessFacts[] {
  const byPid = new Map(all.map((process) => [process.pid, process]));
  const kept = new Set<number>();
  for (const match of matches) {
    let current: ProcessFacts | undefined = match;
    while (current !== undefined && !kept.has(current.pid)) {
      kept.add(current.pid);
      // An ancestor in another group would stand there without what was found.
      const parent = byPid.get(current.ppid);
      current = parent !== undefined && sameGroup(parent, current) ? parent : undefined;
    }
  }
  return all.filter((process) => kept.has(process.pid));
}

function sameGroup(a: ProcessFacts, b: ProcessFacts): boolean {
  return (a.kind === 'kernel-thread') === (b.kind === 'kernel-thread') && a.own === b.own;
}

function otherGroup(
  key: string,
  label: string,
  icon: NodeIcon,
  processes: readonly ProcessFacts[],
  context: RowContext,
): readonly TreeNode[] {
  if (processes.length === 0) return [];
  return [
    makeNode({
      id: `${context.prefix} ${key}`,
      label,
      description: formatCount(processes.length),
      icon,
      context: 'group',
      expanded: context.expanded,
      children: () => forest(key, processes, context),
    }),
  ];
}

/** Processes below their parents; one whose parent is not in the list is a root. */
function forest(
  key: string,
  processes: readonly ProcessFacts[],
  context: RowContext,
  max?: number,
): readonly TreeNode[] {
  const byPid = new Map(processes.map((process) => [process.pid, process]));
  const children = new Map<number, ProcessFacts[]>();
  const roots: ProcessFacts[] = [];
  for (const process of processes) {
    if (!byPid.has(process.ppid) || closesCycle(process, byPid)) {
      roots.push(process);
      continue;
    }
    const siblings = children.get(process.ppid);
    if (siblings === undefined) children.set(process.ppid, [process]);
    else siblings.push(process);
  }
  return processRows(`${context.prefix} ${key}`, roots, children, context, max);
}

/**
 * A list read while pids are reused may show processes that are each other's ancestors: the lowest pid of such a
 * ring is taken as its root.
 */
function closesCycle(process: ProcessFacts, byPid: ReadonlyMap<number, ProcessFacts>): boolean {
  const seen = new Set<number>();
  let lowest = process.pid;
  let current = byPid.get(process.ppid);
  while (current !== undefined && current.pid !== process.pid && !seen.has(current.pid)) {
    seen.add(current.pid);
    lowest = Math.min(lowest, current.pid);
    current = byPid.get(current.ppid);
  }
  return current?.pid === process.pid && lowest === process.pid;
}

function processRows(
  id: string,
  processes: readonly ProcessFacts[],
  children: ReadonlyMap<number, readonly ProcessFacts[]>,
  context: RowContext,
  max?: number,
): readonly TreeNode[] {
  return rowsOf({
    id,
    items: processes,
    row: (process) => processRow(process, children, context),
    range: (from, to) => ({
      label: `${processes[from]?.pid ?? ''} to ${processes[to - 1]?.pid ?? ''}`,
      description: counted(to - from, 'process', 'processes'),
    }),
    ...(max === undefined ? {} : { max }),
  });
}

function processRow(
  process: ProcessFacts,
  children: ReadonlyMap<number, readonly ProcessFacts[]>,
  context: RowContext,
): TreeNode {
  const inspected = process.pid === context.inspectedPid;
  const below = children.get(process.pid);
  const id = `${context.prefix} ${process.pid}`;
  const spec = {
    id,
    label: commandText(process),
    description: processDescription(process),
    icon: inspected ? ({ id: 'eye', color: 'current' } as const) : processIcon(process, context),
    context: process.kind === 'user' ? 'process inspectable' : 'process',
    accessibility: processInWords(process, inspected),
    subject: { kind: 'process', pid: process.pid } as const,
    tooltip: () => processTooltip(process),
  };
  if (below === undefined) return makeNode(spec);
  return makeNode({
    ...spec,
    expanded: true,
    children: () => processRows(`${id}/children`, below, children, context),
  });
}

/** The program's name; the kernel cuts it to 15 bytes, so the command line's own is taken where it goes on. */
export function commandText(process: ProcessFacts): string {
  const first = process.commandLine.split(' ', 1)[0] ?? '';
  const base = first.slice(first.lastIndexOf('/') + 1);
  const longer = process.command.length >= 15 && base.startsWith(process.command) ? base : process.command;
  return printable(longer === '' ? '?' : longer);
}

/** `1234 · 12.3 MiB · not permitted` */
export function processDescription(process: ProcessFacts): string {
  const parts = [String(process.pid)];
  if (process.kind === 'zombie') parts.push('zombie: has ended, not yet collected');
  else if (process.kind === 'user' && process.rss !== null) parts.push(formatKilobytes(process.rss));
  if (process.kind === 'user' && process.unreadable !== undefined)
    parts.push(printable(process.unreadable.text));
  return parts.join(' · ');
}

function processIcon(process: ProcessFacts, context: RowContext): NodeIcon {
  const dim = context.matching.has(process.pid) ? {} : { color: 'dim' as const };
  if (process.kind === 'zombie') return { id: 'debug-disconnect', color: 'dim' };
  if (process.kind === 'kernel-thread') return { id: 'gear', ...dim };
  if (process.unreadable !== undefined) return { id: 'circle-slash', color: 'dim' };
  return { id: 'server-process', ...dim };
}

function processInWords(process: ProcessFacts, inspected: boolean): string {
  const parts = [commandText(process), `process ${process.pid}`];
  if (inspected) parts.push('shown in Address Space');
  if (process.kind !== 'user') parts.push(process.kind === 'zombie' ? 'zombie' : 'kernel thread');
  if (process.rss !== null && process.kind === 'user')
    parts.push(`${formatKilobytes(process.rss)} in memory`);
  if (process.unreadable !== undefined) parts.push(`cannot be read: ${printable(process.unreadable.text)}`);
  return parts.join(', ');
}

/** Sums over a process's memory, in kB, which cost the kernel a walk over all its page tables. */
export interface ProcessSums {
  readonly pss: U64 | null;
  readonly swapPss: U64 | null;
}

/** What is known of a process, with the sums where somebody has asked for them. */
export function processTooltip(process: ProcessFacts, sums?: ProcessSums): Tooltip {
  const rows: [string, string][] = [
    ['Process', String(process.pid)],
    ['Parent', String(process.ppid)],
  ];
  if (process.commandLine !== '') rows.push(['Command', shortened(process.commandLine, 300)]);
  if (process.rss !== null) rows.push(['RSS', formatKilobytes(process.rss)]);
  if (sums !== undefined && sums.pss !== null) rows.push(['PSS', formatKilobytes(sums.pss)]);
  if (process.swap !== null) rows.push(['Swap', formatKilobytes(process.swap)]);
  if (sums !== undefined && sums.swapPss !== null) rows.push(['Swap PSS', formatKilobytes(sums.swapPss)]);
  if (process.threads !== null) rows.push(['Threads', formatCount(process.threads)]);
  const blocks = [tableBlock('', rows)];
  if (process.kind === 'zombie') {
    return { title: commandText(process), blocks: [...blocks, textBlock(ZOMBIE)] };
  }
  if (process.kind === 'kernel-thread') {
    return { title: commandText(process), blocks: [...blocks, textBlock(KERNEL_THREAD)] };
  }
  const why = process.unreadable;
  if (why === undefined) return { title: commandText(process), blocks };
  const help = why.help === undefined ? [] : [textBlock(`What helps: ${why.help}`)];
  return {
    title: commandText(process),
    blocks: [...blocks, textBlock(`Cannot be read: ${why.text}`), ...help],
  };
}

const ZOMBIE = 'Has ended and waits for its parent to collect its status: it has no memory any more.';
const KERNEL_THREAD = 'Works for the kernel inside the kernel: it has no address space of its own.';
