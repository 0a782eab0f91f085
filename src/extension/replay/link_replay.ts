import * as vscode from 'vscode';
import type { Reporter } from '../report';
import type { CurrentTarget } from '../targets/current_target';
import { replayTarget } from '../targets/replay_target';
import type { TraceStore } from './trace_store';

/** Lets the current replay drive the other views: each move selects its instant as the target. */
export function linkReplay(traces: TraceStore, target: CurrentTarget, reporter: Reporter): vscode.Disposable {
  return vscode.Disposable.from(
    traces.onDidMove((session) => {
      target.select(replayTarget(session)).then(
        (error) => (error === undefined ? undefined : reporter.report({ kind: 'source', error })),
        (thrown: unknown) => reporter.report({ kind: 'bug', during: 'replay', thrown }),
      );
    }),
    traces.onDidChange(() => {
      const shown = target.target;
      const open = traces.sessions.some((session) => replayTarget(session).id === shown?.id);
      if (shown?.kind === 'replay' && !open) target.clear();
    }),
  );
}
