import { describe, expect, it } from 'vitest';
import { traceRow } from '../../src/present/traces_tree';
import { positionText, stepRowText, stepSentence } from '../../src/present/step_words';
import { tooltipText } from '../../src/present/tooltip';
import type { TreeNode } from '../../src/present/tree_node';
import type { ReplayStep } from '../../src/replay/replay_types';
import { entriesOf } from '../analysis/entries';
import { allRows, expectGoodTree, lines, rowAt } from './rows';
import { replayedAt } from './small_replay';

function tipOf(row: TreeNode): string {
  const tooltip = row.tooltip();
  return tooltip === undefined ? '' : tooltipText(tooltip);
}

describe('traceRow', () => {
  const root = traceRow(replayedAt(5));

  it('says which rules are in use and what is in the trace', () => {
    expect(lines([root])).toEqual(['small.strace: rules 7.3 · 13 lines · 10 steps']);
    expect(lines(root.children())).toEqual([
      'Processes: 2',
      'Forks: 1',
      'Denied calls: 1',
      'Mismatches: none',
      'Snapshots: none',
      'Steps: 10',
      'Problems in the text: 1',
    ]);
    expect(tipOf(root)).toContain('Kernel rules  7.3');
  });

  it('shows processes as a fork tree and which one the views show', () => {
    const parent = rowAt([root], 'small.strace', 'Processes', '100 demo');
    expect(lines([parent])).toEqual(['100 demo: lines 1-12']);
    expect(lines(parent.children())).toEqual(['101 demo: shown · lines 4-8']);
    expect(parent.children()[0]?.icon?.id).toBe('eye');
    expect(parent.children()[0]?.subject).toMatchObject({ kind: 'life' });
    expect(tipOf(parent.children()[0] ?? root)).toContain('Parent  100 demo');
  });

  it('draws processes that have not started or have ended', () => {
    const child = (line: number): TreeNode | undefined =>
      rowAt([traceRow(replayedAt(line))], 'small.strace', 'Processes', '100 demo').children()[0];
    expect(child(1)?.icon?.id).toBe('circle-outline');
    expect(child(1)?.accessibility).toContain('not started');
    expect(child(6)?.icon?.id).toBe('server-process');
    expect(child(11)?.icon?.id).toBe('circle-slash');
    expect(child(11)?.accessibility).toContain('ended');
  });

  it('says what each fork shares, and what a copy would have cost', () => {
    const fork = rowAt([root], 'small.strace', 'Forks', '100 → 101');
    expect(fork.description).toBe('1 name, 1 reference · line 4');
    expect(lines(fork.children())).toEqual(['"cache": #1 · 1 reference of the child, 2 in all']);
    expect(tipOf(fork)).toContain('1 reference taken, nothing copied');
    expect(tipOf(fork)).toContain('1 allocation, ');
  });

  it('says why a call was denied and where the seal came from', () => {
    const [denied] = rowAt([root], 'small.strace', 'Denied calls').children();
    expect(denied?.label).toBe('7 munmap');
    expect(denied?.description).toMatch(/^= EPERM · 40000000, 4 \w+ · pid 100$/);
    expect(denied?.accessibility).toMatch(/^line 7, munmap\(.*\), = EPERM, process 100, refused$/);
    expect(denied?.icon).toEqual({ id: 'error', color: 'denied' });
    const tip = denied === undefined ? '' : tipOf(denied);
    expect(tip).toContain('Refused with EPERM');
    expect(tip).toContain('The mapping that refused: 40000000-40001000 [anon:cache]');
    expect(tip).toContain('It was sealed at line 6.');
  });

  it('marks the current step', () => {
    const now = rowAt([root], 'small.strace', 'Steps')
      .children()
      .filter((row) => row.icon?.id === 'debug-stackframe');
    expect(now.map((row) => row.label)).toEqual(['5 prctl']);
    expect(now[0]?.description).toMatch(/^PR_SET_VMA_ANON_NAME, 40000000, 32 \w+, "own" · = 0 · pid 101$/);
    expect(now[0]?.accessibility).toContain('the current step');
  });

  it('leads from a problem to its line', () => {
    const [problem] = rowAt([root], 'small.strace', 'Problems in the text').children();
    expect(problem?.description).toBe('line 10');
    expect(problem?.subject).toEqual({ kind: 'line', traceId: 'trace x', line: 10 });
  });

  it('does not claim to be the one on show when another trace is', () => {
    const other = traceRow({ ...replayedAt(5), isCurrent: false });
    expect(
      allRows([other]).some((row) => row.icon?.id === 'eye' || row.icon?.id === 'debug-stackframe'),
    ).toBe(false);
  });

  it('makes a good tree at every step, under every sort of rules', () => {
    for (const kernel of ['6.1', '6.10', '7.3'] as const) {
      for (const line of [0, 4, 7, 13]) expectGoodTree([traceRow(replayedAt(line, { kernel }))]);
    }
  });
});

