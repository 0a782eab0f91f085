import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareRecording, nearestRules } from './compare';
import { readRecording, unpackRecording } from './recording';

/** What real kernels did, recorded with the program in this folder. test/fixtures/kernel/README.md says how. */
const FOLDER = new URL('../fixtures/kernel/', import.meta.url);

const random = readdirSync(FOLDER).filter((name) => name.endsWith('.rec.br'));
const found = readdirSync(new URL('found/', FOLDER)).filter((name) => name.endsWith('.rec'));

describe('random calls on a real kernel', () => {
  it.each(random)('%s: every result and every list of VMAs', { timeout: 120_000 }, (name) => {
    const recording = readRecording(unpackRecording(readFileSync(new URL(name, FOLDER))));
    expect(recording.complete).toBe(true);
    expect(recording.records.length).toBeGreaterThan(10_000);
    const comparison = compareRecording(recording, { kernel: nearestRules(recording.release) });
    expect(comparison.differences.slice(0, 1)).toEqual([]);
    expect(comparison).toMatchObject({ calls: recording.records.length, maps: 0, results: 0 });
    // An address that the kernel chooses is the only thing that no rule predicts.
    expect(comparison.free / comparison.calls).toBeLessThan(0.03);
  });
});

describe('sequences that once differed', () => {
  it.each(found)('%s', (name) => {
    const recording = readRecording(readFileSync(new URL(`found/${name}`, FOLDER), 'latin1'));
    const comparison = compareRecording(recording, {
      kernel: nearestRules(recording.release),
      validate: true,
    });
    expect(comparison.calls).toBeGreaterThan(0);
    expect(comparison.differences).toEqual([]);
  });
});
