import * as vscode from 'vscode';
import type { NodeColor, NodeIcon, Subject, TreeNode } from '../../present/tree_node';
import { tooltipMarkdown, type Tooltip } from '../../present/tooltip';
import { COLORS, COMMANDS } from '../ids';

/** The theme colour of each meaning: our own where a person may want another, else one of VS Code's. */
const THEME_COLORS: Readonly<Record<NodeColor, string>> = {
  sealed: COLORS.sealed,
  writableExecutable: COLORS.writableExecutable,
  deleted: COLORS.deleted,
  locked: COLORS.locked,
  changed: COLORS.changed,
  denied: COLORS.denied,
  warning: 'list.warningForeground',
  good: 'testing.iconPassed',
  current: 'debugIcon.breakpointCurrentStackframeForeground',
  dim: 'disabledForeground',
};

/** The row as VS Code draws it. Its tooltip is left to {@link withTooltip}. */
export function treeItemOf(node: TreeNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, collapsibleState(node));
  item.id = node.id;
  item.description = node.description;
  item.contextValue = node.context;
  if (node.icon !== undefined) item.iconPath = themeIconOf(node.icon);
  if (node.accessibility !== undefined) item.accessibilityInformation = { label: node.accessibility };
  const command = commandOf(node.subject);
  if (command !== undefined) item.command = command;
  return item;
}

/** Gives a row its tooltip. Text of other processes is escaped in it and never trusted. */
export function withTooltip(item: vscode.TreeItem, tooltip: Tooltip | undefined): vscode.TreeItem {
  // Without one VS Code shows label and description, which is what a short row says anyway.
  if (tooltip !== undefined) item.tooltip = new vscode.MarkdownString(tooltipMarkdown(tooltip));
  return item;
}

function themeIconOf(icon: NodeIcon): vscode.ThemeIcon {
  if (icon.color === undefined) return new vscode.ThemeIcon(icon.id);
  return new vscode.ThemeIcon(icon.id, new vscode.ThemeColor(THEME_COLORS[icon.color]));
}

function collapsibleState(node: TreeNode): vscode.TreeItemCollapsibleState {
  switch (node.expansion) {
    case 'leaf':
      return vscode.TreeItemCollapsibleState.None;
    case 'collapsed':
      return vscode.TreeItemCollapsibleState.Collapsed;
    case 'expanded':
      return vscode.TreeItemCollapsibleState.Expanded;
  }
}

/** What a click on a row does; opening a mapping or a group does nothing but select it. */
function commandOf(subject: Subject): vscode.Command | undefined {
  switch (subject.kind) {
    case 'process':
      return { command: COMMANDS.inspect, title: 'Inspect', arguments: [subject] };
    case 'life':
      return { command: COMMANDS.selectLife, title: 'Show This Process', arguments: [subject] };
    case 'instant':
      return { command: COMMANDS.goToInstant, title: 'Go to This Step', arguments: [subject] };
    case 'line':
      return { command: COMMANDS.revealLine, title: 'Go to Line in Text', arguments: [subject] };
    case 'none':
    case 'mapping':
    case 'trace':
      return undefined;
  }
}
