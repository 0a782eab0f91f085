import * as vscode from 'vscode';
import { NAMES_WITHOUT_OBJECTS, equalNamesTree, nameObjectsTree } from '../../present/shared_names_tree';
import type { TreeNode } from '../../present/tree_node';
import { counted } from '../../present/units';
import { VIEWS } from '../ids';
import type { TraceStore } from '../replay/trace_store';
import type { CurrentTarget } from '../targets/current_target';
import { Subscriptions, type Closable } from '../subscriptions';
import { NodeTree } from './node_tree';

/** The Shared Names view: name objects of a replay's instant, or the names of a live process or a file. */
export class SharedNamesView implements Closable {
  private readonly tree: NodeTree;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions = new Subscriptions();
  private roots: readonly TreeNode[] | undefined;

  constructor(
    private readonly target: CurrentTarget,
    private readonly traces: TraceStore,
  ) {
    // Name objects of a long trace take time: only what is looked at is made.
    this.tree = new NodeTree(() => (this.roots ??= this.makeRoots()));
    this.view = vscode.window.createTreeView(VIEWS.sharedNames, {
      treeDataProvider: this.tree,
      showCollapseAll: true,
    });
    this.subscriptions.add(
      this.tree,
      this.view,
      target.onDidChange(() => {
        if (!target.isReadingAgain) this.update();
      }),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    this.roots = undefined;
    this.tree.refresh();
    const state = this.target.state;
    if (state.kind === 'none') this.say('', '');
    else if (state.target.kind === 'replay') this.say(this.traces.current?.label ?? '', '');
    else this.say(state.target.label, this.remark());
  }

  private remark(): string {
    const space = this.target.space;
    if (space === undefined) return '';
    return space.entries.some((entry) => entry.anonName !== null)
      ? NAMES_WITHOUT_OBJECTS
      : 'No anonymous memory with a name here.';
  }

  private say(description: string, message: string): void {
    this.view.description = description;
    this.view.message = message;
  }

  private makeRoots(): readonly TreeNode[] {
    const session = this.traces.current;
    if (this.target.target?.kind !== 'replay' || session === undefined) {
      return equalNamesTree(this.target.space?.entries ?? []);
    }
    const roots = nameObjectsTree(session.replay, session.instant, session.id);
    const count = session.instant.names().length;
    this.view.message = count === 0 ? 'No name objects at this instant.' : '';
    this.view.description = `${counted(count, 'object')} · ${session.label}`;
    return roots;
  }
}
