import { describe, expect, it } from 'vitest';
import { forkTree } from '../../src/cli/fork_tree';
import type { ProcessLife } from '../../src/replay/replay_types';

function life(id: string, parentId: string | undefined, childIds: readonly string[]): ProcessLife {
  return {
    id,
    pid: Number(id),
    startLine: 1,
    endLine: undefined,
    parentId,
    childIds,
    command: '',
    threads: [],
  };
}

describe('forkTree', () => {
  it('puts children under their parent, in order of birth', () => {
    const lives = [
      life('1', undefined, ['2', '4']),
      life('2', '1', ['3']),
      life('3', '2', []),
      life('4', '1', []),
      life('5', undefined, []),
    ];
    expect([...forkTree(lives)].map(({ life: { id }, branch }) => `${branch}${id}`)).toEqual([
      '1',
      '├─ 2',
      '│  └─ 3',
      '└─ 4',
      '5',
    ]);
  });

  it('draws the beginning of a chain of a hundred thousand forks at once', () => {
    const count = 100_000;
    const lives = Array.from({ length: count }, (_, i) =>
      life(String(i), i === 0 ? undefined : String(i - 1), i === count - 1 ? [] : [String(i + 1)]),
    );
    const rows = forkTree(lives);
    const first = Array.from({ length: 40 }, () => rows.next().value as { life: ProcessLife });
    expect(first.map((row) => row.life.pid)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it('shows a life whose parent is not in the list', () => {
    expect([...forkTree([life('7', '6', [])])]).toHaveLength(1);
  });
});
