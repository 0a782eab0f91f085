import { describe, expect, it, vi } from 'vitest';
import { err, ok, type Result } from '../../../src/base/result';
import type { SourceError } from '../../../src/node/source_error';
import type { ProcessInfo } from '../../../src/node/proc_reader';
import type { ProcessFacts } from '../../../src/present/process_tree';
import type { ProcSource } from '../../../src/extension/targets/proc_source';
import type { AddressSpace, Target } from '../../../src/extension/targets/target';
import { FakeWindow, fakeVscode } from '../fake_vscode';

vi.mock('vscode', () => fakeVscode(new FakeWindow()));
const { CurrentTarget } = await import('../../../src/extension/targets/current_target');
const { processFacts } = await import('../../../src/extension/targets/live_proc_source');
const { livePid, liveTarget } = await import('../../../src/extension/targets/live_target');

const EMPTY: AddressSpace = { entries: [], sealing: 'unknown', problems: [], notes: [], changed: new Set() };
const GONE: SourceError = { code: 'not-found', subject: 'x', text: 'gone' };

/** A target whose reading ends when the test says so. */
function slowTarget(id: string) {
  let finish: (result: Result<AddressSpace, SourceError>) => void = () => undefined;
  const signals: AbortSignal[] = [];
  const target: Target = {
    kind: 'file',
    id,
    label: id,
    location: id,
    read: (signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  };
  return { target, signals, finish: (result: Result<AddressSpace, SourceError>) => finish(result) };
}

function current() {
  return new CurrentTarget((work) => work());
}

describe('CurrentTarget', () => {
  it('lets a newer reading win, and cancels the older', async () => {
    const target = current();
    const slow = slowTarget('slow');
    const fast = slowTarget('fast');
    const first = target.select(slow.target);
    const second = target.select(fast.target);
    fast.finish(ok(EMPTY));
    await second;
    slow.finish(err(GONE));
    await first;
    expect(slow.signals[0]?.aborted).toBe(true);
    expect(target.state).toMatchObject({ kind: 'shown', target: { id: 'fast' } });
  });

  it('keeps what is on show while it is read again, not when another is selected', async () => {
    const target = current();
    const one = slowTarget('one');
    const reading = target.select(one.target);
    one.finish(ok(EMPTY));
    await reading;
    void target.refresh();
    expect(target.state.kind).toBe('reading');
    expect(target.space).toBe(EMPTY);
    void target.select(slowTarget('two').target);
    expect(target.space).toBeUndefined();
  });

  it('gives the error back and says that it failed', async () => {
    const target = current();
    const one = slowTarget('one');
    const reading = target.select(one.target);
    one.finish(err(GONE));
    expect(await reading).toBe(GONE);
    expect(target.state).toMatchObject({ kind: 'failed', error: GONE });
  });

  it('does not hang in "reading" when reading throws', async () => {
    const target = current();
    const broken: Target = { ...slowTarget('x').target, read: () => Promise.reject(new Error('bug')) };
    await expect(target.select(broken)).rejects.toThrow('bug');
    expect(target.state.kind).toBe('none');
  });

  it('forgets a reading that was closed meanwhile', async () => {
    const target = current();
    const one = slowTarget('one');
    const reading = target.select(one.target);
    target.clear();
    one.finish(ok(EMPTY));
    await reading;
    expect(target.state.kind).toBe('none');
  });
});

function factsOf(startTime: string): ProcessFacts {
  return {
    pid: 7,
    ppid: 1,
    command: `c${startTime}`,
    commandLine: '',
    own: true,
    kind: 'user',
    rss: null,
    swap: null,
    threads: null,
    startTime,
  };
}

describe('liveTarget', () => {
  const signal = new AbortController().signal;
  const proc = (facts: ProcessFacts | undefined): ProcSource => ({
    available: true,
    list: () => Promise.resolve(ok([])),
    facts: () => Promise.resolve(facts),
    sums: () => Promise.resolve(undefined),
    read: () => Promise.resolve(ok(EMPTY)),
  });

  it('does not show another process that has the number now', async () => {
    const result = await liveTarget(proc(factsOf('200')), 7, factsOf('100')).read(signal);
    expect(result.ok ? '' : result.error.text).toBe(
      'the process has ended; the number now belongs to another one (c200)',
    );
  });

  it('shows the same process, and one of which nothing was known', async () => {
    expect((await liveTarget(proc(factsOf('100')), 7, factsOf('100')).read(signal)).ok).toBe(true);
    expect((await liveTarget(proc(undefined), 7, undefined).read(signal)).ok).toBe(true);
  });

  it('is told apart by its start', () => {
    const target = liveTarget(proc(undefined), 7, factsOf('100'));
    expect(livePid(target)).toBe(7);
    expect(target.id).not.toBe(liveTarget(proc(undefined), 7, factsOf('200')).id);
    expect(livePid(slowTarget('file 9').target)).toBeUndefined();
  });
});

describe('processFacts', () => {
  const info: ProcessInfo = {
    pid: 7,
    ppid: 1,
    comm: 'x',
    cmdline: ['x', '-y'],
    uid: 1000,
    state: 'S',
    kernelThread: false,
    threads: 2,
    startTime: '5',
    sizeKb: 10,
    rssKb: 5,
    swapKb: 0,
  };

  it('tells own processes from others, and which cannot be read', () => {
    expect(processFacts(info, { uid: 1000, mayReadAll: false })).toMatchObject({ own: true, kind: 'user' });
    expect(processFacts(info, { uid: 1000, mayReadAll: false })).not.toHaveProperty('unreadable');
    expect(processFacts(info, { uid: 1, mayReadAll: false })).toMatchObject({
      own: false,
      unreadable: { text: 'not permitted' },
    });
    expect(processFacts(info, { uid: 0, mayReadAll: true })).not.toHaveProperty('unreadable');
    expect(processFacts(info, { uid: null, mayReadAll: false }).own).toBe(false);
  });

  it('knows zombies and kernel threads, which nothing could make readable', () => {
    const who = { uid: 1, mayReadAll: false };
    expect(processFacts({ ...info, state: 'Z' }, who)).toMatchObject({ kind: 'zombie' });
    expect(processFacts({ ...info, state: 'Z' }, who)).not.toHaveProperty('unreadable');
    expect(processFacts({ ...info, kernelThread: true }, who)).toMatchObject({ kind: 'kernel-thread' });
  });
});
