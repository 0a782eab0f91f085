import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Region {
  /** Hex digits without 0x, as maps prints them. */
  readonly start: string;
  readonly end: string;
}

/** What target.py prints of itself. */
export interface TargetFacts {
  readonly pid: number;
  readonly plain: Region;
  readonly named: Region & { readonly name: string | null };
  readonly sealed: Region & { readonly sealed: boolean };
  readonly file: Region & { readonly path: string };
  readonly heap: { readonly address: number };
}

/** A running target.py. */
export class Target {
  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly lines: Interface,
    readonly facts: TargetFacts,
  ) {}

  /**
   * Starts it and waits until everything is mapped.
   * @param folder where the file that it maps is put
   * @param fileName of that file
   */
  static async start(folder: string, fileName: string): Promise<Target> {
    const file = join(folder, fileName);
    writeFileSync(file, Buffer.alloc(8192, 1));
    const script = fileURLToPath(new URL('target.py', import.meta.url));
    const child = spawn('python3', [script, file]);
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    const lines = createInterface(child.stdout);
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`target.py ended with ${String(code)}: ${complaints}`)));
    });
    const first = await Promise.race([nextLine(lines), ended]);
    ended.catch(() => undefined);
    return new Target(child, lines, JSON.parse(first) as TargetFacts);
  }

  /** Lets it map one more region. */
  async mapMore(): Promise<Region> {
    const line = nextLine(this.lines);
    this.child.stdin.write('\n');
    return JSON.parse(await line) as Region;
  }

  /** Ends it and waits until its number is free again. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.stdin.end();
    await gone;
  }
}

function nextLine(lines: Interface): Promise<string> {
  return new Promise((resolve) => lines.once('line', resolve));
}
