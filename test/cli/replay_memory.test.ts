import { describe, expect, it } from 'vitest';
import { parsed, vmalens } from './vmalens';

/** 64 kB that may be reserved for nothing, then 32 kB that a system of 4 pages refuses. */
const TRACE = Buffer.from(
  '7 mmap(0x10000000, 65536, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0) = 0x10000000\n' +
    '7 mmap(0x20000000, 32768, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory)\n',
);

/** Recorded and predicted result and the flags of the only VMA, after each call. */
async function states(...options: readonly string[]): Promise<string[]> {
  const { status, lines } = await vmalens(['replay', '-', '--states', ...options], { stdin: TRACE });
  expect(status).toBe(0);
  return lines.map((line) => {
    const { recorded, predicted, vmas } = JSON.parse(line) as {
      readonly recorded: string;
      readonly predicted: string;
      readonly vmas: readonly { readonly flags: readonly string[] }[];
    };
    return `${recorded} ${predicted} ${vmas.map((vma) => vma.flags.join(' ')).join(', ')}`;
  });
}

describe('the memory of the traced system', () => {
  it('refuses one request of more than all of it, where it guesses', async () => {
    const kept = 'rd wr mr mw me nr';
    const asked = [`0x10000000 0x10000000 ${kept}`, `ENOMEM ENOMEM ${kept}`];
    expect(await states('--commit-pages', '7')).toEqual(asked);
    expect(await states('--overcommit', 'guess', '--commit-pages', '7')).toEqual(asked);
    const enough = [`0x10000000 0x10000000 ${kept}`, `ENOMEM 0x20000000 ${kept}`];
    expect(await states('--commit-pages', '8')).toEqual(enough);
    expect(await states()).toEqual(enough);
    expect(await states('--overcommit', 'always')).toEqual(enough);
  });

  it('is charged for everything where it never overcommits', async () => {
    expect((await states('--overcommit', 'never'))[0]).toBe('0x10000000 0x10000000 rd wr mr mw me ac');
  });

  it('reaches the summary, and verify too', async () => {
    const summary = async (...options: readonly string[]) =>
      parsed((await vmalens(['replay', '-', '--json', ...options], { stdin: TRACE })).out).mismatches;
    expect(await summary()).toMatchObject([{ line: 2, mismatch: { code: 'limit-unknown' } }]);
    expect(await summary('--commit-pages', '4')).toEqual([]);
    expect((await vmalens(['verify', '/nonexistent', '--commit-pages', '4'])).status).toBe(3);
  });

  it.each([
    [['--overcommit', '2'], "--overcommit takes guess, always, never, not '2'"],
    [['--overcommit', ''], "--overcommit takes guess, always, never, not ''"],
    [['--commit-pages', '0'], "--commit-pages takes a number, not '0'"],
    [['--commit-pages', '1GB'], "--commit-pages takes a number, not '1GB'"],
    [['--commit-pages', '-4'], 'argument is ambiguous'],
    [
      ['--overcommit', 'never', '--commit-pages', '4'],
      '--commit-pages is what --overcommit guess asks; never does not look at a single request',
    ],
  ])('%j is wrong usage', async (options, words) => {
    for (const command of ['replay', 'verify']) {
      const { status, out, err } = await vmalens([command, '-', ...options], { stdin: TRACE });
      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(err).toContain(words);
      expect(err.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  it('is in the help', async () => {
    for (const command of ['replay', 'verify']) {
      const { out } = await vmalens([command, '--help']);
      expect(out).toContain('--overcommit MODE');
      expect(out).toContain('--commit-pages N');
    }
  });
});
