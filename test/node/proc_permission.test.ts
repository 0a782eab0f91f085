import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { notPermitted, permissionFacts, type PermissionFacts } from '../../src/node/proc_permission';
import { FakeProc } from './fake_proc';

const FACTS: PermissionFacts = {
  own: { real: 1000, effective: 1000 },
  ownCapSysPtrace: false,
  target: { real: 1000, effective: 1000 },
  targetDumpable: true,
  ptraceScope: null,
  hidepid: null,
};

function help(facts: Partial<PermissionFacts>): string {
  return notPermitted(7, { ...FACTS, ...facts }).help.join('\n');
}

describe('what would help', () => {
  test('the same user, for a process of another', () => {
    expect(help({ target: { real: 0, effective: 0 } })).toContain('belongs to user 0, this is user 1000');
    expect(help({})).not.toContain('belongs to user');
    expect(help({ target: undefined })).not.toContain('belongs to user');
  });

  test('the capability, or what refuses in spite of it', () => {
    expect(help({})).toContain('give this process the capability CAP_SYS_PTRACE');
    expect(help({ ownCapSysPtrace: true })).not.toContain('give this process');
    expect(help({ ownCapSysPtrace: true })).toContain('security module');
  });

  test('that the process is protected', () => {
    expect(help({ targetDumpable: false })).toContain('not dumpable');
    expect(help({ targetDumpable: null })).not.toContain('not dumpable');
  });

  test('how /proc is mounted', () => {
    expect(help({ hidepid: 'noaccess' })).toContain('hidepid=noaccess');
  });

  test('Yama, with what it does limit', () => {
    expect(help({ ptraceScope: '1' })).toContain('ptrace_scope is 1: it limits attaching');
    expect(help({ ptraceScope: '0' })).not.toContain('ptrace_scope');
  });
});

describe('the facts', () => {
  let proc: FakeProc;
  beforeEach(async () => {
    proc = await FakeProc.create();
  });
  afterEach(async () => {
    await proc.destroy();
  });

  test('come from the procfs', async () => {
    await proc.write('self/status', 'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000080000\n');
    await proc.write('self/mountinfo', `22 27 0:21 / ${proc.root} rw - proc proc rw,hidepid=1\n`);
    await proc.write('sys/kernel/yama/ptrace_scope', '2\n');
    await proc.put(7, { uid: 33 });
    expect(await permissionFacts(proc.root, 7)).toMatchObject({
      own: { real: 1000, effective: 1000 },
      ownCapSysPtrace: true,
      target: { real: 33, effective: 33 },
      ptraceScope: '2',
      hidepid: '1',
    });
  });

  test('are unknown where nothing can be read', async () => {
    expect(await permissionFacts(join(proc.root, 'nowhere'), 7)).toEqual({
      own: undefined,
      ownCapSysPtrace: false,
      target: undefined,
      targetDumpable: null,
      ptraceScope: null,
      hidepid: null,
    });
  });

  test('a process whose files belong to another user than it is not dumpable', async () => {
    const uid = process.getuid?.() ?? 0;
    await proc.put(7, { uid: uid + 1 });
    expect((await permissionFacts(proc.root, 7)).targetDumpable).toBe(false);
    await proc.put(8, { uid: 1 });
    if (uid === 0) await chown(join(proc.root, '8'), 1, 1);
    expect((await permissionFacts(proc.root, 8)).targetDumpable).toBe(uid === 0 || uid === 1);
  });

  test('of a process of root do not say whether it is dumpable', async () => {
    await proc.put(7, { uid: 0 });
    expect((await permissionFacts(proc.root, 7)).targetDumpable).toBeNull();
  });
});
