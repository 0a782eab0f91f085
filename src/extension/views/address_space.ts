import * as vscode from 'vscode';
import { isGroupBy, type GroupBy } from '../../analysis/grouping';
import { addressSpaceTree, type AddressSpaceTree } from '../../present/address_space_tree';
import { addressSpaceMessage } from '../../present/messages';
import type { TreeNode } from '../../present/tree_node';
import { CONTEXT_KEYS, STATE, VIEWS } from '../ids';
import type { CurrentTarget } from '../targets/current_target';
import type { TraceStore } from '../replay/trace_store';
import { sourceSentence } from '../report';
import { Subscriptions, type Closable } from '../subscriptions';
import { NodeTree } from './node_tree';
import { stepSentence } from '../../present/step_words';

/** The Address Space view: the selected target's mappings, grouped and filtered. */
export class AddressSpaceView implements Closable {
  private readonly tree: NodeTree;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions = new Subscriptions();
  private made: AddressSpaceTree = { roots: [], shown: 0, total: 0 };

  constructor(
    private readonly target: CurrentTarget,
    private readonly traces: TraceStore,
    private readonly memory: vscode.Memento,
    /** Called whenever somebody looks at the view. */
    onLook: () => void,
  ) {
    this.tree = new NodeTree(() => {
      onLook();
      return this.made.roots;
    });
    this.view = vscode.window.createTreeView(VIEWS.addressSpace, {
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
    this.update();
  }

  get groupBy(): GroupBy {
    const stored: unknown = this.memory.get(STATE.groupBy);
    return isGroupBy(stored) ? stored : 'kind';
  }

  get filter(): string {
    const stored: unknown = this.memory.get(STATE.addressSpaceFilter);
    return typeof stored === 'string' ? stored : '';
  }

  async setGroupBy(groupBy: GroupBy): Promise<void> {
    await this.memory.update(STATE.groupBy, groupBy);
    this.update();
  }

  async setFilter(filter: string): Promise<void> {
    await this.memory.update(STATE.addressSpaceFilter, filter === '' ? undefined : filter);
    this.update();
  }

  /** Shows the view without taking the keyboard away. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEWS.addressSpace}.focus`, { preserveFocus: true });
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    const state = this.target.state;
    const space = this.target.space;
    const filter = this.filter;
    this.made =
      space === undefined
        ? { roots: [], shown: 0, total: 0 }
        : addressSpaceTree({ ...space, groupBy: this.groupBy, filter });
    this.setContext(CONTEXT_KEYS.targetKind, this.target.target?.kind);
    this.setContext(CONTEXT_KEYS.addressSpaceFilter, filter !== '');
    this.view.description = this.target.target?.label ?? '';
    const message = addressSpaceMessage({
      step: this.target.target?.kind === 'replay' ? stepSentence(this.traces.current?.step) : undefined,
      reading: state.kind === 'reading' && space === undefined,
      failure: state.kind === 'failed' ? sourceSentence(state.error) : undefined,
      notes: space?.notes ?? [],
      problems: space?.problems ?? [],
      filter,
      shown: this.made.shown,
      total: this.made.total,
    });
    this.view.message = message;
    this.tree.refresh();
  }

  private setContext(key: string, value: unknown): void {
    void vscode.commands.executeCommand('setContext', key, value);
  }
}
