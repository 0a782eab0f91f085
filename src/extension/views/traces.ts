import * as vscode from 'vscode';
import { traceRow } from '../../present/traces_tree';
import type { TreeNode } from '../../present/tree_node';
import { counted } from '../../present/units';
import { CONTEXT_KEYS, VIEWS } from '../ids';
import type { ReplaySession } from '../replay/replay_session';
import type { TraceStore } from '../replay/trace_store';
import { Subscriptions, type Closable } from '../subscriptions';
import { NodeTree } from './node_tree';

/** The Traces view: opened traces with their processes, forks, denied calls, mismatches, snapshots and steps. */
export class TracesView implements Closable {
  private readonly tree: NodeTree;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions = new Subscriptions();

  constructor(
    private readonly traces: TraceStore,
    /** Called whenever somebody looks at the view. */
    onLook: () => void,
  ) {
    this.tree = new NodeTree(() => {
      onLook();
      return traces.sessions.map((session) => this.row(session));
    });
    this.view = vscode.window.createTreeView(VIEWS.traces, {
      treeDataProvider: this.tree,
      showCollapseAll: true,
    });
    this.subscriptions.add(
      this.tree,
      this.view,
      traces.onDidChange(() => this.update()),
      traces.onDidMove(() => this.update()),
    );
  }

  async reveal(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEWS.traces}.focus`, { preserveFocus: true });
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    const { sessions } = this.traces;
    void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.hasTrace, sessions.length > 0);
    const differing = sessions.flatMap((session) =>
      session.replay.checks.filter((check) => check.outcome === 'differs'),
    ).length;
    this.view.badge =
      differing === 0
        ? undefined
        : {
            value: differing,
            tooltip: `${counted(differing, 'snapshot differs', 'snapshots differ')} from the replay`,
          };
    this.tree.refresh();
  }

  private row(session: ReplaySession): TreeNode {
    return traceRow({
      traceId: session.id,
      label: session.label,
      location: session.source.location,
      trace: session.trace,
      replay: session.replay,
      position: session.position,
      lifeId: session.life?.id,
      isCurrent: this.traces.current === session,
    });
  }
}
