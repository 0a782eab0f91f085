import { describe, expect, it } from 'vitest';
import { ReplaySession } from '../../../src/extension/replay/replay_session';
import { changedEntries } from '../../../src/extension/replay/changes';
import { runReplay } from '../../../src/extension/replay/run_replay';
import { replayTrace } from '../../../src/replay/replayer';
import { readTrace } from '../../../src/trace/read_trace';
import { entriesOf, entry } from '../../analysis/entries';
import { SMALL_TRACE } from '../../present/small_replay';

const trace = readTrace(SMALL_TRACE);
const source = { id: 'a', label: 'a.strace', location: '/a.strace', trace, snapshots: [] };

function session(): ReplaySession {
  return new ReplaySession(source, replayTrace(trace, { kernel: '7.3' }));
}

describe('ReplaySession', () => {
  it('begins at the first step and follows the process of each step', () => {
    const made = session();
    expect([made.step?.line, made.life?.pid]).toEqual([1, 100]);
    made.goToLine(5);
    expect([made.step?.line, made.life?.pid, made.isLifeChosen]).toEqual([5, 101, false]);
  });

  it('keeps a chosen process', () => {
    const made = session();
    const parent = made.replay.lives[0]?.id;
    made.choose(parent);
    made.goToLine(5);
    expect(made.life?.pid).toBe(100);
    made.choose(undefined);
    expect(made.life?.pid).toBe(101);
  });

  it('does not hold on to a process that the step shows anyway', () => {
    const made = session();
    const [parent, child] = made.replay.lives;
    made.show(made.replay.stepAtLine(5), child?.id);
    expect(made.isLifeChosen).toBe(false);
    made.show(made.replay.stepAtLine(5), parent?.id);
    expect([made.isLifeChosen, made.life?.pid]).toEqual([true, 100]);
  });

  it('stays inside the trace', () => {
    const made = session();
    made.goTo(99);
    expect(made.position).toBe(made.replay.steps.length - 1);
    made.goTo(-99);
    expect([made.position, made.step]).toEqual([-1, undefined]);
    expect(made.life?.pid).toBe(100);
  });

  it('finds landmarks both ways and leaves the position alone', () => {
    const made = session();
    expect(made.find('fork', 1)).toBe(made.replay.stepAtLine(4));
    expect(made.find('denied', 1)).toBe(made.replay.stepAtLine(7));
    expect(made.find('fork', -1)).toBeUndefined();
    made.goToLine(7);
    expect(made.find('rename', -1)).toBe(made.replay.stepAtLine(5));
    expect(made.find('denied', 1)).toBeUndefined();
    expect(made.step?.line).toBe(7);
  });

  it('tells its listeners, until they stop', () => {
    const made = session();
    let told = 0;
    const listening = made.onDidChange(() => told++);
    made.goTo(3);
    listening.dispose();
    made.goTo(4);
    expect(told).toBe(1);
  });

  it('stays at its line under other rules', () => {
    const made = session();
    made.goToLine(7);
    made.takeOver(replayTrace(trace, { kernel: '6.1' }));
    expect([made.replay.kernel, made.step?.line]).toEqual(['6.1', 7]);
  });
});

describe('changedEntries', () => {
  it('are those that were not there like this', () => {
    const before = entriesOf({ name: 'a' }, { flags: 'rd' }, { perms: 'r--p' });
    const after = entriesOf({ name: 'b' }, { flags: 'rd sl' }, { perms: 'r--p' }, {});
    expect([...changedEntries(before, after)]).toEqual([after[0], after[1], after[3]]);
  });

  it('are none where nothing was known before', () => {
    expect(changedEntries([], [entry()]).size).toBe(0);
  });
});

describe('runReplay', () => {
  const long = Array.from(
    { length: 9000 },
    (_, i) => `7 brk(0x${(0x600000 + i * 4096).toString(16)}) = 0x${(0x600000 + i * 4096).toString(16)}`,
  );
  const longSource = { ...source, trace: readTrace(long.join('\n')) };
  const pause = (): Promise<void> => Promise.resolve();

  it('tells how far it is', async () => {
    const shares: number[] = [];
    const signal = new AbortController().signal;
    const result = await runReplay(longSource, '7.3', {
      signal,
      progress: (share) => shares.push(share),
      pause,
    });
    expect(result.ok && result.value.steps.length).toBe(9000);
    expect(shares.length).toBeGreaterThan(2);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
  });

  it('stops when it is cancelled', async () => {
    const cancelling = new AbortController();
    let pauses = 0;
    const result = await runReplay(longSource, '7.3', {
      signal: cancelling.signal,
      progress: () => undefined,
      pause: () => {
        if (++pauses === 2) cancelling.abort();
        return Promise.resolve();
      },
    });
    expect(result.ok ? '' : result.error.code).toBe('cancelled');
    expect(pauses).toBe(2);
  });
});
