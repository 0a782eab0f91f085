import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomes, replayRecording } from './recording';

const TRACES = join(import.meta.dirname, '..', '..', '..', 'shared', 'traces');

describe.skipIf(!existsSync(TRACES))('recordings on real kernels, each from its first snapshot', () => {
  it.each([
    ['story-6.1', '6.1'],
    ['story-6.10', '6.10'],
    ['story-6.11', '6.11'],
    ['story-6.12', '6.12'],
    ['story-7.3', '7.3'],
    ['python-glibc-7.3', '7.3'],
  ] as const)('%s: every later snapshot is equal', (name, kernel) => {
    const [first, ...later] = outcomes(replayRecording(join(TRACES, name), kernel).checks);
    expect(first).toMatch(/ seed$/);
    expect(later).toHaveLength(5);
    expect(later.filter((outcome) => !outcome.endsWith(' equal'))).toEqual([]);
  });
});
