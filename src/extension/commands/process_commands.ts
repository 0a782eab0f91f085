import * as vscode from 'vscode';
import { commandText, processDescription, type ProcessFacts } from '../../present/process_tree';
import { shortened, withoutIcons } from '../../present/safe_text';
import type { App, CommandTable } from '../app';
import { COMMANDS } from '../ids';
import { liveTarget } from '../targets/live_target';
import { subjectOfKind } from './arguments';

export function processCommands(app: App): CommandTable {
  return {
    [COMMANDS.inspectProcess]: (argument) => inspectProcess(app, argument),
    [COMMANDS.inspect]: (argument) => {
      const process = subjectOfKind(argument, 'process');
      return process === undefined ? inspectProcess(app, undefined) : inspect(app, process.pid);
    },
    [COMMANDS.filterProcesses]: () => filterProcesses(app),
    [COMMANDS.clearProcessFilter]: () => app.views.processes.setFilter(''),
  };
}

/** Asks for a process, unless one is given by its pid, and shows its address space. */
async function inspectProcess(app: App, argument: unknown): Promise<void> {
  if (typeof argument === 'number') return inspect(app, argument);
  if (!app.proc.available) {
    const text =
      'Live processes are read from /proc, which only Linux has. Saved maps and traces can be opened here.';
    return app.reporter.report({ kind: 'request', text });
  }
  const pid = await pickProcess(app);
  if (pid !== undefined) await inspect(app, pid);
}

async function inspect(app: App, pid: number): Promise<void> {
  const error = await app.target.select(liveTarget(app.proc, pid, await app.proc.facts(pid)));
  if (error !== undefined) return app.reporter.report({ kind: 'source', error });
  await app.views.addressSpace.reveal();
}

interface ProcessItem extends vscode.QuickPickItem {
  readonly pid?: number;
}

/** A list that opens at once and fills in when /proc has been read. A pid that is not in it can be typed. */
async function pickProcess(app: App): Promise<number | undefined> {
  const pick = vscode.window.createQuickPick<ProcessItem>();
  const reading = new AbortController();
  let known: readonly ProcessFacts[] = [];
  const show = (): void => {
    pick.items = processItems(known, pick.value);
  };
  pick.title = 'Inspect Process';
  pick.placeholder = 'Name, part of the command line, or a process id';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  try {
    const picked = new Promise<number | undefined>((resolve) => {
      pick.onDidAccept(() => resolve(pick.selectedItems[0]?.pid));
      pick.onDidHide(() => resolve(undefined));
    });
    // The value only decides whether the row of a typed pid is there; VS Code does the filtering.
    pick.onDidChangeValue(show);
    pick.show();
    const list = await app.proc.list(reading.signal);
    pick.busy = false;
    if (list.ok) known = list.value;
    else void app.reporter.report({ kind: 'source', error: list.error });
    show();
    return await picked;
  } finally {
    reading.abort();
    pick.dispose();
  }
}

/** The rows of the list: what can be inspected, own processes first; a typed pid that is none of them. */
export function processItems(processes: readonly ProcessFacts[], value: string): ProcessItem[] {
  // The newest first: it is mostly what somebody has just started.
  const inspectable = processes.filter((process) => process.kind === 'user').reverse();
  const rows = (title: string, part: readonly ProcessFacts[]): ProcessItem[] =>
    part.length === 0
      ? []
      : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...part.map(processItem)];
  const typed = value.trim();
  const isPid = /^[1-9][0-9]{0,9}$/.test(typed);
  const known = isPid && inspectable.some((process) => process.pid === Number(typed));
  return [
    ...(isPid && !known ? [{ label: `Process ${typed}`, pid: Number(typed), alwaysShow: true }] : []),
    ...rows(
      'own processes',
      inspectable.filter((process) => process.own),
    ),
    ...rows(
      'other users',
      inspectable.filter((process) => !process.own),
    ),
  ];
}

function processItem(process: ProcessFacts): ProcessItem {
  return {
    label: withoutIcons(commandText(process)),
    description: withoutIcons(processDescription(process)),
    detail: withoutIcons(shortened(process.commandLine, 200)),
    pid: process.pid,
  };
}

async function filterProcesses(app: App): Promise<void> {
  const filter = await vscode.window.showInputBox({
    title: 'Filter Processes',
    prompt: 'Part of a name or command line, or a process id. Empty shows all.',
    value: app.views.processes.filter,
  });
  if (filter !== undefined) app.views.processes.setFilter(filter);
}
