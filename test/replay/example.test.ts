import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasAny, VM_SEALED } from '../../src/mm/vm_flags';
import { atLine, nameCounts, objectCalled, outcomes, replayRecording } from './recording';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLE = join(ROOT, 'media', 'example');
const OLDER = join(ROOT, 'test', 'fixtures', 'replay');

/** The first snapshot begins, that of the freshly executed program (06) begins anew, all others must come out equal. */
const EXPECTED = [
  '00-start seed',
  '01-ready equal',
  '02-renaming equal',
  '03-grandchild equal',
  '04-unmapping equal',
  '05-refused equal',
  '06-report seed',
  '07-end equal',
];

describe('the example, recorded on three kernels', () => {
  it.each([
    ['7.3', EXAMPLE],
    ['6.12', join(OLDER, 'example-6.12')],
    ['6.1', join(OLDER, 'example-6.1')],
  ] as const)('comes to the maps that Linux %s printed', (kernel, folder) => {
    expect(outcomes(replayRecording(folder, kernel).checks)).toEqual(EXPECTED);
  });

  it('differs by the rules of another kernel', () => {
    // Linux 6.1 has no mseal: by its rules nothing is ever sealed.
    expect(outcomes(replayRecording(join(OLDER, 'example-6.12'), '6.1').checks)).not.toEqual(EXPECTED);
  });
});

describe('names in the example', () => {
  const replay = replayRecording(EXAMPLE, '7.3');

  it.each([
    // One naming call over one VMA, split into three by mprotect.
    [15, 'plugin arena', 1],
    [16, 'plugin arena', 3],
    // One call over three VMAs is one object; a thread splits one of them.
    [22, 'code cache', 3],
    [24, 'code cache', 4],
    // Fork takes references, except for what is not copied.
    [47, 'plugin arena', 6],
    [47, 'code cache', 8],
    [47, 'config', 2],
    [47, 'host journal', 1],
    // A rename in the child: its object is another one, the parent's loses a holder.
    [48, 'plugin arena', 5],
    [48, 'worker 1 arena', 1],
    // A child unmaps a piece.
    [57, 'code cache', 12],
    [58, 'code cache', 11],
    // A grandchild.
    [59, 'plugin arena', 11],
    [59, 'code cache', 14],
    [59, 'config', 4],
    [61, 'grandchild arena', 3],
    [61, 'plugin arena', 8],
    // A refused munmap leaves a split, an advice splits a sealed VMA.
    [81, 'code cache', 15],
    [82, 'code cache', 16],
    [83, 'config', 3],
    [83, 'config (inspected)', 1],
    [84, 'config (inspected)', 2],
    // All workers have ended.
    [99, 'plugin arena', 3],
    [99, 'code cache', 4],
    [99, 'config', 1],
    // Three pieces merge into one.
    [123, 'plugin arena', 1],
  ])('at line %i "%s" has %i references', (line, text, refs) => {
    const object = objectCalled(atLine(replay, line), text);
    expect(object?.refs).toBe(refs);
    expect(object?.holders).toHaveLength(refs);
  });

  it('frees an object with its last holder', () => {
    expect(objectCalled(atLine(replay, 66), 'grandchild arena')?.refs).toBe(3);
    expect(objectCalled(atLine(replay, 67), 'grandchild arena')).toBeUndefined();
    expect(objectCalled(atLine(replay, 124), 'plugin arena')).toBeUndefined();
  });

  it('shares one object between parent and child, and tells who holds it', () => {
    const before = objectCalled(atLine(replay, 46), 'plugin arena');
    const after = objectCalled(atLine(replay, 47), 'plugin arena');
    expect(after?.object).toBe(before?.object);
    expect(nameCounts(atLine(replay, 47))['plugin arena']).toEqual({ 24: 3, 26: 3 });
    expect(nameCounts(atLine(replay, 48))).toMatchObject({
      'plugin arena': { 24: 3, 26: 2 },
      'worker 1 arena': { 26: 1 },
    });
  });

  it('tells for each fork what it shares and what a copy would have cost', () => {
    const [first] = replay.forks;
    const shared = first?.shared.map(({ object, childRefs, refs }) => [object.text, childRefs, refs]);
    expect(new Map(shared?.map(([text, ...counts]) => [text, counts]))).toEqual(
      new Map([
        ['plugin arena', [3, 6]],
        ['config', [1, 2]],
        ['event ring', [1, 2]],
        ['code cache', [4, 8]],
        ['session keys', [1, 2]],
      ]),
    );
    // Each name with its NUL, once for each VMA: 3×13 + 7 + 11 + 4×11 + 13.
    expect(first?.cost).toEqual({ references: 10, copies: 10, copyBytes: 114 });
  });
});

describe('memory that only a call shows', () => {
  it('is marked as inferred, without flags, until a snapshot shows it', () => {
    const replay = replayRecording(EXAMPLE, '7.3');
    const entriesAt = (line: number) => {
      const instant = atLine(replay, line);
      return instant.entries(instant.lives[0]?.id ?? '');
    };
    const touched = entriesAt(7).filter((entry) => entry.start === 0x4b7);
    expect(touched.map((entry) => [entry.inferred, entry.smaps?.vmFlags])).toEqual([[true, null]]);
    expect(entriesAt(11).some((entry) => entry.inferred)).toBe(false);
  });
});

describe('seals in the example', () => {
  const replay = replayRecording(EXAMPLE, '7.3');

  it('tells which mapping refused, and where that was sealed', () => {
    const denied = replay.steps.filter((step) => step.denied?.errno === 'EPERM');
    expect(
      denied.map((step) => [step.line, step.call, step.denied?.vma?.name, step.denied?.sealedAtLine]),
    ).toEqual([
      [76, 'munmap', '[anon:config]', 32],
      [77, 'mprotect', '[anon:config]', 32],
      [78, 'madvise', '[anon:config]', 32],
      [79, 'mremap', '[anon:config]', 32],
      [80, 'mmap', '[anon:config]', 32],
      [81, 'mprotect', '[anon:code cache]', 28],
      [82, 'munmap', '[anon:code cache]', 28],
    ]);
  });

  it('tells what a refused call changed all the same', () => {
    const left = replay.steps.filter((step) => step.denied?.leftBehind !== undefined);
    expect(left.map((step) => [step.line, step.denied?.leftBehind])).toEqual([
      [81, ['40050000-40058000 was rw-p and is r--p now']],
      [82, ['40050000-40058000 stays as it was, but is split at 40054000']],
    ]);
  });

  it('inherits seals at fork and drops them at exec', () => {
    const sealed = (line: number, pid: number): number => {
      const instant = atLine(replay, line);
      const life = instant.lives.find((candidate) => candidate.pid === pid);
      return instant.vmas(life?.id ?? '').filter((vma) => hasAny(vma.flags, VM_SEALED)).length;
    };
    expect([sealed(47, 24), sealed(47, 26), sealed(105, 24), sealed(106, 30)]).toEqual([2, 2, 2, 0]);
  });

  it('counts the walks of the pre-pass and the questions asked in passing', () => {
    expect(replay.sealCost.prePassVisits).toBeGreaterThan(0);
    expect(replay.sealCost.inLoopVisits).toBeGreaterThan(0);
  });
});
