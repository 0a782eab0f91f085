import { describe, expect, it, vi } from 'vitest';
import type { ProcessFacts } from '../../../src/present/process_tree';
import { FakeWindow, fakeVscode } from '../fake_vscode';

vi.mock('vscode', () => fakeVscode(new FakeWindow()));
const { processItems } = await import('../../../src/extension/commands/process_commands');

function facts(pid: number, more: Partial<ProcessFacts> = {}): ProcessFacts {
  return {
    pid,
    ppid: 1,
    command: `p${pid}`,
    commandLine: `p${pid} -x`,
    own: true,
    kind: 'user',
    rss: 1024,
    swap: 0,
    threads: 1,
    startTime: '',
    ...more,
  };
}

describe('the list of processes to inspect', () => {
  const all = [
    facts(1, { own: false }),
    facts(2, { kind: 'kernel-thread' }),
    facts(3),
    facts(4),
    facts(5, { kind: 'zombie' }),
  ];

  it('has own processes first, the newest at the top, and nothing without memory', () => {
    expect(processItems(all, '').map((item) => item.label)).toEqual([
      'own processes',
      'p4',
      'p3',
      'other users',
      'p1',
    ]);
  });

  it('takes a number that is not in it', () => {
    expect(processItems(all, ' 77 ')[0]).toMatchObject({ label: 'Process 77', pid: 77, alwaysShow: true });
    expect(processItems(all, '3')[0]?.label).toBe('own processes');
    expect(processItems([facts(3, { commandLine: 'x --port 779' })], '77')[0]?.label).toBe('Process 77');
    expect(processItems([], '12')).toHaveLength(1);
    expect(processItems([], 'p12')).toEqual([]);
    expect(processItems([], '0')).toEqual([]);
  });

  it('draws no icons that a process asks for', () => {
    const [, item] = processItems([facts(9, { command: '$(bug)', commandLine: '$(bug) $(x)' })], '');
    expect(`${item?.label ?? ''}${item?.detail ?? ''}`).not.toContain('$(');
  });
});
