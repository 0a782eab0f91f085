import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fixture, parsed, unsafeCharacters, vmalens } from './vmalens';

const HOSTILE = fixture('hostile.maps');
const SEALED = fixture('sealed.smaps');

async function json(args: readonly string[]) {
  const { status, out } = await vmalens(['maps', ...args, '--json']);
  expect(status).toBe(0);
  return parsed(out);
}

describe('maps --json', () => {
  it('gives every mapping in the documented shape', async () => {
    const { target, vmas, totals, problems } = await json([SEALED]);
    expect(target).toBe(SEALED);
    expect(problems).toEqual([]);
    expect(vmas).toHaveLength(6);
    expect(vmas[3]).toMatchObject({
      start: '10000000',
      end: '10008000',
      perms: 'r--p',
      offset: '0',
      dev: '00:00',
      inode: '0',
      path: '[anon:config]',
      name: 'config',
      sealed: true,
      deleted: false,
      flags: ['rd', 'mr', 'mw', 'me', 'ac', 'sl'],
      smaps: { Size: 32, Rss: 8, Pss: 8, Swap: 0, THPeligible: 0 },
    });
    expect(vmas[0]).toMatchObject({
      start: '400000',
      offset: '1000',
      name: null,
      sealed: false,
      kind: 'code',
    });
    expect(totals).toMatchObject({ vmas: 6, bytes: 1728 * 1024, smaps: { Rss: 1420, Swap: 40 } });
    expect(totals.sealed).toEqual({ state: 'some', vmas: 1, bytes: 32 * 1024, unknown: 0 });
  });

  it('keeps texts exact: newline, bytes that are not UTF-8, inodes past 2^53', async () => {
    const { vmas } = await json([HOSTILE]);
    expect(vmas[1]?.path).toBe('/tmp/two\nlines');
    expect(vmas[3]?.inode).toBe('18446744073709551615');
    expect(vmas[4]).toMatchObject({ path: '/tmp/caf\udce9', deleted: true });
    expect(vmas[7]).toMatchObject({ start: 'ffffffffff600000', end: 'ffffffffff601000' });
    // A plain map does not tell.
    expect(vmas[0]).toMatchObject({ sealed: null, smaps: null, flags: [], flagsKnown: false });
  });

  it('is one document that a terminal cannot act on', async () => {
    const { out } = await vmalens(['maps', HOSTILE, '--json'], { terminal: 80 });
    expect(unsafeCharacters(out)).toEqual([]);
    expect(out).toContain('\\udce9');
    expect(parsed(out).vmas[2]?.path).toBe('/tmp/\u202egnp.exe');
  });

  it('filters, and sums what is left', async () => {
    const { vmas, totals } = await json([SEALED, '--filter', 'flag:sl']);
    expect(vmas.map((vma) => vma.path)).toEqual(['[anon:config]']);
    expect(totals.vmas).toBe(1);
  });

  it('groups by reference to the list of mappings', async () => {
    const { vmas, groups } = await json([SEALED, '--group-by', 'perms']);
    const group = groups.find((each) => each.label === 'r--p');
    expect(group?.vmas.map((place) => vmas[place]?.perms)).toEqual(['r--p', 'r--p']);
    expect(groups.flatMap((each) => each.vmas)).toHaveLength(vmas.length);
  });

  it('reports problems in the document and on standard error, with status 0', async () => {
    const text = Buffer.from('nonsense\n00400000-00401000 r-xp 00000000 fe:00 12 /bin/x\n');
    const { status, out, err } = await vmalens(['maps', '-', '--json'], { stdin: text });
    expect(status).toBe(0);
    expect(err).toMatch(/^-:1: .+\n$/);
    const { vmas, problems } = parsed(out);
    expect(vmas).toHaveLength(1);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ line: 1 });
    expect(Object.keys(problems[0] ?? {})).toEqual(['line', 'code', 'text']);
  });
});

