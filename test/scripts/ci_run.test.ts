import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

/** .ci/run with an npm and a package list of our own making: only its counting and its exit status are real. */
const root = mkdtempSync(join(tmpdir(), 'vma-lens-ci-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});
for (const folder of ['.ci', '.cache', 'bin', 'test/e2e']) mkdirSync(join(root, folder), { recursive: true });
cpSync(join(import.meta.dirname, '..', '..', '.ci', 'run'), join(root, '.ci', 'run'));

const NPM = `#!/bin/sh
case "$*" in
  ci) exit "$CI_STATUS" ;;
  test) printf '%s' "$UNIT_JSON" >.cache/vitest.json; exit "$TEST_STATUS" ;;
  'run test:e2e') mkdir -p test/e2e/out; printf '%s' "$E2E_JSON" >test/e2e/out/results.json; exit "$E2E_STATUS" ;;
esac
`;
writeFileSync(join(root, 'bin', 'npm'), NPM, { mode: 0o755 });
writeFileSync(join(root, 'bin', 'dpkg-query'), '#!/bin/sh\nprintf installed\n', { mode: 0o755 });

const GOOD = {
  CI_STATUS: '0',
  TEST_STATUS: '0',
  UNIT_JSON: '{"numPassedTests":12,"numFailedTests":0,"numPendingTests":1,"success":true}',
  E2E_STATUS: '0',
  E2E_JSON: '{"passed":5,"failed":0}',
};

function run(changes: Partial<typeof GOOD>): {
  readonly status: number | null;
  readonly last: string | undefined;
} {
  const env = {
    ...process.env,
    ...GOOD,
    ...changes,
    PATH: `${join(root, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  const { status, stdout } = spawnSync('bash', ['.ci/run'], { cwd: root, env, encoding: 'utf8' });
  return { status, last: stdout.trimEnd().split('\n').at(-1) };
}

test('the CI run adds up both runners', () => {
  expect(run({})).toEqual({ status: 0, last: '17 passed, 0 failed' });
});

test.each([
  ['an installation that fails', { CI_STATUS: '7' }, '0 passed, 1 failed'],
  [
    'failed tests',
    { TEST_STATUS: '1', UNIT_JSON: GOOD.UNIT_JSON.replace('"numFailedTests":0', '"numFailedTests":2') },
    '12 passed, 2 failed',
  ],
  [
    'a test file that does not load',
    { UNIT_JSON: GOOD.UNIT_JSON.replace('true', 'false') },
    '17 passed, 1 failed',
  ],
  [
    'failed end-to-end tests',
    { E2E_STATUS: '1', E2E_JSON: '{"passed":4,"failed":1}' },
    '16 passed, 1 failed',
  ],
  ['an end-to-end run that dies', { E2E_STATUS: '137', E2E_JSON: '{}' }, '12 passed, 1 failed'],
  ['an end-to-end run that tests nothing', { E2E_JSON: '{}' }, '12 passed, 1 failed'],
])('the CI run fails on %s', (_, changes, last) => {
  expect(run(changes)).toEqual({ status: 1, last });
});
