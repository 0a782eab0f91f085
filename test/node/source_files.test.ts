import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readFileBytes, readStreamBytes } from '../../src/node/source_bytes';
import { sourceErrorLine, type SourceError } from '../../src/node/source_error';
import { findRecordedTrace, loadMaps, loadTrace } from '../../src/node/sources';
import type { Result } from '../../src/base/result';

const folder = mkdtempSync(path.join(tmpdir(), 'vmalens-sources-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

let count = 0;
function file(content: string | Uint8Array, name = `file-${count++}`): string {
  const full = path.join(folder, name);
  writeFileSync(full, content);
  return full;
}

function errorOf<T>(result: Result<T, SourceError>): SourceError {
  if (result.ok) throw new Error('it was expected to fail');
  return result.error;
}

function valueOf<T>(result: Result<T, SourceError>): T {
  if (!result.ok) throw new Error(sourceErrorLine(result.error));
  return result.value;
}

describe('readFileBytes', () => {
  it('gives every byte', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 31) % 256);
    const read = valueOf(await readFileBytes(file(bytes)));
    expect(Buffer.from(read.bytes, 'latin1').equals(bytes)).toBe(true);
    expect(read.problems).toEqual([]);
  });

  it('tells its progress', async () => {
    const seen: number[] = [];
    await readFileBytes(file(new Uint8Array(300_000)), { progress: (bytes) => seen.push(bytes) });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toBe(300_000);
  });

  it('has words for what the file system refuses', async () => {
    expect(errorOf(await readFileBytes(path.join(folder, 'nothing')))).toMatchObject({
      code: 'not-found',
      text: 'no such file',
    });
    expect(errorOf(await readFileBytes(folder)).code).toBe('is-directory');
    expect(errorOf(await readFileBytes(path.join(file('x'), 'y'))).code).toBe('not-found');
    expect(errorOf(await readFileBytes('x'.repeat(5000))).code).toBe('not-found');
    symlinkSync('loop', path.join(folder, 'loop'));
    expect(errorOf(await readFileBytes(path.join(folder, 'loop'))).text).toContain('symbolic links');
  });

  it.skipIf(process.getuid?.() === 0)('says that it is not permitted', async () => {
    const secret = file('x');
    chmodSync(secret, 0);
    expect(errorOf(await readFileBytes(secret)).code).toBe('not-permitted');
  });

  it('stops when it is cancelled', async () => {
    expect(errorOf(await readFileBytes(file('x'), { signal: AbortSignal.abort() })).code).toBe('cancelled');
    const controller = new AbortController();
    const result = await readFileBytes(file(new Uint8Array(1_000_000)), {
      signal: controller.signal,
      progress: () => {
        controller.abort();
      },
    });
    expect(errorOf(result).code).toBe('cancelled');
  });

  it('is one printable line whatever the file is called', () => {
    const line = sourceErrorLine({ code: 'not-found', subject: 'a\u001b[2J\nb', text: 'no such file' });
    expect(line).toBe('a\\x1b[2J\\x0ab: no such file');
  });
});

describe('compressed files', () => {
  const text = Array.from({ length: 5000 }, (_, i) => `line ${(i * 7919) % 5003}\n`).join('');

  it('unpacks gzip, several members too', async () => {
    const twice = Buffer.concat([gzipSync(text), gzipSync('end\n')]);
    expect(valueOf(await readFileBytes(file(twice))).bytes).toBe(`${text}end\n`);
  });

  it.each([0.3, 0.7, 0.99])('keeps what a file cut at %d still holds', async (part) => {
    const packed = gzipSync(text);
    const read = valueOf(await readFileBytes(file(packed.subarray(0, Math.floor(packed.length * part)))));
    expect(text.startsWith(read.bytes)).toBe(true);
    expect(read.bytes.length).toBeGreaterThan(text.length * part * 0.4);
    expect(read.problems).toMatchObject([
      { code: 'gzip-damaged', line: Math.max(1, read.bytes.split('\n').length) },
    ]);
  });

  it('has nothing to give when nothing can be unpacked', async () => {
    expect(errorOf(await readFileBytes(file(gzipSync(text).subarray(0, 12)))).code).toBe('damaged');
  });

  it.each([
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
    ['bzip2', [0x42, 0x5a, 0x68]],
    ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ])('says how to unpack %s', async (name, magic) => {
    const error = errorOf(await readFileBytes(file(Uint8Array.from([...magic, 1, 2, 3]))));
    expect(error.code).toBe('packed');
    expect(sourceErrorLine(error)).toContain(name);
    expect(error.help).toContain('unpack it first');
  });

  it('reads a stream of any pieces', async () => {
    const packed = gzipSync(text);
    async function* pieces() {
      for (const byte of packed.subarray(0, 20)) {
        await Promise.resolve();
        yield Buffer.from([byte]);
      }
      yield packed.subarray(20);
    }
    expect(valueOf(await readStreamBytes('-', pieces())).bytes).toBe(text);
  });
});

