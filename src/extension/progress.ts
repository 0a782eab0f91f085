import * as vscode from 'vscode';
import type { Progress } from './targets/current_target';

/** How long work may take before a person is offered to cancel it, in milliseconds. */
const PATIENCE = 1500;

/** Progress in a view; work that takes long also gets a notification that can cancel it. */
export function viewProgress(viewId: string, title: string): Progress {
  return (work, cancel) =>
    vscode.window.withProgress({ location: { viewId } }, async () => {
      const done = work();
      const isSlow = await Promise.race([done.then(() => false), after(PATIENCE)]);
      if (!isSlow) return done;
      const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      return vscode.window.withProgress(options, async (_progress, token) => {
        const subscription = token.onCancellationRequested(cancel);
        try {
          return await done;
        } finally {
          subscription.dispose();
        }
      });
    });
}

function after(milliseconds: number): Promise<true> {
  return new Promise((resolve) => setTimeout(() => resolve(true), milliseconds).unref());
}
