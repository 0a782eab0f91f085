import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/cli/styled';
import { unsafeCharacters, vmalens } from './vmalens';

describe('demo', () => {
  it.each([80, 120])('fits a terminal of %i columns', async (terminal) => {
    const { status, lines, out, err } = await vmalens(['demo'], { terminal, env: { NO_COLOR: '1' } });
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(terminal);
    expect(unsafeCharacters(out)).toEqual([]);
  });

  it('tells the numbers of the example', async () => {
    const { out } = await vmalens(['demo'], { terminal: 120, env: { NO_COLOR: '1' } });
    // media/example/README.md says the same by hand.
    expect(out).toMatch(/line 16 .*"plugin arena" +1 → 3/);
    expect(out).toMatch(/"code cache" +4 → 8 +8 → 12 +11 → 14 +11 → 15/);
    expect(out).toMatch(/before {2}40000000 │A+ rw-│A+ r--│A+ rw-│ 40040000/);
    expect(out).toMatch(/after {3}40000000 │B+ rw-│A+ r--│A+ rw-│ 40040000/);
    expect(out).toMatch(/"plugin arena" +6 → 5/);
    expect(out).toMatch(/line 58 +27 .*munmap.* "code cache" +12 → 11/);
    for (const line of [76, 77, 78, 79, 80]) {
      expect(out).toMatch(new RegExp(`line ${line} .* EPERM +\\[anon:config\\], line 32`));
    }
    expect(out).toContain('line 81  40050000-40058000 was rw-p and is r--p now');
    expect(out).toContain('line 82  40050000-40058000 stays mapped, cut into 16 kB r--p + 16 kB r--p');
    expect(out).toMatch(/By the rules of Linux 6\.11, .* the same calls\s+change nothing/);
  });

  it('takes no arguments', async () => {
    expect((await vmalens(['demo', 'x'])).status).toBe(2);
  });
});
