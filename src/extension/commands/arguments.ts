import * as vscode from 'vscode';
import type { Subject, TreeNode } from '../../present/tree_node';

/**
 * What a command was called on. Menus of a view pass the row, clicks on a row pass its subject; from the
 * palette there is nothing.
 */
export function subjectOf(argument: unknown): Subject | undefined {
  if (typeof argument !== 'object' || argument === null) return undefined;
  if ('subject' in argument) return subjectOf((argument as TreeNode).subject);
  return 'kind' in argument && typeof argument.kind === 'string' ? (argument as Subject) : undefined;
}

/** The subject, if it is of this kind. */
export function subjectOfKind<K extends Subject['kind']>(
  argument: unknown,
  kind: K,
): Extract<Subject, { kind: K }> | undefined {
  const subject = subjectOf(argument);
  return subject?.kind === kind ? (subject as Extract<Subject, { kind: K }>) : undefined;
}

/** A file that the explorer or an editor passes. */
export function uriOf(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}
