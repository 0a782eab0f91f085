/**
 * Reads maps and smaps of real processes of different kinds and checks that `vmalens maps FILE --text` gives
 * every file back byte for byte, and `vmalens maps PID --text` the bytes of the process itself.
 *
 * `node scripts/check_text_roundtrip.mjs` starts the processes, stops each (SIGSTOP, so that its map stands still),
 * compares, and ends them again. It touches no process that it did not start. A program that is not installed is
 * left out and said; fewer than ten kinds are a failure. Needs Linux and a built command line (npm run build).
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = path.resolve(import.meta.dirname, '..');
const CLI = path.join(ROOT, 'dist', 'cli.cjs');
const WORK = mkdtempSync(path.join(tmpdir(), 'vmalens-roundtrip-'));
const ENOUGH = 10;

/**
 * What to start and which process of it to read: `child` names the program of a descendant, else it is the one
 * started. `ready` is how long it takes to settle, in milliseconds.
 * @type {{ kind: string, command: string, args: string[], child?: string, ready?: number, setup?: () => void }[]}
 */
const KINDS = [
  {
    kind: 'node',
    command: process.execPath,
    args: ['-e', 'globalThis.a = Array(1e6).fill({}); setInterval(() => 0, 1e6)'],
  },
  { kind: 'node, worker threads', command: process.execPath, args: ['-e', WORKERS()] },
  {
    kind: 'python3',
    command: 'python3',
    args: ['-c', 'import json, ctypes, decimal, time; time.sleep(600)'],
  },
  { kind: 'perl', command: 'perl', args: ['-MPOSIX', '-e', 'sleep 600'] },
  { kind: 'bash', command: 'bash', args: ['--norc', '-c', 'read -r line; echo'] },
  { kind: 'sleep', command: 'sleep', args: ['600'] },
  { kind: 'cat', command: 'cat', args: ['-'] },
  { kind: 'dd, 64 MB buffer', command: 'dd', args: ['if=/dev/zero', 'of=/dev/null', 'bs=64M'] },
  {
    kind: 'cc1 (gcc)',
    command: 'gcc',
    args: ['-O2', '-c', 'big.c', '-o', 'big.o'],
    child: 'cc1',
    setup: writeBigSource,
  },
  { kind: 'strace', command: 'strace', args: ['-f', '-o', 'trace.out', 'sleep', '600'] },
  { kind: 'tmux server', command: 'tmux', args: ['-L', path.basename(WORK), '-f', '/dev/null', '-D'] },
  {
    kind: 'chromium, browser',
    command: 'chromium',
    args: [...CHROMIUM('a'), 'about:blank'],
    ready: 5000,
  },
  {
    kind: 'chromium, renderer',
    command: 'chromium',
    args: [...CHROMIUM('b'), 'data:text/html,<h1>hello</h1>'],
    child: '--type=renderer',
    ready: 5000,
  },
  { kind: 'java', command: 'java', args: ['-Xmx256m', 'Wait.java'], ready: 5000, setup: writeJavaSource },
];

function WORKERS() {
  const idle = 'setInterval(() => 0, 1e6)';
  return `const { Worker } = require('node:worker_threads');
    for (let i = 0; i < 3; i++) new Worker(${JSON.stringify(idle)}, { eval: true });`;
}

/** @param {string} name of the profile folder */
function CHROMIUM(name) {
  return [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--remote-debugging-port=0',
    `--user-data-dir=${path.join(WORK, `profile-${name}`)}`,
  ];
}

function writeBigSource() {
  const functions = Array.from(
    { length: 20_000 },
    (_, i) => `int f${i}(int a) { int b = a * ${i}; while (b % 7) b += a ^ ${i}; return b; }`,
  );
  writeFileSync(path.join(WORK, 'big.c'), `${functions.join('\n')}\n`);
}

function writeJavaSource() {
  writeFileSync(
    path.join(WORK, 'Wait.java'),
    'class Wait { public static void main(String[] a) throws Exception { Thread.sleep(600000); } }\n',
  );
}

/** @param {string} command */
function isInstalled(command) {
  return (
    command.includes('/') ||
    (process.env.PATH ?? '').split(':').some((folder) => readable(path.join(folder, command)) !== undefined)
  );
}

/** @param {string} file */
function readable(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Pids of all descendants of a process. @param {number} pid @returns {number[]} */
function descendants(pid) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (other) =>
        Number(/^PPid:\t(\d+)$/m.exec(readable(`/proc/${other}/status`)?.toString() ?? '')?.[1]) === pid,
    );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** The process to read: `child` is looked for in the command lines of the descendants. @param {number} root @param {string} [child] */