describe('snapshots', () => {
  const mapped = { at: 0x40000, pages: 16, name: 'cache', flags: 'rd wr mr mw me ac' } as const;
  const seed = { label: '00-a.100.smaps', pid: 100, line: 3, entries: entriesOf(mapped) };

  it('are seeds, equal, or different with the first difference', () => {
    const wrong = entriesOf({ ...mapped, name: 'other' });
    const root = traceRow(
      replayedAt(7, {
        snapshots: [
          seed,
          { ...seed, label: '01-b.100.smaps', line: 4 },
          { ...seed, label: '02-c.100.smaps', line: 5, entries: wrong },
        ],
      }),
    );
    const group = rowAt([root], 'small.strace', 'Snapshots');
    expect(group.description).toBe('3 · 1 differs');
    expect(lines(group.children())).toEqual([
      '00-a.100.smaps: taken over · 1 mapping · line 3 · pid 100',
      '01-b.100.smaps: equal · 1 mapping · line 4 · pid 100',
      '02-c.100.smaps: differs · 1 of 1 mapping · line 5 · pid 100',
    ]);
    expect(group.children().map((row) => row.icon?.id)).toEqual(['pin', 'pass', 'error']);
    const sides = rowAt([root], 'small.strace', 'Snapshots', '02-c.100.smaps').children();
    expect(sides.map((row) => row.label)).toEqual(['first difference', 'replayed', 'snapshot']);
    expect(sides[1]?.description).toContain('[anon:cache]');
    expect(sides[2]?.description).toContain('[anon:other]');
    expect(group.children()[1]?.subject).toMatchObject({ kind: 'instant' });
  });
});

describe('a long trace', () => {
  it('keeps its steps in ranges', () => {
    const text = Array.from(
      { length: 1100 },
      (_, i) =>
        `7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x${(0x40000000 + 8192 * i).toString(16)}`,
    ).join('\n');
    const root = traceRow(replayedAt(1, { text }));
    expectGoodTree([root]);
    expect(lines(rowAt([root], 'small.strace', 'Steps').children())).toEqual([
      'Lines 1-500: 500 steps',
      'Lines 501-1000: 500 steps',
      'Lines 1001-1100: 100 steps',
    ]);
  });
});

describe('words for a step', () => {
  const { replay } = replayedAt(1);
  const at = (line: number) => replay.steps[replay.stepAtLine(line)];

  it('where the replay stands', () => {
    expect(positionText(at(7), { lines: 13, steps: 9 })).toBe('line 7/13 · pid 100 · step 7/9');
    expect(positionText(undefined, { lines: 13, steps: 9 })).toBe('start · step 0/9');
  });

  it('what it did', () => {
    expect(stepSentence(undefined)).toBe('Before the first step.');
    expect(stepSentence(at(6))).toMatch(/^Line 6: mseal\(.*\) = 0$/);
    expect(stepSentence(at(7))).toMatch(
      /^Line 7: munmap\(.*\) = EPERM, refused by 40000000-40001000 \[anon:cache\], sealed at line 6: the VMA is sealed/,
    );
    // The title of a fork names the child already.
    expect(stepSentence(at(4))).not.toContain('= 101');
    expect(stepRowText(at(4) as ReplayStep)).toEqual({ label: '4 fork', description: 'makes 101 · pid 100' });
  });
});
