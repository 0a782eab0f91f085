import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProcReader } from '../../src/node/proc_reader';
import { FakeProc, statText } from './fake_proc';

const MAPS = '00001000-00002000 rw-p 00000000 00:00 0 \n';
/** Longer than what one read takes. */
const LONG = MAPS.repeat(4000);
const PF_KTHREAD = 0x200000;

let proc: FakeProc;
let reader: ProcReader;
beforeEach(async () => {
  proc = await FakeProc.create();
  reader = new ProcReader(proc.root);
});
afterEach(async () => {
  await proc.destroy();
});

function kindOf(result: { ok: boolean; error?: { kind: string } }): string {
  return result.ok ? 'ok' : (result.error?.kind ?? '');
}

describe('the text of a process', () => {
  test('is read to its end, with the place where each read ended', async () => {
    await proc.put(7, { files: { maps: LONG } });
    const seen: number[] = [];
    const text = await reader.readMaps(7, { progress: (bytes) => seen.push(bytes) });
    if (!text.ok) throw new Error(text.error.text);
    expect(text.value.text).toBe(LONG);
    expect(text.value.readEnds.length).toBeGreaterThan(1);
    expect(text.value.readEnds.at(-1)).toBe(LONG.length);
    expect(seen).toEqual(text.value.readEnds);
  });

  test('is bytes', async () => {
    await proc.put(7, { files: { smaps: '/caf\xe9\xff\n' } });
    const text = await reader.readSmaps(7);
    expect(text.ok && text.value.text).toBe('/caf\xe9\xff\n');
  });

  test('is given up when cancelled, before and in the middle', async () => {
    await proc.put(7, { files: { maps: LONG } });
    expect(kindOf(await reader.readMaps(7, { signal: AbortSignal.abort() }))).toBe('cancelled');
    const controller = new AbortController();
    const reads: number[] = [];
    const progress = (bytes: number) => {
      reads.push(bytes);
      controller.abort();
    };
    expect(kindOf(await reader.readMaps(7, { signal: controller.signal, progress }))).toBe('cancelled');
    expect(reads).toHaveLength(1);
  });

  test('is given up when it is larger than allowed', async () => {
    await proc.put(7, { files: { maps: LONG } });
    expect(kindOf(await new ProcReader(proc.root, LONG.length - 1).readMaps(7))).toBe('too-large');
    expect(kindOf(await new ProcReader(proc.root, LONG.length).readMaps(7))).toBe('ok');
  });
});

test.skipIf(!existsSync('/proc/self/fd'))('no file stays open', async () => {
  await proc.put(7, { files: { maps: LONG } });
  const openFiles = () => readdirSync('/proc/self/fd').length;
  await reader.readMaps(7);
  const before = openFiles();
  for (let i = 0; i < 20; i++) {
    await reader.readMaps(7);
    await reader.readMaps(7, { signal: AbortSignal.abort() });
    await new ProcReader(proc.root, 1).readMaps(7);
  }
  expect(openFiles()).toBeLessThan(before + 20);
});

describe('why there is none', () => {
  test('no such process', async () => {
    expect(await reader.readMaps(99)).toMatchObject({
      ok: false,
      error: { kind: 'gone', pid: 99, help: [] },
    });
  });

  test('hidden, perhaps', async () => {
    await proc.write('self/mountinfo', `22 27 0:21 / ${proc.root} rw - proc proc rw,hidepid=2\n`);
    const result = await reader.readMaps(99);
    expect(result).toMatchObject({ ok: false, error: { kind: 'gone' } });
    expect(result.ok ? '' : result.error.help.join()).toContain('hidepid=2');
  });

  test('gone for sure where hidepid hides no process', async () => {
    await proc.write('self/mountinfo', `22 27 0:21 / ${proc.root} rw - proc proc rw,hidepid=1\n`);
    expect(await reader.readMaps(99)).toMatchObject({ ok: false, error: { kind: 'gone', help: [] } });
  });

  test('a kernel thread', async () => {
    await proc.put(7, { flags: PF_KTHREAD, files: { maps: '' } });
    expect(kindOf(await reader.readMaps(7))).toBe('kernel-thread');
    expect(kindOf(await reader.exe(7))).toBe('kernel-thread');
  });

  test('a zombie', async () => {
    await proc.put(7, { state: 'Z', files: { maps: '' } });
    expect(kindOf(await reader.readMaps(7))).toBe('zombie');
    expect(kindOf(await reader.exe(7))).toBe('zombie');
  });

  test('a zombie whose other threads run is read through one of them', async () => {
    await proc.put(7, {
      state: 'Z',
      files: {
        maps: '',
        'task/7/stat': statText(7, { state: 'Z' }),
        'task/8/stat': statText(8, { state: 'S' }),
        'task/8/maps': MAPS,
      },
    });
    const text = await reader.readMaps(7);
    expect(text.ok && text.value.text).toBe(MAPS);
  });

  test('no procfs', async () => {
    const nowhere = new ProcReader(join(proc.root, 'nowhere'));
    expect(kindOf(await nowhere.readMaps(1))).toBe('no-proc');
    expect(kindOf(await nowhere.listProcesses())).toBe('no-proc');
    expect(await nowhere.kernelRelease()).toBeNull();
  });

  test('a file that this kernel does not have', async () => {
    await proc.put(7, { files: { maps: MAPS } });
    const result = await reader.readSmapsRollup(7);
    expect(kindOf(result)).toBe('failed');
    expect(result.ok ? '' : result.error.text).toContain('smaps_rollup');
  });

  test('a stat that cannot be understood', async () => {
    await proc.put(7, { files: { stat: 'nonsense', maps: MAPS } });
    expect(kindOf(await reader.readMaps(7))).toBe('failed');
  });

  test('an answer that nobody expects', async () => {
    await proc.put(7, {});
    await proc.write('7/maps/inside', '');
    const result = await reader.readMaps(7);
    expect(kindOf(result)).toBe('failed');
    expect(result.ok ? '' : result.error.text).toContain('EISDIR');
  });
});

