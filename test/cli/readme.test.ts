import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, vmalens } from './vmalens';

/** What a text shows as a command with its output: `$ npx vmalens …` and the lines up to the next one. */
interface Shown {
  readonly command: string;
  readonly output: readonly string[];
}

function shownIn(file: string): Shown[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...output] = part.trimEnd().split('\n');
        return { command, output };
      }),
  );
}

/** Do `lines` hold all of `shown` in this order, without a gap but where a line `…` stands for one? */
function firstMissing(lines: readonly string[], shown: readonly string[]): string | undefined {
  let at = 0;
  let gap = false;
  for (const line of shown) {
    if (line === '…') {
      gap = true;
      continue;
    }
    const found = gap ? lines.indexOf(line, at) : at;
    if (lines[found] !== line) return line;
    at = found + 1;
    gap = false;
  }
  return gap || at === lines.length ? undefined : lines[at];
}

describe('README.md', () => {
  const shown = shownIn('README.md');

  it('shows commands', () => {
    expect(shown.length).toBeGreaterThan(3);
  });

  it.each(shown)('shows what it prints: $command', async ({ command, output }) => {
    const [npx, name, ...args] = command.split(' ');
    expect([npx, name]).toEqual(['npx', 'vmalens']);
    const before = process.cwd();
    process.chdir(ROOT);
    try {
      const { lines, err } = await vmalens(args);
      expect(err).toBe('');
      expect(firstMissing(lines, output)).toBeUndefined();
    } finally {
      process.chdir(before);
    }
  });
});
