import type * as vscode from 'vscode';
import type { TraceStore } from './replay/trace_store';
import type { Reporter } from './report';
import type { SourceOpener } from './source_opener';
import type { CurrentTarget } from './targets/current_target';
import type { ProcSource } from './targets/proc_source';
import type { AddressSpaceView } from './views/address_space';
import type { ProcessesView } from './views/processes';
import type { TracesView } from './views/traces';

/** The parts of the extension that commands act on. */
export interface App {
  readonly extensionUri: vscode.Uri;
  readonly reporter: Reporter;
  readonly proc: ProcSource;
  readonly target: CurrentTarget;
  readonly traces: TraceStore;
  readonly opener: SourceOpener;
  readonly views: {
    readonly processes: ProcessesView;
    readonly addressSpace: AddressSpaceView;
    readonly traces: TracesView;
  };
}

/** Handlers of one group of commands by id. Arguments come from menus, links and other extensions: unchecked. */
export type CommandTable = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
