import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files by path from the top folder, `/` between folders. */
export type Tree = ReadonlyMap<string, string>;

/** What is made, installed or captured: none of it is anybody's text. */
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.cache', '.git', '.vscode-test']);
const NOT_TEXT = /\.(vsix|png)$/;

/** Reads the project as it lies there: no git needed, so that it works in an unpacked archive too. */
export function readTree(root: string): Tree {
  const tree = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (NOT_OURS.has(entry.name) || path === 'test/e2e/out') continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && !NOT_TEXT.test(path)) tree.set(path, readFileSync(join(root, path), 'utf8'));
    }
  };
  visit('');
  return tree;
}
