import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ProcReader, type ProcessInfo } from '../../src/node/proc_reader';
import { formatMapsDocument, formatMapsLine } from '../../src/procfs/format_maps';
import { parseMaps } from '../../src/procfs/maps';
import { parseProcessStat } from '../../src/procfs/process_text';

/** What a read says when mappings change meanwhile. */
const TORN_CODES: readonly string[] = ['repeated-line', 'overlap', 'out-of-order'];

const reader = new ProcReader();
const children: ChildProcess[] = [];

function start(command: string, args: readonly string[], options: { uid?: number } = {}): number {
  const child = spawn(command, args, { stdio: 'ignore', ...options });
  children.push(child);
  if (child.pid === undefined) throw new Error(`cannot start ${command}`);
  return child.pid;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Waits until `question` has an answer. */
async function until<T>(question: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let i = 0; i < 400; i++) {
    const answer = await question();
    if (answer !== undefined) return answer;
    await sleep(10);
  }
  throw new Error('waited too long');
}

/** The same without letting anything else run. */
function spinUntil(done: () => boolean): void {
  const end = performance.now() + 4000;
  while (!done()) if (performance.now() > end) throw new Error('waited too long');
}

function exeOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return '';
  }
}

/** Waits until a child has executed its program and that has mapped what it needs and sleeps. */
async function untilAsleep(pid: number): Promise<void> {
  const ours = exeOf(process.pid);
  await until(async () => {
    const info = await reader.processInfo(pid);
    return (info.ok && info.value.state === 'S' && exeOf(pid) !== '' && exeOf(pid) !== ours) || undefined;
  });
}

function stateOf(pid: number): string {
  return parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.state ?? '';
}

function kindOf(result: { ok: boolean; error?: { kind: string } }): string {
  return result.ok ? 'ok' : (result.error?.kind ?? '');
}

