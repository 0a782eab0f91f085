import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecording, type Recording } from './recording';

/** Where the recorder works: part of every path that a recording shows, so the same everywhere. */
const WORK = '/dev/shm/vmalens';

export interface RecorderOptions {
  /** The project's folder. */
  readonly project: string;
  /** Words of a command that runs a program under another kernel; empty for this one. */
  readonly runner: readonly string[];
  /** VMAs until vm.max_map_count; undefined leaves that alone. */
  readonly mapRoom: number | undefined;
}

/** The C program, built when its sources are newer. */
export class RecorderProgram {
  private readonly folder: string;
  private readonly program: string;

  constructor(private readonly options: RecorderOptions) {
    this.folder = join(options.project, '.cache', 'kernel');
    this.program = join(this.folder, 'recorder');
  }

  /** Builds what is out of date. Returns what is missing, undefined if all is well. */
  build(): string | undefined {
    const folder = join(this.options.project, 'test', 'kernel', 'recorder');
    const sources = readdirSync(folder).map((name) => join(folder, name));
    const built = existsSync(this.program) ? statSync(this.program).mtimeMs : 0;
    if (sources.every((source) => statSync(source).mtimeMs < built)) return undefined;
    mkdirSync(this.folder, { recursive: true });
    const cc = process.env['CC'] ?? 'cc';
    const files = sources.filter((source) => source.endsWith('.c'));
    const warnings = ['-Wall', '-Wextra', '-Werror'];
    const base = ['-std=gnu11', '-O1', ...warnings, '-o', this.program, ...files];
    // Static, so that it also runs where another kernel has no libraries; with libraries where there is no libc.a.
    const first = spawnSync(cc, ['-static', ...base], { encoding: 'utf8' });
    if (first.error !== undefined)
      return `no C compiler: ${cc} (${first.error.message}); CC names another one`;
    if (first.status === 0) return undefined;
    const second = spawnSync(cc, base, { encoding: 'utf8' });
    return second.status === 0 ? undefined : `the recorder does not compile:\n${second.stderr}`;
  }

  /** Random sequences with `calls` calls in all: the text of their recording. */
  random(seed: number, calls: number, weights: string | undefined): string {
    const args = ['--seed', String(seed), '--calls', String(calls)];
    return this.run(weights === undefined ? args : [...args, '--weights', weights]);
  }

  /** Exactly the calls of `script`: lines of recordings. */
  script(script: string): Recording {
    const file = join(this.folder, `script-${process.pid}`);
    writeFileSync(file, script, 'latin1');
    try {
      return readRecording(this.run(['--script', file]));
    } finally {
      rmSync(file, { force: true });
    }
  }

  private run(args: readonly string[]): string {
    const out = join(this.folder, `recording-${process.pid}`);
    const room = this.options.mapRoom === undefined ? [] : ['--map-room', String(this.options.mapRoom)];
    const own = ['--out', out, '--work', WORK, ...room, ...args, '--'];
    const command = [...this.options.runner, this.program, ...own];
    const [program = '', ...rest] = command;
    rmSync(out, { force: true });
    const ran = spawnSync(program, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    if (!existsSync(out)) {
      throw new Error(`no recording from ${command.join(' ')}\n${ran.error?.message ?? ran.stderr}`);
    }
    const text = readFileSync(out, 'latin1');
    rmSync(out);
    return text;
  }
}
