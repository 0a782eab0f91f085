import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { KERNEL_VERSIONS } from '../../src/mm/kernel_rules';
import { statesLines, type StateLine } from '../../src/replay/states';
import { readTrace } from '../../src/trace/read_trace';

const CORPORA = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpora');
/** The arena in which all recorded calls work. */
const ARENA = { start: vpn(0x1000000), end: vpn(0x1000040) };

interface Recorded {
  readonly line: number;
  readonly pid: number;
  readonly vmas: readonly string[];
}

function read(name: string): string {
  return gunzipSync(readFileSync(join(CORPORA, name))).toString('latin1');
}

function asRecorded(state: StateLine): string[] {
  return state.vmas.map(
    (vma) =>
      `${vma.start}-${vma.end} ${vma.perms} ${vma.offset} ${vma.name || '-'} | ${vma.flags.join(' ')} `,
  );
}

describe.skipIf(!existsSync(CORPORA))('random calls that real kernels answered', () => {
  it.each(KERNEL_VERSIONS)('Linux %s: no result and no VMA list differs', (kernel) => {
    const trace = readTrace(read(`random-${kernel}.strace.gz`));
    const recorded = read(`random-${kernel}.jsonl.gz`)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded);
    const differences: string[] = [];
    let count = 0;
    let free = 0;
    for (const state of statesLines(trace, { kernel }, ARENA)) {
      const wanted = recorded[count++];
      const where = `line ${state.line} pid ${state.pid} ${state.call}`;
      if (wanted?.line !== state.line || wanted.pid !== state.pid) differences.push(`${where}: out of step`);
      else if (JSON.stringify(asRecorded(state)) !== JSON.stringify(wanted.vmas))
        differences.push(`${where}: VMAs`);
      if (state.call === 'clone') continue;
      if (state.predicted === '?') free++;
      else if (state.predicted !== state.recorded) {
        differences.push(`${where}: predicted ${state.predicted}, recorded ${state.recorded}`);
      }
    }
    expect(differences).toEqual([]);
    expect(count).toBe(recorded.length);
    // Only an address that the kernel chose freely has no prediction: about one call in a hundred.
    expect(free).toBeLessThan(recorded.length / 50);
  });
});
