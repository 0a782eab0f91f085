/**
 * Bundles what runs into dist/. `node scripts/build.mjs [--watch] [--sourcemap] [NAME]…` makes all bundles or
 * those named.
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
const names = args.filter((arg) => !arg.startsWith('--'));
const watch = args.includes('--watch');

/** @param {import('esbuild').BuildOptions} own */
async function bundle(own) {
  const options = { ...COMMON, ...own, sourcemap: watch || args.includes('--sourcemap') };
  if (watch) {
    const watcher = await context({ ...options, logLevel: 'info' });
    await watcher.watch();
  } else {
    await build(options);
    if (own.banner !== undefined) await chmod(String(own.outfile), 0o755);
  }
}

const unknown = names.find((name) => !(name in BUNDLES));
if (unknown === undefined) {
  const wanted = Object.entries(BUNDLES).filter(([name]) => names.length === 0 || names.includes(name));
  const results = await Promise.allSettled(wanted.map(([, options]) => bundle(options)));
  // esbuild has printed what is wrong, with its place.
  if (results.some((result) => result.status === 'rejected')) process.exitCode = 1;
} else {
  console.error(`There is no bundle "${unknown}"; there are: ${Object.keys(BUNDLES).join(', ')}.`);
  process.exitCode = 2;
}
