import * as vscode from 'vscode';
import type { ReplaySession } from './replay_session';

/** The opened traces, and which of them drives the other views. */
export class TraceStore implements vscode.Disposable {
  private readonly opened = new Map<string, { session: ReplaySession; subscription: { dispose(): void } }>();
  private currentId: string | undefined;
  private readonly emitter = new vscode.EventEmitter<void>();
  private readonly movedEmitter = new vscode.EventEmitter<ReplaySession>();
  /** Something was opened, closed, or another one became current. */
  readonly onDidChange = this.emitter.event;
  /** The current replay stands elsewhere, or shows another process. */
  readonly onDidMove = this.movedEmitter.event;

  get sessions(): readonly ReplaySession[] {
    return [...this.opened.values()].map(({ session }) => session);
  }

  get current(): ReplaySession | undefined {
    return this.currentId === undefined ? undefined : this.get(this.currentId);
  }

  get(id: string): ReplaySession | undefined {
    return this.opened.get(id)?.session;
  }

  /** Adds a trace, in place of one with the same id; it drives the other views unless told otherwise. */
  add(session: ReplaySession, drives = true): void {
    this.opened.get(session.id)?.subscription.dispose();
    const subscription = session.onDidChange(() => {
      if (this.currentId === session.id) this.movedEmitter.fire(session);
      else this.emitter.fire();
    });
    this.opened.set(session.id, { session, subscription });
    if (drives) this.makeCurrent(session.id);
    else this.emitter.fire();
  }

  /** Lets a trace drive the other views. */
  makeCurrent(id: string): void {
    const session = this.get(id);
    if (session === undefined) return;
    const changes = this.currentId !== id;
    this.currentId = id;
    if (changes) this.emitter.fire();
    this.movedEmitter.fire(session);
  }

  close(id: string): void {
    const entry = this.opened.get(id);
    if (entry === undefined) return;
    entry.subscription.dispose();
    this.opened.delete(id);
    if (this.currentId === id) this.currentId = undefined;
    this.emitter.fire();
  }

  dispose(): void {
    for (const { subscription } of this.opened.values()) subscription.dispose();
    this.emitter.dispose();
    this.movedEmitter.dispose();
  }
}