describe('maps --text', () => {
  it.each([HOSTILE, SEALED])('writes %s back byte for byte', async (file) => {
    const { bytes, err } = await vmalens(['maps', file, '--text']);
    expect(bytes.equals(readFileSync(file))).toBe(true);
    expect(err).toBe('');
  });

  it('writes any bytes back, also what is not maps at all', async () => {
    const text = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256));
    const { bytes } = await vmalens(['maps', '-', '--text'], { stdin: text });
    expect(bytes.equals(text)).toBe(true);
  });

  it('writes the lines of what matches', async () => {
    const { bytes } = await vmalens(['maps', SEALED, '--text', '--filter', 'perm:wx']);
    const text = readFileSync(SEALED, 'latin1');
    expect(bytes.toString('latin1')).toBe(text.slice(text.indexOf('10010000-10020000')));
  });

  it('does not pass control characters on to a terminal', async () => {
    const { out } = await vmalens(['maps', HOSTILE, '--text'], { terminal: 80 });
    expect(unsafeCharacters(out)).toEqual([]);
    expect(out).toContain('\\x1b[2J');
  });

  it('has no grouping', async () => {
    expect((await vmalens(['maps', SEALED, '--text', '--group-by', 'kind'])).status).toBe(2);
  });
});

describe('maps as a table', () => {
  it('never passes on what a terminal would act on', async () => {
    for (const args of [[], ['--group-by', 'name'], ['--group-by', 'mapping'], ['--group-by', 'kind']]) {
      const { out } = await vmalens(['maps', HOSTILE, ...args], { terminal: 100 });
      expect(unsafeCharacters(out)).toEqual([]);
      expect(out).toContain('\\x1b[2J');
      expect(out).toContain('\\u202e');
    }
  });

  it('has colours on a terminal only', async () => {
    const escape = '\u001b[';
    expect((await vmalens(['maps', SEALED], { terminal: 80 })).out).toContain(escape);
    expect((await vmalens(['maps', SEALED], { terminal: 80, env: { NO_COLOR: '1' } })).out).not.toContain(
      escape,
    );
    expect((await vmalens(['maps', SEALED])).out).not.toContain(escape);
    expect((await vmalens(['maps', SEALED, '--color'])).out).toContain(escape);
    expect((await vmalens(['--color=never', 'maps', SEALED], { terminal: 80 })).out).not.toContain(escape);
  });

  it('fits a terminal of 80 columns, and shows all of a path elsewhere', async () => {
    const text = Buffer.from(
      `7f0000000000-7f0000001000 r-xp 00000000 fe:00 12 /usr/${'long/'.repeat(20)}lib.so\n`,
    );
    const cut = await vmalens(['maps', '-'], { stdin: text, terminal: 80, env: { NO_COLOR: '1' } });
    expect(Math.max(...cut.lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(cut.out).toContain('long/lib.so');
    expect((await vmalens(['maps', '-'], { stdin: text })).out).toContain('/usr/long/long');
  });

  it('tells sealed, locked, writable and executable, and the totals', async () => {
    const { out } = await vmalens(['maps', SEALED]);
    expect(out).toMatch(/^10000000-10008000 .* sealed \[anon:config\]$/m);
    expect(out).toMatch(/^10008000-10010000 .* locked \[anon:keys\]$/m);
    expect(out).toMatch(/^10010000-10020000 .* w\+x \[anon:jit\]$/m);
    expect(out).toContain('6 mappings, 1.7 MiB; RSS 1.4 MiB, PSS 1.2 MiB, swap 40 kB');
    expect(out).toContain('sealed  1 of 6 mappings');
  });

  it('says that a plain map does not show seals', async () => {
    expect((await vmalens(['maps', HOSTILE])).out).toContain('sealed  unknown');
  });
});

describe('maps --csv', () => {
  it('is RFC 4180 and holds no formula and no control character', async () => {
    const { out } = await vmalens(['maps', HOSTILE, '--csv']);
    const rows = out.split('\r\n');
    expect(rows[0]).toBe('start,end,perms,offset,dev,inode,path,name,kind,sealed,deleted,bytes,flags');
    expect(rows[6]).toBe(
      `604000,605000,rwxp,0,00:00,0,"[anon:=cmd|""/c calc""!A1]","'=cmd|""/c calc""!A1",named,,false,4096,`,
    );
    expect(unsafeCharacters(out.replaceAll('\r\n', ''))).toEqual([]);
    expect(rows).toHaveLength(10);
  });

  it('has a column for each smaps field, and the group', async () => {
    const { lines } = await vmalens(['maps', SEALED, '--csv', '--group-by', 'kind']);
    expect(lines[0]).toContain(',Rss,Pss,');
    expect(lines[1]?.startsWith('Code,400000,480000,r-xp,')).toBe(true);
  });
});

describe('what maps reads', () => {
  it('reads gzip, from a file name or from standard input', async () => {
    const plain = readFileSync(SEALED);
    const { bytes, status } = await vmalens(['maps', '-', '--text'], { stdin: gzipSync(plain) });
    expect(status).toBe(0);
    expect(bytes.equals(plain)).toBe(true);
  });

  it.runIf(process.platform === 'linux')('reads a live process: itself', async () => {
    const { status, out } = await vmalens(['maps', 'self', '--json']);
    expect(status).toBe(0);
    const { source, vmas } = parsed(out);
    expect(source).toMatchObject({ pid: process.pid, file: 'smaps' });
    expect(vmas.some((vma) => vma.path === '[stack]')).toBe(true);
  });

  it.runIf(process.platform === 'linux')('says in one line that a process is not there', async () => {
    const { status, out, err } = await vmalens(['maps', '4194304']);
    expect(status).toBe(3);
    expect(out).toBe('');
    expect(err.split('\n')).toHaveLength(2);
    expect(err).toContain('4194304');
  });

  it.each([
    [['maps', '/nonexistent/file'], 3],
    [['maps', '/'], 3],
    [['maps'], 2],
    [['maps', 'a', 'b'], 2],
    [['maps', SEALED, '--nonsense'], 2],
    [['maps', SEALED, '--group-by', 'colour'], 2],
    [['maps', SEALED, '--json', '--csv'], 2],
    [['maps', SEALED, '--filter', 'foo:bar'], 2],
    [['maps', SEALED, '--filter', 'name:"open'], 2],
  ])('%j has status %i', async (args, expected) => {
    const { status, out, err } = await vmalens(args);
    expect(status).toBe(expected);
    expect(out).toBe('');
    expect(err).not.toBe('');
    expect(err.split('\n')).toHaveLength(2);
    if (expected === 2) expect(err).toContain('vmalens maps --help');
  });

  it.each([
    [
      '7 1700000000.000001 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x1000',
      'vmalens replay -',
    ],
    ['Dear diary,\nnothing.', 'no line begins with an address range'],
    ['type=SYSCALL msg=audit(1.1:2): x', 'log of auditd'],
  ])('says in one line what else a file is: %s', async (text, words) => {
    const { status, out, err } = await vmalens(['maps', '-'], { stdin: Buffer.from(`${text}\n`) });
    expect(status).toBe(3);
    expect(out).toBe('');
    expect(err.split('\n')).toHaveLength(2);
    expect(err).toContain(words);
  });

  it('has doubts about a file that is mostly something else', async () => {
    const text = `# Title\n\nMuch\nis\nsaid.\n${readFileSync(HOSTILE, 'latin1').split('\n')[0] ?? ''}\n`;
    const { status, err } = await vmalens(['maps', '-'], { stdin: Buffer.from(text) });
    expect(status).toBe(0);
    expect(err).toContain('only 1 of its 5 lines are mappings');
    expect((await vmalens(['maps', HOSTILE])).err).not.toContain('is it a maps file');
  });

  it('shows the sums of an smaps_rollup', async () => {
    const text = '400000-7ffd00002000 ---p 00000000 00:00 0    [rollup]\nRss:   880 kB\nPss:   2048 kB\n';
    const table = await vmalens(['maps', '-'], { stdin: Buffer.from(text) });
    expect(table.out).toMatch(/^ {2}Rss +880 kB\n {2}Pss +2 MiB$/m);
    expect(table.out).not.toContain('0 mappings');
    const document = parsed((await vmalens(['maps', '-', '--json'], { stdin: Buffer.from(text) })).out);
    expect(document).toMatchObject({
      vmas: [],
      rollup: { start: '400000', end: '7ffd00002000', smaps: { Rss: 880, Pss: 2048 } },
    });
  });

  it('stops when nobody reads any more', async () => {
    const line = '7f0000000000-7f0000001000 r-xp 00000000 fe:00 12 /usr/lib/lib.so\n';
    const many = Buffer.from(line.repeat(20_000));
    const { status, bytes } = await vmalens(['maps', '-', '--csv'], { stdin: many, closeAfter: 1 });
    expect(status).toBe(0);
    expect(bytes.length).toBeLessThan(200_000);
  });
});
