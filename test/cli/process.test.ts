import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, ROOT } from './vmalens';

// The real program, bundled as it ships, run as a process of its own.

const folder = mkdtempSync(path.join(tmpdir(), 'vmalens-bin-'));
const CLI = path.join(folder, 'dist', 'cli.cjs');
const TRACE = fixture('pool/pool.strace');

beforeAll(async () => {
  mkdirSync(path.join(folder, 'dist'));
  for (const name of ['package.json', 'media']) symlinkSync(path.join(ROOT, name), path.join(folder, name));
  const entryPoints = [path.join(ROOT, 'src', 'cli', 'main.ts')];
  await build({ entryPoints, outfile: CLI, bundle: true, platform: 'node', target: 'node20', format: 'cjs' });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function vmalens(args: readonly string[], input?: Buffer) {
  const result = spawnSync(process.execPath, [CLI, ...args], { input, maxBuffer: 2 ** 28 });
  return { status: result.status, out: result.stdout, err: result.stderr.toString() };
}

function widest(text: Buffer): number {
  return Math.max(
    ...text
      .toString()
      .split('\n')
      .map((line) => line.length),
  );
}

describe('the program', () => {
  it('tells its version and its commands', () => {
    const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(vmalens(['--version']).out.toString()).toBe(`vmalens ${manifest.version}\n`);
    const help = vmalens(['--help']);
    expect(help.status).toBe(0);
    expect(widest(help.out)).toBeLessThanOrEqual(80);
    for (const command of ['maps', 'replay', 'verify', 'demo']) {
      expect(help.out.toString()).toContain(`  ${command} `);
      const own = vmalens([command, '--help']);
      expect(own.status).toBe(0);
      expect(own.out.toString()).toMatch(new RegExp(`^Usage: vmalens ${command}`));
      expect(widest(own.out)).toBeLessThanOrEqual(80);
    }
  });

  it('has the documented exit statuses', () => {
    expect(vmalens([]).status).toBe(2);
    expect(vmalens(['nonsense']).status).toBe(2);
    expect(vmalens(['--color=green', 'maps', 'self']).status).toBe(2);
    expect(vmalens(['maps', '/nonexistent']).status).toBe(3);
    expect(vmalens(['verify', fixture('pool')]).status).toBe(0);
  });

  it.runIf(existsSync('/dev/full'))('does not pass over output that cannot be written', () => {
    const full = openSync('/dev/full', 'w');
    const args = [CLI, 'maps', fixture('sealed.smaps'), '--json'];
    const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    expect(status).toBe(74);
    expect(stderr.toString()).toContain('cannot be written');
  });

  it('reads standard input, plain and compressed', () => {
    const text = readFileSync(fixture('sealed.smaps'));
    expect(vmalens(['maps', '-', '--text'], text).out.equals(text)).toBe(true);
    expect(vmalens(['maps', '-', '--text'], gzipSync(text)).out.equals(text)).toBe(true);
    expect(vmalens(['replay', '-'], gzipSync(readFileSync(TRACE))).out.toString()).toContain('100 → 101');
  });

  it('unpacks a file by its content, not by its name', () => {
    const file = path.join(folder, 'packed.smaps');
    writeFileSync(file, gzipSync(readFileSync(fixture('sealed.smaps'))));
    expect(vmalens(['maps', file]).out.toString()).toContain('6 mappings');
  });

  it('ends quietly when its reader goes away', async () => {
    const file = path.join(folder, 'long.maps');
    const lines = Array.from({ length: 50_000 }, (_, i) => {
      const start = 0x10000 + i * 2;
      return `${start.toString(16)}000-${(start + 1).toString(16)}000 r--p 00000000 fe:00 12 /usr/lib/lib.so\n`;
    });
    writeFileSync(file, lines.join(''));
    for (const format of ['--text', '--json', '--csv']) {
      const child = spawn(process.execPath, [CLI, 'maps', file, format], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      child.stdout.once('data', () => child.stdout.destroy());
      const status = await new Promise((resolve) => child.once('exit', resolve));
      expect({ format, status, errors }).toEqual({ format, status: 0, errors: '' });
    }
  }, 60_000);

  it.runIf(process.platform === 'linux')(
    'writes the maps of a live process as the kernel gave them',
    async () => {
      const child = spawn('sleep', ['60']);
      try {
        const pid = child.pid;
        if (pid === undefined) throw new Error('sleep does not start');
        await promisify(setTimeout)(200);
        const maps = readFileSync(`/proc/${pid}/maps`);
        expect(vmalens(['maps', String(pid), '--text']).out.equals(maps)).toBe(true);
        const smaps = vmalens(['maps', String(pid), '--text', '--smaps']).out.toString();
        expect(smaps).toMatch(/^VmFlags: /m);
      } finally {
        child.kill('SIGKILL');
      }
    },
  );

  it('runs the demo without a terminal', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, 'demo'], {
      maxBuffer: 2 ** 24,
    });
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('1  Memory gets names');
    expect(stdout).toContain('5  And this very process');
  });

  it('says what is missing when it was taken out of its product', () => {
    const alone = path.join(folder, 'alone', 'dist');
    mkdirSync(alone, { recursive: true });
    writeFileSync(path.join(alone, 'cli.cjs'), readFileSync(CLI));
    const { status, stderr } = spawnSync(process.execPath, [path.join(alone, 'cli.cjs'), 'demo']);
    expect(status).toBe(3);
    expect(stderr.toString()).toContain('no such file');
  });
});
