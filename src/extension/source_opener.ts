import * as vscode from 'vscode';
import { sealReportingOf } from '../analysis/seals';
import { err, ok, type Result } from '../base/result';
import { isKernelVersion, type KernelVersion } from '../mm/kernel_rules';
import type { SourceError } from '../node/source_error';
import { placeSnapshots } from '../replay/snapshot_splice';
import { ReplaySession, type ReplaySource } from './replay/replay_session';
import { runReplay, type ReplayWatch } from './replay/run_replay';
import { readMapsUri, readTraceUri } from './files';
import { SETTINGS } from './ids';
import type { AddressSpace, Target } from './targets/target';

const DEFAULT_KERNEL: KernelVersion = '7.3';

/** Turns files into targets and replays, and knows which file is behind which. */
export class SourceOpener {
  private readonly traceUris = new Map<string, vscode.Uri>();
  private readonly targetUris = new Map<string, vscode.Uri>();

  /** A saved maps or smaps file. Nothing is read before the target is. */
  mapsTarget(uri: vscode.Uri): Target {
    const target: Target = {
      kind: 'file',
      id: `file ${uri.toString()}`,
      label: fileName(uri),
      location: placeOf(uri),
      read: (signal) => readMaps(uri, signal),
    };
    this.targetUris.set(target.id, uri);
    return target;
  }

  /** The file behind a target that is one. */
  uriOfTarget(target: Target): vscode.Uri | undefined {
    return this.targetUris.get(target.id);
  }

  uriOfTrace(id: string): vscode.Uri | undefined {
    return this.traceUris.get(id);
  }

  forget(traceId: string): void {
    this.traceUris.delete(traceId);
  }

  /** Reads and replays a trace, with progress that can be cancelled. */
  async openTrace(
    uri: vscode.Uri,
    kernel = configuredKernel(uri),
  ): Promise<Result<ReplaySession, SourceError>> {
    return withWatch(`Replaying ${fileName(uri)}`, async (watch) => {
      const source = await readTrace(uri, watch.signal);
      if (!source.ok) return source;
      const replay = await runReplay(source.value, kernel, watch);
      if (!replay.ok) return replay;
      this.traceUris.set(source.value.id, uri);
      return ok(new ReplaySession(source.value, replay.value));
    });
  }

  /** Replays an open trace under the rules of another kernel. */
  async replayAgain(session: ReplaySession, kernel: KernelVersion): Promise<SourceError | undefined> {
    const title = `Replaying ${session.label} with the rules of ${kernel}`;
    const replay = await withWatch(title, (watch) => runReplay(session.source, kernel, watch));
    if (!replay.ok) return replay.error;
    session.takeOver(replay.value);
    return undefined;
  }
}

/** Runs long work with a notification that shows how far it is and can cancel it. */
function withWatch<T>(title: string, work: (watch: ReplayWatch) => Promise<T>): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const reading = new AbortController();
    const subscription = token.onCancellationRequested(() => reading.abort());
    let told = 0;
    try {
      return await work({
        signal: reading.signal,
        progress: (share) => {
          progress.report({ increment: (share - told) * 100 });
          told = share;
        },
        pause: () => new Promise((resolve) => setImmediate(resolve)),
      });
    } finally {
      subscription.dispose();
    }
  });
}

async function readTrace(uri: vscode.Uri, signal: AbortSignal): Promise<Result<ReplaySource, SourceError>> {
  const loaded = await readTraceUri(uri, signal);
  if (!loaded.ok) return loaded;
  const { trace, files } = loaded.value;
  if (trace.events.length === 0) return err(notATrace(uri, trace.problems[0]?.text));
  const { snapshots, problems } = placeSnapshots(trace.events, files);
  return ok({
    id: `trace ${uri.toString()}`,
    label: fileName(uri),
    location: placeOf(uri),
    trace: { ...trace, problems: [...loaded.value.problems, ...problems] },
    snapshots,
  });
}

function notATrace(uri: vscode.Uri, why: string | undefined): SourceError {
  return {
    code: 'unfit',
    subject: fileName(uri),
    text: 'is not a trace that can be replayed',
    help: why ?? 'make one with strace -f -o FILE',
  };
}

async function readMaps(uri: vscode.Uri, signal: AbortSignal): Promise<Result<AddressSpace, SourceError>> {
  const loaded = await readMapsUri(uri, signal);
  if (!loaded.ok) return loaded;
  const { document, problems } = loaded.value;
  const [first] = problems;
  if (document.entries.length === 0 && first !== undefined) {
    return err({ code: 'unfit', subject: fileName(uri), text: `line ${first.line}: ${first.text}` });
  }
  return ok({
    entries: document.entries,
    sealing: sealReportingOf(document.entries),
    problems,
    notes: [],
    changed: new Set(),
  });
}

/** The rules to replay under, as set for the file's folder. */
function configuredKernel(uri: vscode.Uri): KernelVersion {
  const set: unknown = vscode.workspace.getConfiguration(undefined, uri).get(SETTINGS.replayKernel);
  return typeof set === 'string' && isKernelVersion(set) ? set : DEFAULT_KERNEL;
}

/** The last part of a file's path. */
function fileName(uri: vscode.Uri): string {
  const path = uri.path;
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

function placeOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString(true);
}
