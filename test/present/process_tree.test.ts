import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandText, matchesProcess, processTree, type ProcessFacts } from '../../src/present/process_tree';
import { tooltipText } from '../../src/present/tooltip';
import { expectGoodTree, lines, rowAt } from './rows';

function facts(pid: number, ppid: number, more: Partial<ProcessFacts> = {}): ProcessFacts {
  return {
    pid,
    ppid,
    command: `p${pid}`,
    commandLine: `/usr/bin/p${pid} --flag`,
    own: true,
    kind: 'user',
    rss: 2048,
    swap: 0,
    threads: 1,
    startTime: String(pid),
    ...more,
  };
}

const DENIED = { unreadable: { text: 'not permitted', help: 'run as the same user' } };
const MACHINE: readonly ProcessFacts[] = [
  facts(1, 0, { own: false, command: 'init', ...DENIED }),
  facts(2, 0, { own: false, kind: 'kernel-thread', command: 'kthreadd', commandLine: '', rss: null }),
  facts(3, 2, { own: false, kind: 'kernel-thread', command: 'kworker/0:1', commandLine: '', rss: null }),
  facts(10, 1, { command: 'bash' }),
  facts(11, 10, { command: 'node', commandLine: '/usr/bin/node server.js' }),
  facts(12, 11, { command: 'worker' }),
  facts(13, 10, { command: 'gone', kind: 'zombie', rss: null }),
  facts(20, 1, { own: false, command: 'sshd', ...DENIED }),
];

function tree(filter = '', processes = MACHINE, inspectedPid?: number) {
  return processTree({ processes, filter, inspectedPid });
}

describe('processTree', () => {
  it('has own processes first as a fork tree, then other users and the kernel', () => {
    const { roots, total } = tree();
    expect(total).toBe(8);
    expect(lines(roots)).toEqual(['bash: 10 · 2 MiB', 'Other users: 2', 'Kernel threads: 2']);
    expect(lines(rowAt(roots, 'bash').children())).toEqual([
      'node: 11 · 2 MiB',
      'gone: 13 · zombie: has ended, not yet collected',
    ]);
    expect(lines(rowAt(roots, 'bash', 'node').children())).toEqual(['worker: 12 · 2 MiB']);
    expect(lines(rowAt(roots, 'Other users', 'init').children())).toEqual([
      'sshd: 20 · 2 MiB · not permitted',
    ]);
    expect(lines(rowAt(roots, 'Kernel threads', 'kthreadd').children())).toEqual(['kworker/0:1: 3']);
  });

  it('says why a process cannot be read and what helps', () => {
    const tooltip = rowAt(tree().roots, 'Other users', 'init').tooltip();
    const text = tooltip === undefined ? '' : tooltipText(tooltip);
    expect(text).toContain('Cannot be read: not permitted');
    expect(text).toContain('What helps: run as the same user');
    expect(rowAt(tree().roots, 'Other users', 'init').accessibility).toContain(
      'cannot be read: not permitted',
    );
  });

  it('offers to inspect only what has memory', () => {
    const { roots } = tree();
    expect(rowAt(roots, 'bash').context).toBe('process inspectable');
    expect(rowAt(roots, 'bash', 'gone').context).toBe('process');
    expect(rowAt(roots, 'Kernel threads', 'kthreadd').context).toBe('process');
  });

  it('marks the process on show', () => {
    expect(rowAt(tree('', MACHINE, 11).roots, 'bash', 'node').icon).toEqual({ id: 'eye', color: 'current' });
  });

  it('filters by name, command line and pid, and keeps what is above a match', () => {
    const found = tree('server.js');
    expect([found.matching, found.total]).toEqual([1, 8]);
    expect(lines(found.roots)).toEqual(['bash: 10 · 2 MiB']);
    expect(rowAt(found.roots, 'bash').expansion).toBe('expanded');
    expect(lines(rowAt(found.roots, 'bash').children())).toEqual(['node: 11 · 2 MiB']);
    expect(lines(tree('20').roots)).toEqual(['Other users: 2']);
    expect(tree('nothing like it').roots).toEqual([]);
  });

  it('has rows of its own while a filter is on, so that what was open comes back after it', () => {
    expect(rowAt(tree('node').roots, 'bash').id).not.toBe(rowAt(tree().roots, 'bash').id);
  });

  it('matches a pid only whole', () => {
    expect(matchesProcess(facts(123, 1, { command: 'x', commandLine: '' }), '12')).toBe(false);
    expect(matchesProcess(facts(123, 1, { command: 'x', commandLine: '' }), '123')).toBe(true);
  });

  it('survives a list in which processes are each other\u2019s parents', () => {
    const { roots } = tree('', [facts(5, 7), facts(6, 5), facts(7, 6), facts(8, 8), facts(9, 6)]);
    expect(lines(roots)).toEqual(['p5: 5 · 2 MiB', 'p8: 8 · 2 MiB']);
    expectGoodTree(roots);
  });

  it('loses no process and gives each one place, whatever the list says', () => {
    const process = fc.tuple(
      fc.integer({ min: 0, max: 12 }),
      fc.boolean(),
      fc.constantFrom('user', 'kernel-thread', 'zombie'),
    );
    fc.assert(
      fc.property(fc.array(process, { maxLength: 12 }), (list) => {
        const processes = list.map(([ppid, own, kind], i) => facts(i + 1, ppid, { own, kind: kind }));
        const { roots } = tree('', processes);
        expectGoodTree(roots);
        const pids = new Set<number>();
        const walk = (rows: typeof roots): void =>
          rows.forEach((row) => {
            if (row.subject.kind === 'process') pids.add(row.subject.pid);
            walk(row.children());
          });
        walk(roots);
        expect(pids.size).toBe(processes.length);
      }),
    );
  });

  it('puts a thousand processes into ranges', () => {
    expectGoodTree(
      tree(
        '',
        Array.from({ length: 1200 }, (_, i) => facts(i + 2, 1)),
      ).roots,
    );
  });
});

describe('commandText', () => {
  it('takes the longer name of the command line where the kernel cut its own', () => {
    expect(
      commandText(facts(1, 0, { command: 'systemd-resolve', commandLine: '/lib/systemd/systemd-resolved' })),
    ).toBe('systemd-resolved');
    expect(commandText(facts(1, 0, { command: 'worker thread 1', commandLine: '/usr/bin/app' }))).toBe(
      'worker thread 1',
    );
  });

  it('shows a name that is a terminal escape as text', () => {
    expect(commandText(facts(1, 0, { command: '\u001b[2J' }))).toBe('\\x1b[2J');
    expect(commandText(facts(1, 0, { command: '', commandLine: '' }))).toBe('?');
  });
});
