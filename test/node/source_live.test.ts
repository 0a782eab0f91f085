import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcReader } from '../../src/node/proc_reader';
import { sourceErrorLine } from '../../src/node/source_error';
import { readLiveMaps } from '../../src/node/source_live';
import { FakeProc } from './fake_proc';

const MAPS = '00400000-00401000 r-xp 00000000 fe:00 9                                  /bin/x\n';
const SMAPS = `${MAPS}Rss:                   4 kB\nVmFlags: rd ex \n`;

let fake: FakeProc;
beforeEach(async () => {
  fake = await FakeProc.create();
  await fake.write('sys/kernel/osrelease', '6.12.1\n');
});
afterEach(() => fake.destroy());

const read = (pid: number, file: 'best' | 'maps' | 'smaps') =>
  readLiveMaps(pid, file, {}, new ProcReader(fake.root));

describe('readLiveMaps', () => {
  it('reads smaps as the best, or the file that is asked for', async () => {
    await fake.put(42, { comm: 'server', files: { maps: MAPS, smaps: SMAPS } });
    expect(await read(42, 'best')).toEqual({
      ok: true,
      value: { bytes: SMAPS, source: { pid: 42, command: 'server', file: 'smaps', release: '6.12.1' } },
    });
    expect(await read(42, 'maps')).toMatchObject({ value: { bytes: MAPS, source: { file: 'maps' } } });
  });

  it('falls back to maps and says so', async () => {
    await fake.put(42, { files: { maps: MAPS } });
    const best = await read(42, 'best');
    expect(best).toMatchObject({ ok: true, value: { bytes: MAPS, source: { file: 'maps' } } });
    expect(best.ok && best.value.remark).toContain('smaps cannot be read');
    expect((await read(42, 'smaps')).ok).toBe(false);
  });

  it('has words for a process that is gone, a zombie and a kernel thread', async () => {
    await fake.put(7, { state: 'Z', files: { maps: '', smaps: '' } });
    await fake.put(8, { flags: 0x00200000, files: { maps: '', smaps: '' } });
    const lines = [];
    for (const pid of [6, 7, 8]) {
      const result = await read(pid, 'best');
      lines.push(result.ok ? 'read' : `${result.error.code} ${sourceErrorLine(result.error)}`);
    }
    expect(lines[0]).toMatch(/^not-found pid 6: /);
    expect(lines[1]).toMatch(/^no-memory-map pid 7: .*zombie/);
    expect(lines[2]).toMatch(/^no-memory-map pid 8: .*kernel thread/);
  });
});