describe.skipIf(!existsSync('/proc/self/maps'))('live processes', () => {
  test('a sleeping child: maps and smaps agree, no problem, written back', async () => {
    const pid = start('sleep', ['60']);
    await untilAsleep(pid);
    const maps = await reader.readMaps(pid);
    const smaps = await reader.readSmaps(pid);
    if (!maps.ok || !smaps.ok) throw new Error('cannot read');
    const [plain, full] = [parseMaps(maps.value.text), parseMaps(smaps.value.text)];
    expect(plain.kind).toBe('maps');
    expect(full.kind).toBe('smaps');
    expect(plain.problems).toEqual([]);
    expect(full.problems).toEqual([]);
    expect(formatMapsDocument(full)).toBe(smaps.value.text);
    expect(plain.entries.map((entry) => `${formatMapsLine(entry)}\n`).join('')).toBe(maps.value.text);
    expect(full.entries.map(formatMapsLine)).toEqual(plain.entries.map(formatMapsLine));
    expect(plain.entries.some((entry) => entry.path === '[stack]')).toBe(true);
    // Where each read ended, a line ended.
    for (const end of smaps.value.readEnds) expect(smaps.value.text.charAt(end - 1)).toBe('\n');
    expect(smaps.value.readEnds.length).toBeGreaterThan(1);
  });

  test('a rollup', async () => {
    const pid = start('sleep', ['60']);
    await untilAsleep(pid);
    const text = await reader.readSmapsRollup(pid);
    if (!text.ok) throw new Error(text.error.text);
    const document = parseMaps(text.value.text);
    expect(document.kind).toBe('smaps_rollup');
    expect(document.problems).toEqual([]);
    expect(document.rollup?.smaps.fields.get('Rss')).toMatchObject({ kind: 'number', unit: 'kB' });
  });

  test('this process itself, which goes on mapping while it is read', async () => {
    for (const text of [await reader.readMaps(process.pid), await reader.readSmaps(process.pid)]) {
      if (!text.ok) throw new Error(text.error.text);
      const document = parseMaps(text.value.text);
      expect(document.entries.length).toBeGreaterThan(50);
      expect(formatMapsDocument(document) === text.value.text).toBe(true);
      expect(document.problems.filter(({ code }) => !TORN_CODES.includes(code))).toEqual([]);
    }
  });

  test('the list has this process and its child, with parent, user and memory', async () => {
    const pid = start('sleep', ['61']);
    await untilAsleep(pid);
    const list = await reader.listProcesses();
    if (!list.ok) throw new Error(list.error.text);
    const child = find(list.value.processes, pid);
    expect(child).toMatchObject({
      ppid: process.pid,
      uid: process.getuid?.(),
      kernelThread: false,
      threads: 1,
    });
    expect(child?.cmdline.slice(-2)).toEqual(['sleep', '61']);
    expect(child?.rssKb).toBeGreaterThan(0);
    expect(find(list.value.processes, process.pid)?.threads).toBeGreaterThan(1);
    expect(list.value.processes.map((info) => info.pid)).toEqual(
      list.value.processes.map((info) => info.pid).toSorted((a, b) => a - b),
    );
  });

  test('a command that looks like the rest of its stat', async () => {
    const pid = start(process.execPath, ['-e', 'process.title = ") S 1 (x"; setInterval(() => 0, 1000)']);
    const info = await until(async () => {
      const result = await reader.processInfo(pid);
      return result.ok && result.value.comm === ') S 1 (x' ? result.value : undefined;
    });
    expect(info).toMatchObject({ ppid: process.pid });
    expect(await reader.comm(pid)).toEqual({ ok: true, value: ') S 1 (x' });
  });

  test('a child that has ended is gone', async () => {
    const child = spawn('sleep', ['0'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    await new Promise((resolve) => child.on('exit', resolve));
    for (const result of [await reader.readMaps(pid), await reader.comm(pid), await reader.exe(pid)]) {
      expect(kindOf(result)).toBe('gone');
    }
  });

  test('a zombie', async () => {
    // The shell starts a child and becomes a program that never asks for its status.
    const parent = start('sh', ['-c', 'sleep 0 & exec sleep 60']);
    const zombie = await until(async () => {
      const list = await reader.listProcesses();
      if (!list.ok) return undefined;
      return list.value.processes.find(({ ppid, state }) => ppid === parent && state === 'Z');
    });
    expect(zombie).toMatchObject({ rssKb: null, cmdline: [] });
    expect(kindOf(await reader.readMaps(zombie.pid))).toBe('zombie');
    expect(kindOf(await reader.readSmapsRollup(zombie.pid))).toBe('zombie');
    expect(kindOf(await reader.exe(zombie.pid))).toBe('zombie');
  });

  test('a child that is killed while it is read', async () => {
    const pid = start('sleep', ['60']);
    await untilAsleep(pid);
    const progress = () => {
      process.kill(pid, 'SIGKILL');
      spinUntil(() => stateOf(pid) === 'Z');
    };
    expect(kindOf(await reader.readMaps(pid, { progress }))).toBe('exited');
  });

  test('a child that executes another program while it is read', async () => {
    const pid = start('sh', ['-c', 'trap "exec sleep 60" USR1; while :; do sleep 0.02; done']);
    const before = await until(() => (exeOf(pid) === exeOf(process.pid) ? undefined : exeOf(pid)));
    // Until the shell has set its trap, the signal would end it.
    await sleep(200);
    const progress = () => {
      process.kill(pid, 'SIGUSR1');
      spinUntil(() => exeOf(pid) !== before);
    };
    expect(kindOf(await reader.readMaps(pid, { progress }))).toBe('replaced');
  });

  test.skipIf(!isKernelThread(2))('a kernel thread', async () => {
    expect(await reader.processInfo(2)).toMatchObject({
      ok: true,
      value: { kernelThread: true, rssKb: null, ppid: 0 },
    });
    expect(kindOf(await reader.readMaps(2))).toBe('kernel-thread');
    expect(kindOf(await reader.readSmapsRollup(2))).toBe('kernel-thread');
    expect(kindOf(await reader.exe(2))).toBe('kernel-thread');
  });

  test('the release of the running kernel', async () => {
    expect(await reader.kernelRelease()).toMatch(/^\d+\.\d+/);
  });
});

describe.skipIf(!existsSync('/proc/self/maps') || process.getuid?.() !== 0)('as the super-user', () => {
  const NOBODY = 65534;

  test('a process of another user can be read', async () => {
    const pid = start('sleep', ['60'], { uid: NOBODY });
    const info = await until(async () => {
      const result = await reader.processInfo(pid);
      return result.ok && result.value.uid === NOBODY ? result.value : undefined;
    });
    expect(info.uid).toBe(NOBODY);
    await until(async () => (await reader.readMaps(pid)).ok || undefined);
  });

  test('without its rights a process of the super-user cannot', async () => {
    const pid = start('sleep', ['60']);
    await untilAsleep(pid);
    process.seteuid?.(NOBODY);
    try {
      for (const result of [await reader.readMaps(pid), await reader.exe(pid)]) {
        if (result.ok) throw new Error('was read all the same');
        expect(result.error.kind).toBe('not-permitted');
        expect(result.error.help.join('\n')).toContain(`belongs to user 0, this is user ${NOBODY}`);
        expect(result.error.help.join('\n')).toContain('CAP_SYS_PTRACE');
      }
      // The list needs no rights.
      const list = await reader.listProcesses();
      expect(list.ok && find(list.value.processes, pid)?.uid).toBe(0);
    } finally {
      process.seteuid?.(0);
    }
  });
});

describe.skipIf(!existsSync('/proc/1/maps') || process.getuid?.() === 0)('as an ordinary user', () => {
  test('process 1 cannot be read', async () => {
    const maps = await reader.readMaps(1);
    expect(kindOf(maps)).toBe('not-permitted');
    expect(maps.ok ? [] : maps.error.help).not.toEqual([]);
  });
});

function find(processes: readonly ProcessInfo[], pid: number): ProcessInfo | undefined {
  return processes.find((info) => info.pid === pid);
}

function isKernelThread(pid: number): boolean {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.kernelThread ?? false;
  } catch {
    return false;
  }
}
