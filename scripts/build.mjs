/**
 * Bundles what runs into dist/. `node scripts/build.mjs [--watch] [NAME]…` makes all bundles or those named.
 *
 * Bundles are not minified: a stack trace that somebody sends then names our functions.
 */
import { chmod } from 'node:fs/promises';
import { context, build } from 'esbuild';

/** @type {Record<string, import('esbuild').BuildOptions>} */
const BUNDLES = {
  extension: {
    entryPoints: ['src/extension/extension.ts'],
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
  },
  cli: {
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/cli.cjs',
    banner: { js: '#!/usr/bin/env node' },
  },
};

/** @type {import('esbuild').BuildOptions} */
const COMMON = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

const args = process.argv.slice(2);
const watch = args.includes('--watch');
const names = args.filter((arg) => !arg.startsWith('--'));

for (const [name, options] of Object.entries(BUNDLES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  if (watch) {
    const watcher = await context({ ...COMMON, ...options, sourcemap: true, logLevel: 'info' });
    await watcher.watch();
  } else {
    await build({ ...COMMON, ...options });
    if (options.banner !== undefined) await chmod(String(options.outfile), 0o755);
  }
}
