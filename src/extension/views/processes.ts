import * as vscode from 'vscode';
import type { SourceError } from '../../node/source_error';
import { filterSentence } from '../../present/messages';
import { processTooltip, processTree, type ProcessFacts } from '../../present/process_tree';
import type { Tooltip } from '../../present/tooltip';
import type { TreeNode } from '../../present/tree_node';
import { counted } from '../../present/units';
import { CONTEXT_KEYS, VIEWS } from '../ids';
import { sourceSentence } from '../report';
import type { CurrentTarget } from '../targets/current_target';
import { livePid } from '../targets/live_target';
import type { ProcSource } from '../targets/proc_source';
import { Subscriptions, type Closable } from '../subscriptions';
import { NodeTree } from './node_tree';

/** The Processes view. The list is read when somebody looks at it, and again when they come back to it. */
export class ProcessesView implements Closable {
  private readonly tree: NodeTree;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions = new Subscriptions();
  private processes: readonly ProcessFacts[] | undefined;
  private reading: AbortController | undefined;
  private text = '';

  constructor(
    private readonly proc: ProcSource,
    private readonly target: CurrentTarget,
  ) {
    this.tree = new NodeTree(
      () => this.roots(),
      (node) => this.tooltip(node),
    );
    this.view = vscode.window.createTreeView(VIEWS.processes, {
      treeDataProvider: this.tree,
      showCollapseAll: true,
    });
    let inspected = livePid(target.target);
    this.subscriptions.add(
      this.tree,
      this.view,
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.processes !== undefined) this.refresh();
      }),
      target.onDidChange(() => {
        if (livePid(target.target) === inspected) return;
        inspected = livePid(target.target);
        this.tree.refresh();
      }),
    );
  }

  get filter(): string {
    return this.text;
  }

  setFilter(filter: string): void {
    this.text = filter.trim();
    void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.processFilter, this.text !== '');
    this.tree.refresh();
  }

  /** Forgets the list; it is read again as soon as the view is looked at. */
  refresh(): void {
    this.processes = undefined;
    this.tree.refresh();
  }

  dispose(): void {
    this.reading?.abort();
    this.subscriptions.dispose();
  }

  private async roots(): Promise<readonly TreeNode[]> {
    if (!this.proc.available) return [];
    const processes = this.processes ?? (await this.read());
    if (processes === undefined) return [];
    const tree = processTree({
      processes,
      filter: this.text,
      inspectedPid: livePid(this.target.target),
    });
    this.view.description = counted(tree.total, 'process', 'processes');
    this.view.message =
      this.text === '' ? '' : filterSentence(this.text, tree.matching, tree.total, 'process', 'processes');
    return tree.roots;
  }

  /** With the sums of its memory: they are read when somebody looks at the tooltip. */
  private async tooltip(node: TreeNode): Promise<Tooltip | undefined> {
    const { subject } = node;
    if (subject.kind !== 'process') return undefined;
    const process = this.processes?.find((each) => each.pid === subject.pid);
    if (process?.kind !== 'user' || process.unreadable !== undefined) return undefined;
    return processTooltip(process, await this.proc.sums(subject.pid));
  }

  private async read(): Promise<readonly ProcessFacts[] | undefined> {
    this.reading?.abort();
    const reading = new AbortController();
    this.reading = reading;
    const result = await vscode.window.withProgress({ location: { viewId: VIEWS.processes } }, () =>
      this.proc.list(reading.signal),
    );
    if (this.reading !== reading) return undefined;
    this.reading = undefined;
    if (result.ok) {
      this.processes = result.value;
      return result.value;
    }
    this.fail(result.error);
    return undefined;
  }

  private fail(error: SourceError): void {
    if (error.code !== 'cancelled') this.view.message = sourceSentence(error);
  }
}
