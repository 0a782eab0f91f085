import { describe, expect, it } from 'vitest';
import { equalNamesTree, nameObjectsTree, nameText } from '../../src/present/shared_names_tree';
import { tooltipText } from '../../src/present/tooltip';
import { entriesOf } from '../analysis/entries';
import { expectGoodTree, lines, rowAt } from './rows';
import { replayedAt } from './small_replay';

function namesAt(line: number) {
  const { replay, position, traceId } = replayedAt(line);
  return nameObjectsTree(replay, replay.at(position), traceId);
}

describe('name objects of a replay', () => {
  it('are one object for parent and child after a fork', () => {
    const roots = namesAt(4);
    expect(lines(roots)).toEqual(['"cache": #1 · 2 references · shared by 2 processes']);
    expect(lines(rowAt(roots, '"cache"').children())).toEqual([
      'created: line 3, by process 100',
      '100 demo: 1 mapping · 64 kB',
      '101 demo: 1 mapping · 64 kB',
    ]);
    expect(lines(rowAt(roots, '"cache"', '101 demo').children())).toEqual(['40000000-40010000: 64 kB']);
  });

  it('are two after the child renames a part', () => {
    expect(lines(namesAt(5))).toEqual([
      '"cache": #1 · 2 references · shared by 2 processes',
      '"own": #2 · 1 reference',
    ]);
  });

  it('lose the holders of a process that ends', () => {
    expect(lines(namesAt(8))).toEqual(['"cache": #1 · 2 references']);
  });

  it('lead to the step that made them and to the processes that hold them', () => {
    const roots = namesAt(5);
    const { replay } = replayedAt(5);
    expect(rowAt(roots, '"own"', 'created').subject).toEqual({
      kind: 'instant',
      traceId: 'trace x',
      index: replay.stepAtLine(5),
    });
    expect(rowAt(roots, '"own"', '101 demo').subject).toMatchObject({ kind: 'life', traceId: 'trace x' });
  });

  it('explain the count', () => {
    const tooltip = namesAt(4)[0]?.tooltip();
    expect(tooltip === undefined ? '' : tooltipText(tooltip)).toContain(
      '2: one for each mapping that carries the name',
    );
  });

  it('make a good tree at every step', () => {
    const { replay, traceId } = replayedAt(1);
    for (let i = -1; i < replay.steps.length; i++)
      expectGoodTree(nameObjectsTree(replay, replay.at(i), traceId));
  });

  it('say how far the text is known', () => {
    const object = { id: 1, text: 'ab\u001b', createdAt: { line: 1, pid: 1 }, inferred: false };
    expect(nameText({ ...object, certainty: 'exact' })).toBe('"ab\\x1b"');
    expect(nameText({ ...object, certainty: 'prefix' })).toBe('"ab\\x1b…"');
    expect(nameText({ ...object, certainty: 'pointer' })).toBe('unknown text (ab\\x1b)');
  });
});

describe('names of a live process or a file', () => {
  it('are put together by text, and do not pretend to know objects', () => {
    const roots = equalNamesTree(
      entriesOf({ name: 'b' }, {}, { name: 'a' }, { name: 'a', pages: 3 }, { name: '' }),
    );
    expect(lines(roots)).toEqual([
      '"": 1 mapping · 4 kB · 1 object',
      '"a": 2 mappings · 16 kB · objects unknown',
      '"b": 1 mapping · 4 kB · 1 object',
    ]);
    expect(lines(rowAt(roots, '"a"').children())).toEqual([
      '01002000-01003000: rw-p 4 kB',
      '01003000-01006000: rw-p 12 kB',
    ]);
    expectGoodTree(roots);
  });

  it('stay within a node\u2019s limit', () => {
    const many = entriesOf(...Array.from({ length: 1300 }, (_, i) => ({ name: i < 600 ? 'same' : `n${i}` })));
    expectGoodTree(equalNamesTree(many));
  });
});
