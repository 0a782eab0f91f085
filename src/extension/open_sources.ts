import * as vscode from 'vscode';
import { isKernelVersion, type KernelVersion } from '../mm/kernel_rules';
import type { App } from './app';
import { STATE } from './ids';
import { Subscriptions, type Closable } from './subscriptions';

/** What is kept of an open trace: where it is, under which rules, where it stands. */
export interface StoredTrace {
  readonly uri: string;
  readonly kernel: KernelVersion;
  readonly line: number;
  readonly current: boolean;
}

/** Open files, for the next time. A live process is not kept: its number may be another's by then. */
export interface StoredSources {
  readonly traces: readonly StoredTrace[];
  /** A maps file on show. */
  readonly file: string | undefined;
}

/** Remembers the open files and opens them again when somebody looks at a view of ours. */
export class OpenSources implements Closable {
  private readonly subscriptions = new Subscriptions();
  private restored: Promise<void> | undefined;
  private restoring = true;

  constructor(
    private readonly app: App,
    private readonly memory: vscode.Memento,
  ) {
    const { traces, target } = app;
    this.subscriptions.add(
      traces.onDidChange(() => this.store()),
      traces.onDidMove(() => this.store()),
      target.onDidChange(() => this.store()),
    );
  }

  /** Opens what was open last time, once. What has gone since is left out, with a note in the log. */
  restore(): Promise<void> {
    return (this.restored ??= this.restoreAll());
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private async restoreAll(): Promise<void> {
    const { traces, target } = this.app;
    const stored = readStored(this.memory.get(STATE.openSources));
    try {
      for (const trace of stored.traces) await this.restoreTrace(trace);
      // What a person has opened meanwhile stays on show.
      const current = stored.traces.find((trace) => trace.current);
      if (current !== undefined && traces.current === undefined) traces.makeCurrent(`trace ${current.uri}`);
      if (stored.file !== undefined && target.target === undefined)
        await this.restoreFile(vscode.Uri.parse(stored.file));
    } finally {
      this.restoring = false;
    }
  }

  private async restoreTrace(stored: StoredTrace): Promise<void> {
    if (this.app.traces.get(`trace ${stored.uri}`) !== undefined) return;
    const opened = await this.app.opener.openTrace(vscode.Uri.parse(stored.uri), stored.kernel);
    if (!opened.ok) {
      this.app.reporter.note(`not opened again: ${opened.error.subject}: ${opened.error.text}`);
      return;
    }
    opened.value.goToLine(stored.line);
    if (this.app.traces.get(opened.value.id) === undefined) this.app.traces.add(opened.value, false);
  }

  private async restoreFile(uri: vscode.Uri): Promise<void> {
    const error = await this.app.target.select(this.app.opener.mapsTarget(uri));
    if (error === undefined) return;
    this.app.reporter.note(`not opened again: ${error.subject}: ${error.text}`);
    this.app.target.clear();
  }

  private store(): void {
    if (this.restoring) return;
    const { traces, target, opener } = this.app;
    const shown = target.target;
    const stored: StoredSources = {
      traces: traces.sessions.flatMap((session) => {
        const uri = opener.uriOfTrace(session.id);
        if (uri === undefined) return [];
        const line = session.step?.line ?? 0;
        return [
          { uri: uri.toString(), kernel: session.replay.kernel, line, current: traces.current === session },
        ];
      }),
      file: shown === undefined ? undefined : opener.uriOfTarget(shown)?.toString(),
    };
    void this.memory.update(STATE.openSources, stored);
  }
}

/** What was stored, checked: an older or newer version of us may have written something else. */
function readStored(value: unknown): StoredSources {
  if (typeof value !== 'object' || value === null) return { traces: [], file: undefined };
  const traces = 'traces' in value && Array.isArray(value.traces) ? (value.traces as readonly unknown[]) : [];
  const file = 'file' in value && typeof value.file === 'string' ? value.file : undefined;
  return { traces: traces.flatMap(storedTrace), file };
}

function storedTrace(value: unknown): readonly StoredTrace[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('uri' in value && 'kernel' in value && 'line' in value)) return [];
  const { uri, kernel, line } = value;
  if (typeof uri !== 'string' || typeof kernel !== 'string' || typeof line !== 'number') return [];
  if (!isKernelVersion(kernel)) return [];
  return [{ uri, kernel, line, current: 'current' in value && value.current === true }];
}