describe('a process that changes while it is read', () => {
  /** Reads maps of 7, doing `change` after the first read. */
  async function during(change: () => void): Promise<string> {
    await proc.put(7, { files: { maps: LONG } });
    return kindOf(await reader.readMaps(7, { progress: change }));
  }
  const restat = (process: Parameters<typeof statText>[1]) => () =>
    writeFileSync(join(proc.root, '7', 'stat'), statText(7, process));

  test('stays the same', async () => {
    expect(await during(restat({ state: 'R' }))).toBe('ok');
  });

  test('ends', async () => {
    expect(await during(() => rmSync(join(proc.root, '7'), { recursive: true, force: true }))).toBe('exited');
  });

  test('ends and waits for its parent', async () => {
    expect(await during(restat({ state: 'Z' }))).toBe('exited');
  });

  test('ends and its pid is used again', async () => {
    expect(await during(restat({ startTime: 101 }))).toBe('exited');
  });

  test('executes another program', async () => {
    expect(await during(restat({ startStack: 9001, comm: 'other' }))).toBe('replaced');
  });

  test('loses its address space before its state says so', async () => {
    await proc.put(7, { files: { maps: '' } });
    expect(kindOf(await reader.readMaps(7))).toBe('exited');
  });
});

describe('what is known of a process', () => {
  test('its name, arguments, status and program', async () => {
    await proc.put(7, { comm: 'a) b', files: { cmdline: 'caf\xc3\xa9\0--x=\xff\0' } });
    await symlink(Buffer.from('/opt/caf\xe9 (deleted)', 'latin1'), join(proc.root, '7', 'exe'));
    expect(await reader.comm(7)).toEqual({ ok: true, value: 'a) b' });
    expect(await reader.cmdline(7)).toEqual({ ok: true, value: ['caf\u00e9', '--x=\udcff'] });
    const status = await reader.status(7);
    expect(status.ok && status.value.get('VmRSS')).toBe('44 kB');
    expect(await reader.exe(7)).toEqual({ ok: true, value: { path: '/opt/caf\udce9', deleted: true } });
  });

  test('nothing, when it is gone', async () => {
    for (const result of [
      await reader.comm(9),
      await reader.cmdline(9),
      await reader.status(9),
      await reader.exe(9),
    ]) {
      expect(kindOf(result)).toBe('gone');
    }
  });

  test('the list, by pid', async () => {
    await proc.put(30, { comm: 'thirty', uid: 1000, state: 'R' });
    await proc.put(4, {
      comm: 'kthread',
      flags: PF_KTHREAD,
      files: { status: 'Name:\tkthread\nUid:\t0\t0\t0\t0\n' },
    });
    await proc.write('not-a-pid/stat', '');
    const list = await reader.listProcesses();
    if (!list.ok) throw new Error(list.error.text);
    expect(list.value.unreadable).toEqual([]);
    expect(list.value.processes.map(({ pid }) => pid)).toEqual([1, 4, 30]);
    expect(list.value.processes[1]).toMatchObject({ kernelThread: true, cmdline: [], rssKb: null, uid: 0 });
    expect(list.value.processes[2]).toEqual({
      pid: 30,
      ppid: 1,
      comm: 'thirty',
      cmdline: ['thirty', '-x'],
      uid: 1000,
      state: 'R',
      kernelThread: false,
      threads: 1,
      startTime: '100',
      sizeKb: 88,
      rssKb: 44,
      swapKb: null,
    });
  });

  test('the list leaves out what ends meanwhile', async () => {
    await proc.put(5, {});
    await proc.remove('5/stat');
    const list = await reader.listProcesses();
    expect(list.ok && list.value.processes.map(({ pid }) => pid)).toEqual([1]);
  });

  test('the list can be cancelled', async () => {
    expect(kindOf(await reader.listProcesses({ signal: AbortSignal.abort() }))).toBe('cancelled');
  });

  test('the release of the kernel', async () => {
    await proc.write('sys/kernel/osrelease', '6.12.1-test\n');
    expect(await reader.kernelRelease()).toBe('6.12.1-test');
  });
});

// The super-user may read everything, whatever the mode of a file says.
test.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
  await proc.put(7, { files: { maps: MAPS } });
  await chmod(join(proc.root, '7', 'maps'), 0);
  expect(kindOf(await reader.readMaps(7))).toBe('not-permitted');
});
