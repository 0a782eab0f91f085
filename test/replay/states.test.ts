import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { statesLines, type StateLine } from '../../src/replay/states';
import { readTrace } from '../../src/trace/read_trace';
import { by, fork, mapped, named, p } from './traced';

const LINES = [
  ...by(10, mapped(0, 2), named(0, 1, 'x')),
  ...by(10, `munmap(${p(0).replace(/0$/, '1')}, 4096) = -1 EINVAL (Invalid argument)`),
  ...by(
    10,
    `mmap(${p(4)}, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED, 3</tmp/gone (deleted)>, 0x2000) = ${p(4)}`,
  ),
  ...by(10, fork(11)),
  ...by(11, 'exit_group(0) = ?', '+++ exited with 0 +++'),
  ...by(10, 'execve("/bin/b", ["b"], 0x7fff00000000 /* 0 vars */) = 0', mapped(8, 1)),
];

function states(range?: { start: number; end: number }): StateLine[] {
  const trace = readTrace(LINES.map((line) => `${line}\n`).join(''));
  const pages = range === undefined ? undefined : { start: vpn(range.start), end: vpn(range.end) };
  return [...statesLines(trace, { kernel: '7.3', validate: true }, pages)];
}

const NAMED = {
  start: '7f1000000000',
  end: '7f1000001000',
  perms: 'rw-p',
  offset: '0',
  name: '[anon:x]',
  flags: ['rd', 'wr', 'mr', 'mw', 'me', 'ac'],
};
const REST = { ...NAMED, start: '7f1000001000', end: '7f1000002000', name: '' };
const FILE = {
  start: '7f1000004000',
  end: '7f1000005000',
  perms: 'r--p',
  offset: '2000',
  name: '/tmp/gone (deleted)',
  flags: ['rd', 'mr', 'mw', 'me'],
};

describe('a line for each memory call and fork', () => {
  it('with the map right after it', () => {
    expect(states()).toEqual([
      {
        line: 1,
        pid: 10,
        call: 'mmap',
        recorded: p(0),
        predicted: p(0),
        vmas: [{ ...NAMED, end: REST.end, name: '' }],
      },
      { line: 2, pid: 10, call: 'prctl', recorded: '0', predicted: '0', vmas: [NAMED, REST] },
      { line: 3, pid: 10, call: 'munmap', recorded: 'EINVAL', predicted: 'EINVAL', vmas: [NAMED, REST] },
      { line: 4, pid: 10, call: 'mmap', recorded: p(4), predicted: p(4), vmas: [NAMED, REST, FILE] },
      { line: 5, pid: 10, call: 'clone', recorded: '11', predicted: '?', vmas: [NAMED, REST, FILE] },
      { line: 5, pid: 11, call: 'clone', recorded: '11', predicted: '?', vmas: [NAMED, REST, FILE] },
      {
        line: 9,
        pid: 10,
        call: 'mmap',
        recorded: p(8),
        predicted: p(8),
        vmas: [{ ...NAMED, start: '7f1000008000', end: '7f1000009000', name: '' }],
      },
    ]);
  });

  it('of a part of the addresses: whole VMAs that reach into it', () => {
    const some = states({ start: 0x7f1000001, end: 0x7f1000004 });
    expect(some.map(({ vmas }) => vmas.map(({ start }) => start.slice(-4, -3)).join(''))).toEqual([
      '0',
      '1',
      '1',
      '1',
      '1',
      '1',
      '',
    ]);
  });

  it('in the order of the calls however long the trace is', () => {
    const many = Array.from({ length: 600 }, (_, index) => mapped(2 * index, 1)).join('\n');
    const lines = [...statesLines(readTrace(many), { kernel: '7.3' })];
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
    expect(lines.map(({ vmas }) => vmas.length)).toEqual(lines.map(({ line }) => line));
  });
});
