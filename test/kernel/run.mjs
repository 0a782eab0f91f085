/** `npm run test:kernel -- [OPTION]…`: bundles the runner, which shares its code with the tests, and starts it. */
import { build } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '..', '..');
const outfile = join(project, '.cache', 'kernel', 'run.mjs');

await build({
  entryPoints: [join(here, 'run.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
});
const { main } = await import(pathToFileURL(outfile).href);
process.exitCode = main(process.argv.slice(2), project, (text) => console.log(text));
