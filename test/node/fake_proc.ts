import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One process of a {@link FakeProc}: its files by name. */
export interface FakeProcess {
  readonly comm?: string;
  readonly state?: string;
  readonly flags?: number;
  readonly startTime?: number;
  readonly startStack?: number;
  readonly uid?: number;
  readonly files?: Readonly<Record<string, string>>;
}

/** A folder that looks like a procfs. */
export class FakeProc {
  private constructor(readonly root: string) {}

  static async create(): Promise<FakeProc> {
    const fake = new FakeProc(await mkdtemp(join(tmpdir(), 'vmalens-proc-')));
    await fake.put(1, { comm: 'self' });
    await symlink('1', join(fake.root, 'self'));
    return fake;
  }

  async put(pid: number, process: FakeProcess): Promise<void> {
    const { comm = 'fake', uid = 0 } = process;
    const status = `Name:\t${comm}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nVmSize:\t  88 kB\nVmRSS:\t  44 kB\n`;
    const files = {
      stat: statText(pid, process),
      status,
      comm: `${comm}\n`,
      cmdline: `${comm}\0-x\0`,
      ...process.files,
    };
    for (const [name, text] of Object.entries(files)) await this.write(join(String(pid), name), text);
  }

  /** Writes a file given by its path in the tree. */
  async write(path: string, bytes: string): Promise<void> {
    const target = join(this.root, path);
    await mkdir(join(target, '..'), { recursive: true });
    await writeFile(target, bytes, 'latin1');
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.root, path), { recursive: true });
  }

  async destroy(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

export function statText(pid: number, process: FakeProcess): string {
  const { comm = 'fake', state = 'S', flags = 0, startTime = 100, startStack = 9000 } = process;
  const fields = [
    state,
    1,
    1,
    1,
    0,
    -1,
    flags,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    20,
    0,
    1,
    0,
    startTime,
    0,
    0,
    0,
    1000,
    2000,
    startStack,
  ];
  return `${pid} (${comm}) ${fields.join(' ')} 0 0 0\n`;
}
