/** The program `vmalens`: gives this process to the command line. Bundled to dist/cli.cjs. */
import path from 'node:path';
import { runCli } from './run';

void runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  // Looked up only when a command reads it: touching standard input can change how the process ends.
  get stdin() {
    return process.stdin;
  },
  env: process.env,
  pid: process.pid,
  productRoot: path.dirname(__dirname),
}).then((status) => {
  // Not process.exit: what was written must still reach its reader.
  process.exitCode = status;
});
