import * as vscode from 'vscode';
import type { TreeNode } from '../../present/tree_node';
import type { Tooltip } from '../../present/tooltip';
import { treeItemOf, withTooltip } from './tree_item';

/** A tree view over rows of src/present: knows how to draw and walk them, and nothing of what they mean. */
export class NodeTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<undefined>();
  private parents = new WeakMap<TreeNode, TreeNode>();
  readonly onDidChangeTreeData = this.emitter.event;

  /** `roots` is asked anew after each refresh. */
  constructor(
    private readonly roots: () => readonly TreeNode[] | Promise<readonly TreeNode[]>,
    /** Makes a tooltip that takes more than what the row knows. */
    private readonly longTooltip?: (node: TreeNode) => Promise<Tooltip | undefined>,
  ) {}

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return treeItemOf(node);
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node === undefined) return [...(await this.roots())];
    const children = node.children();
    for (const child of children) this.parents.set(child, node);
    return [...children];
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return this.parents.get(node);
  }

  async resolveTreeItem(item: vscode.TreeItem, node: TreeNode): Promise<vscode.TreeItem> {
    return withTooltip(item, (await this.longTooltip?.(node)) ?? node.tooltip());
  }

  refresh(): void {
    this.parents = new WeakMap();
    this.emitter.fire(undefined);
  }

  dispose(): void {
    this.emitter.dispose();
  }
}