async function findProcess(root, child) {
  if (child === undefined) return root;
  for (let tries = 0; tries < 50; tries++) {
    const found = descendants(root).find((pid) =>
      (readable(`/proc/${pid}/cmdline`)?.toString('latin1') ?? '')
        .split(/[\0 ]/)
        .some((arg) => arg === child || arg.endsWith(`/${child}`)),
    );
    if (found !== undefined) return found;
    await sleep(100);
  }
  return undefined;
}

/** @param {string[]} args */
function vmalens(args) {
  const result = spawnSync(process.execPath, [CLI, 'maps', ...args, '--text'], { maxBuffer: 2 ** 30 });
  return { status: result.status, out: result.stdout, err: result.stderr.toString() };
}

/**
 * Even a stopped process's smaps moves a little: what it shares with others is counted anew when they come and go,
 * and vmalens itself maps the same libraries. So where the bytes differ, the amounts are left out.
 * @param {Buffer} a @param {Buffer} b
 */
function sameProcess(a, b) {
  if (a.equals(b)) return 'equal';
  const withoutAmounts = (/** @type {Buffer} */ text) =>
    text
      .toString('latin1')
      .replace(/^(\w+: +)\d+( kB)$/gm, '$1N$2')
      .replace(/: +N/g, ': N');
  return withoutAmounts(a) === withoutAmounts(b) ? 'equal but for amounts' : 'DIFFERS';
}

/** One file of a stopped process: saved, given back from the file, and given back from the process. @param {number} pid @param {'maps'|'smaps'} name */
function compare(pid, name) {
  const bytes = readFileSync(`/proc/${pid}/${name}`);
  const file = path.join(WORK, `${pid}.${name}`);
  writeFileSync(file, bytes);
  const fromFile = vmalens([file]);
  const fromProcess = vmalens(name === 'smaps' ? [String(pid), '--smaps'] : [String(pid)]);
  return {
    bytes: bytes.length,
    mappings: bytes
      .toString('latin1')
      .split('\n')
      .filter((line) => /^[0-9a-f]+-[0-9a-f]+ /.test(line)).length,
    file: fromFile.status === 0 && fromFile.err === '' && fromFile.out.equals(bytes) ? 'equal' : 'DIFFERS',
    live: sameProcess(fromProcess.out, bytes),
  };
}

/** @param {typeof KINDS[number]} kind */
async function check(kind) {
  kind.setup?.();
  const child = spawn(kind.command, kind.args, {
    cwd: WORK,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  if (child.pid === undefined) return undefined;
  const root = child.pid;
  try {
    await sleep(kind.ready ?? 500);
    const pid = await findProcess(root, kind.child);
    if (pid === undefined || readable(`/proc/${pid}/maps`) === undefined) return undefined;
    process.kill(pid, 'SIGSTOP');
    await sleep(100);
    return { pid, maps: compare(pid, 'maps'), smaps: compare(pid, 'smaps') };
  } finally {
    // Only what was started here: the process and its descendants, one by one.
    for (const pid of [...descendants(root), root]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }
}

const rows = [];
let failures = 0;
for (const kind of KINDS) {
  const result = isInstalled(kind.command) ? await check(kind) : undefined;
  if (result === undefined) {
    rows.push([kind.kind, 'not run: not installed or not startable here']);
    continue;
  }
  const { maps, smaps } = result;
  if ([maps.file, maps.live, smaps.file, smaps.live].includes('DIFFERS')) failures++;
  rows.push(
    [kind.kind, maps.mappings, maps.bytes, maps.file, maps.live, smaps.bytes, smaps.file, smaps.live].map(
      String,
    ),
  );
}
const done = rows.filter((row) => row.length > 2).length;
const titles = [
  'process',
  'mappings',
  'maps bytes',
  'from file',
  'from pid',
  'smaps bytes',
  'from file',
  'from pid',
];
const widths = titles.map((title, c) =>
  Math.max(
    title.length,
    ...rows.filter((row) => row.length > 2).map((row) => (row[c] ?? '').length),
    c === 0 ? Math.max(...rows.map((row) => row[0]?.length ?? 0)) : 0,
  ),
);
for (const row of [titles, ...rows])
  console.log(
    row
      .map((cell, c) => (row.length > 2 || c === 0 ? cell.padEnd(widths[c] ?? 0) : cell))
      .join('  ')
      .trimEnd(),
  );
console.log(`${done} processes of different kinds, ${failures} with differences`);
rmSync(WORK, { recursive: true, force: true, maxRetries: 5 });
process.exitCode = failures === 0 && done >= ENOUGH ? 0 : 1;
