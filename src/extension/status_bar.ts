import * as vscode from 'vscode';
import { withoutIcons } from '../present/safe_text';
import { positionText, stepSentence } from '../present/step_words';
import { COMMANDS } from './ids';
import type { TraceStore } from './replay/trace_store';
import { Subscriptions, type Closable } from './subscriptions';

/** Where the replay stands, while a trace is open; a click goes to a line. */
export class ReplayStatus implements Closable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions = new Subscriptions();

  constructor(private readonly traces: TraceStore) {
    this.item = vscode.window.createStatusBarItem('replay', vscode.StatusBarAlignment.Left, 50);
    this.item.name = 'VMA Lens Replay';
    this.item.command = COMMANDS.goToLine;
    const update = (): void => this.update();
    this.subscriptions.add(this.item, traces.onDidChange(update), traces.onDidMove(update));
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    const session = this.traces.current;
    if (session === undefined) {
      this.item.hide();
      return;
    }
    const text = positionText(session.step, {
      lines: session.trace.lineCount,
      steps: session.replay.steps.length,
    });
    this.item.text = `$(debug-rerun) ${withoutIcons(text)}`;
    this.item.tooltip = `${withoutIcons(session.label)}: ${stepSentence(session.step)}`;
    this.item.accessibilityInformation = { label: `Replay of ${session.label}: ${text}. Go to line.` };
    this.item.show();
  }
}
