import * as vscode from 'vscode';
import type { App, CommandTable } from './app';
import { addressSpaceCommands } from './commands/address_space_commands';
import { openCommands } from './commands/open_commands';
import { processCommands } from './commands/process_commands';
import { replayCommands } from './commands/replay_commands';
import { CONTEXT_KEYS, VIEWS } from './ids';
import { linkReplay } from './replay/link_replay';
import { TraceStore } from './replay/trace_store';
import { viewProgress } from './progress';
import { Reporter } from './report';
import { OpenSources } from './open_sources';
import { SourceOpener } from './source_opener';
import { ReplayStatus } from './status_bar';
import { CurrentTarget } from './targets/current_target';
import { liveProcSource } from './targets/live_proc_source';
import { AddressSpaceView } from './views/address_space';
import { ProcessesView } from './views/processes';
import { SharedNamesView } from './views/shared_names';
import { TracesView } from './views/traces';

/** Wires the parts together. Reads nothing and starts nothing: that is left to views and commands. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('VMA Lens', { log: true });
  const reporter = new Reporter(log);
  const proc = liveProcSource();
  const target = new CurrentTarget(viewProgress(VIEWS.addressSpace, 'Reading the address space'));
  const traces = new TraceStore();
  const opener = new SourceOpener();
  const onLook = (): void => {
    sources.restore().catch((thrown: unknown) => reporter.report({ kind: 'bug', during: 'restore', thrown }));
  };
  const addressSpace = new AddressSpaceView(target, traces, context.workspaceState, onLook);
  const sharedNames = new SharedNamesView(target, traces);
  const processes = new ProcessesView(proc, target);
  const tracesView = new TracesView(traces, onLook);
  const app: App = {
    extensionUri: context.extensionUri,
    reporter,
    proc,
    target,
    traces,
    opener,
    views: { processes, addressSpace, traces: tracesView },
  };
  const sources = new OpenSources(app, context.workspaceState);
  void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.noProc, !proc.available);
  context.subscriptions.push(
    log,
    target,
    traces,
    addressSpace,
    sharedNames,
    processes,
    tracesView,
    new ReplayStatus(traces),
    linkReplay(traces, target, reporter),
    sources,
    ...registerAll(reporter, [
      processCommands(app),
      openCommands(app),
      addressSpaceCommands(app),
      replayCommands(app),
    ]),
  );
}

/** Registers commands; whatever a handler throws is our mistake and is reported as one. */
function registerAll(reporter: Reporter, tables: readonly CommandTable[]): readonly vscode.Disposable[] {
  return tables.flatMap((table) =>
    Object.entries(table).map(([id, handler]) =>
      vscode.commands.registerCommand(id, async (...args: readonly unknown[]) => {
        try {
          await handler(...args);
        } catch (thrown) {
          await reporter.report({ kind: 'bug', during: id, thrown });
        }
      }),
    ),
  );
}
