import { describe, expect, it } from 'vitest';
import { KERNEL_VERSIONS } from '../../src/mm/kernel_rules';
import { rulesVersionFor } from '../../src/replay/kernel_choice';

describe('rulesVersionFor', () => {
  it.each(KERNEL_VERSIONS)('takes %s as it is', (version) => {
    expect(rulesVersionFor(version)).toEqual({ version, exact: true });
  });

  it.each([
    ['6.12.3', '6.12', true],
    ['v6.12', '6.12', true],
    ['6.18.44-foo', '6.18', true],
    ['6.1.0-13-amd64', '6.1', true],
    ['7.3-rc1', '7.3', true],
    ['7.3+', '7.3', true],
    ['6.6', '6.1', false],
    ['6.9.12', '6.1', false],
    ['6.13', '6.12', false],
    ['7.0', '6.18', false],
    ['7.10', '7.3', false],
    ['10.0', '7.3', false],
    ['5.15.167.4-microsoft-standard-WSL2', '6.1', false],
    ['4.19', '6.1', false],
  ])('%s is replayed by the rules of %s (exactly: %s)', (release, version, exact) => {
    expect(rulesVersionFor(release)).toEqual({ version, exact });
  });

  it.each(['', '6', '6.', 'latest', 'v', 'Linux 6.1', '6.12x', '6.x', '123456.1'])(
    'does not know %j',
    (text) => {
      expect(rulesVersionFor(text)).toBeUndefined();
    },
  );
});
