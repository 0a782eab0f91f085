import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A small project with this project's own tool configuration and the files that a test plants, to see each
 * rule fail. It lies outside the work tree, so nothing planted is ever found by a run over the real one.
 */
export interface PlantedProject {
  readonly root: string;
  /** Runs a script of the real package.json there, as `npm run NAME -- ARGS`. */
  readonly run: (script: string, ...args: readonly string[]) => Promise<ToolRun>;
  readonly remove: () => void;
}

export interface ToolRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TOP = join(import.meta.dirname, '..', '..');

const CONFIGURATION = [
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'tsconfig.core.json',
  'tsconfig.node.json',
  'tsconfig.scripts.json',
  'tsconfig.e2e.json',
  '.prettierrc.json',
  '.prettierignore',
  'eslint.config.mjs',
  '.dependency-cruiser.cjs',
  'knip.jsonc',
  'vitest.config.ts',
];

/** `files` by path from the top folder. */
export function plantProject(files: Readonly<Record<string, string>>): PlantedProject {
  const root = mkdtempSync(join(tmpdir(), 'vma-lens-planted-'));
  for (const name of CONFIGURATION) cpSync(join(TOP, name), join(root, name));
  symlinkSync(join(TOP, 'node_modules'), join(root, 'node_modules'), 'dir');
  for (const folder of ['src', 'test', 'bench']) mkdirSync(join(root, folder));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return {
    root,
    run: (script, ...args) => runScript(root, script, args),
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function runScript(cwd: string, script: string, args: readonly string[]): Promise<ToolRun> {
  const options = {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  };
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', script, '--', ...args], options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, stdout, stderr });
    });
  });
}