describe('loadTrace', () => {
  const trace = '7 brk(NULL) = 0x10000000\n7 exit_group(0) = ?\n';
  const maps = '00400000-00401000 r-xp 00000000 fe:00 9 /bin/x\n';

  it('finds the snapshots beside a trace, in order, and nothing else', async () => {
    const place = path.join(folder, 'recording');
    mkdirSync(place);
    const put = (name: string, content: string | Uint8Array) => {
      writeFileSync(path.join(place, name), content);
    };
    put('x.strace', trace);
    put('01-b.7.maps', maps);
    put('00-a.7.smaps.gz', gzipSync(maps));
    put('02-bad.7.maps', 'nonsense\n');
    put('notes.txt', 'x');
    put('maps', maps);
    mkdirSync(path.join(place, '03-folder.7.maps'));
    const loaded = valueOf(await loadTrace(path.join(place, 'x.strace')));
    expect(loaded.trace.events).toHaveLength(2);
    expect(loaded.snapshots.map(({ label, pid, entries }) => [label, pid, entries.length])).toEqual([
      ['00-a.7.smaps', 7, 1],
      ['01-b.7.maps', 7, 1],
      ['02-bad.7.maps', 7, 0],
    ]);
    expect(loaded.snapshots[2]?.problems).not.toEqual([]);
    expect(loaded.snapshotErrors.map((error) => error.code)).toEqual(['is-directory']);
    expect(valueOf(await loadTrace(path.join(place, 'x.strace'), { snapshots: false })).snapshots).toEqual(
      [],
    );
    expect(valueOf(await findRecordedTrace(place))).toBe(path.join(place, 'x.strace'));
  });

  it('takes the pid from a name as strace -ff gives it', async () => {
    const loaded = valueOf(await loadTrace(file('brk(NULL) = 0x10000000\n', 'ff.4711')));
    expect(loaded.trace.events[0]?.pid).toBe(4711);
  });

  it('passes refusals on', async () => {
    expect(errorOf(await loadTrace(path.join(folder, 'nothing'))).code).toBe('not-found');
    expect(errorOf(await loadTrace('-')).code).toBe('unfit');
    expect(errorOf(await findRecordedTrace(path.join(folder, 'nothing'))).code).toBe('not-found');
  });
});

describe('loadMaps', () => {
  it('parses a file and keeps its text', async () => {
    const loaded = valueOf(await loadMaps({ kind: 'file', path: file('0-1000 r--p 0 0:0 0\nbad\n') }));
    expect(loaded.document.entries).toHaveLength(1);
    expect(loaded.problems).toHaveLength(1);
    expect(loaded.live).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('reads a live process, best, maps or smaps', async () => {
    const target = { kind: 'process', pid: process.pid } as const;
    const best = valueOf(await loadMaps(target));
    expect(best).toMatchObject({
      label: String(process.pid),
      document: { kind: 'smaps' },
      live: { file: 'smaps' },
    });
    expect(best.live?.release).toMatch(/^\d+\.\d+/);
    const maps = valueOf(await loadMaps(target, { file: 'maps' }));
    expect(maps).toMatchObject({ document: { kind: 'maps' }, live: { file: 'maps' } });
  });
});
