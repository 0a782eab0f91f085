import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import { shownKey } from '../../src/replay/maps_view';
import type { Instant, Replay, ReplayOptions, SnapshotInput } from '../../src/replay/replay_types';
import { by, end, fork, lifeId, mapped, p, replayed, results } from './traced';

/** By the source: no processor at hand has protection keys. What a processor without them answers is from 6.18.44. */

const EXEC = 'execve("/bin/x", ["x"], 0x7ffc00000000 /* 0 vars */) = 0';

function keyed(page: number, pages: number, key: number, result = '0', prot = 'PROT_READ'): string {
  return `pkey_mprotect(${p(page)}, ${pages * 4096}, ${prot}, ${key}) = ${result}`;
}

function protect(page: number, pages: number, prot: string, result = '0'): string {
  return `mprotect(${p(page)}, ${pages * 4096}, ${prot}) = ${result}`;
}

const REFUSED = '-1 EINVAL (Invalid argument)';

/** `0-1 r--p 3`: range, permissions and key of what lies in the pages that tests use. */
function keys(instant: Instant, pid?: number): string {
  return instant
    .entries(lifeId(instant, pid))
    .map(
      (entry) =>
        `${entry.start - 0x7f1000000}-${entry.end - 0x7f1000000} ${entry.perms} ${shownKey(entry) ?? 0}`,
    )
    .join(', ');
}

/** Results of the last `count` steps, without line numbers. */
function last(replay: Replay, count: number): string[] {
  return results(replay)
    .slice(-count)
    .map((text) => text.replace(/^\d+ /, ''));
}

function run(...lines: readonly string[]): Replay {
  return replayed(by(5, ...lines));
}

function smaps(text: string, line: number): SnapshotInput {
  return { label: `s${line}`, pid: 5, line, entries: parseMaps(text).entries };
}

function entry(page: number, pages: number, perms: string, key: number, flags: string): string {
  const range = `${p(page).slice(2)}-${p(page + pages).slice(2)}`;
  return `${range} ${perms} 00000000 00:00 0 \nSize: ${String(pages * 4).padStart(18)} kB\nProtectionKey:  ${String(key).padStart(8)}\nVmFlags: ${flags} \n`;
}

describe('a processor with protection keys', () => {
  it('gives memory the key of pkey_mprotect, and different keys stay apart', () => {
    const replay = run(
      EXEC,
      mapped(0, 3),
      'pkey_alloc(0, 0) = 1',
      'pkey_alloc(0, PKEY_DISABLE_WRITE) = 2',
      keyed(0, 1, 1),
      keyed(1, 1, 2),
      keyed(2, 1, 2),
    );
    expect(keys(end(replay))).toBe('0-1 r--p 1, 1-3 r--p 2');
    expect(last(replay, 3)).toEqual(['pkey_mprotect 0', 'pkey_mprotect 0', 'pkey_mprotect 0']);
  });

  it('takes key 0 from the beginning, keys of pkey_alloc until pkey_free, and no others', () => {
    const replay = run(
      EXEC,
      mapped(0, 1),
      'pkey_alloc(0, 0) = 1',
      keyed(0, 1, 2, REFUSED),
      keyed(0, 1, 16, REFUSED),
      keyed(0, 1, -2, REFUSED),
      keyed(0, 1, 1),
      'pkey_free(1) = 0',
      keyed(0, 1, 1, REFUSED),
      protect(0, 1, 'PROT_READ|PROT_WRITE'),
      keyed(0, 1, -1),
      keyed(0, 1, 0),
    );
    expect(
      results(replay)
        .slice(2)
        .map((text) => text.replace(/^\d+ \w+ /, '')),
    ).toEqual(['EINVAL', 'EINVAL', 'EINVAL', '0', 'EINVAL', '0', '0', '0']);
    // pkey_free takes the key from no memory, mprotect and key -1 keep it.
    expect([6, 7, 8, 9].map((index) => keys(replay.at(index)))).toEqual([
      '0-1 r--p 1',
      '0-1 rw-p 1',
      '0-1 r--p 1',
      '0-1 r--p 0',
    ]);
  });

  it('has a key for execute-only memory, which no call may name', () => {
    const replay = run(
      EXEC,
      mapped(0, 3),
      'pkey_alloc(0, 0) = 1',
      protect(0, 1, 'PROT_EXEC'),
      keyed(1, 1, 2, REFUSED),
      'pkey_alloc(0, 0) = 3',
      keyed(1, 1, 3, '0', 'PROT_EXEC'),
      protect(2, 1, 'PROT_EXEC'),
    );
    expect(keys(end(replay))).toBe('0-1 --xp 2, 1-2 --xp 3, 2-3 --xp 2');
    expect(last(replay, 3)).toEqual(['pkey_mprotect EINVAL', 'pkey_mprotect 0', 'mprotect 0']);
    // Only memory with that key goes back to the default.
    const back = run(
      EXEC,
      mapped(0, 2),
      'pkey_alloc(0, 0) = 1',
      keyed(1, 1, 1, '0', 'PROT_EXEC'),
      protect(0, 1, 'PROT_EXEC'),
      protect(0, 2, 'PROT_READ'),
    );
    expect(keys(end(back))).toBe('0-1 r--p 0, 1-2 r--p 1');
  });

  it('gives it to a new mapping too, but not with other bits', () => {
    const replay = run(
      'pkey_alloc(0, 0) = 1',
      mapped(0, 1, 'PROT_EXEC'),
      mapped(1, 1, 'PROT_EXEC'),
      mapped(2, 1, 'PROT_EXEC|PROT_SEM'),
      mapped(3, 1, 'PROT_READ|PROT_EXEC'),
    );
    expect(keys(end(replay))).toBe('0-2 --xp 2, 2-3 --xp 0, 3-4 r-xp 0');
  });

  it('leaves memory its key where no key is left', () => {
    const all = Array.from({ length: 15 }, (_, key) => `pkey_alloc(0, 0) = ${key + 1}`);
    const replay = run(
      EXEC,
      mapped(0, 1),
      ...all,
      keyed(0, 1, 7),
      protect(0, 1, 'PROT_EXEC'),
      mapped(1, 1, 'PROT_EXEC'),
    );
    expect(keys(end(replay))).toBe('0-1 --xp 7, 1-2 --xp 0');
  });

  it('allocates the execute-only key also in a call that fails', () => {
    const replay = run(
      EXEC,
      mapped(0, 1),
      'prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = 0',
      'pkey_alloc(0, 0) = 1',
      protect(0, 1, 'PROT_EXEC', '-1 EACCES (Permission denied)'),
      keyed(0, 1, 2, REFUSED),
      mapped(1, 1, 'PROT_EXEC'),
    );
    expect(keys(end(replay))).toBe('0-1 rw-p 0, 1-2 --xp 2');
    expect(last(replay, 3)[1]).toBe('pkey_mprotect EINVAL');
  });

  it('copies keys to a child, each its own from then on; exec begins anew', () => {
    const lines = [
      ...by(5, EXEC, mapped(0, 2), 'pkey_alloc(0, 0) = 1', keyed(0, 1, 1), fork(6)),
      ...by(6, keyed(1, 1, 1), 'pkey_free(1) = 0', keyed(1, 1, 1, REFUSED)),
      ...by(5, keyed(1, 1, 1)),
      ...by(5, EXEC, mapped(0, 1), keyed(0, 1, 1, REFUSED)),
    ];
    const replay = replayed(lines);
    expect(keys(end(replay), 6)).toBe('0-2 r--p 1');
    expect(results(replay).slice(4)).toEqual([
      '6 pkey_mprotect 0',
      '8 pkey_mprotect EINVAL',
      '9 pkey_mprotect 0',
      '10 execve 0, predicted ?',
      '11 mmap 0x7f1000000000',
      '12 pkey_mprotect EINVAL',
    ]);
  });
});

describe('keys that the trace does not show being allocated', () => {
  it('are learned from the first call that names them', () => {
    // Of the memory calls that strace selects with %memory, pkey_alloc is none.
    const replay = run(
      EXEC,
      mapped(0, 2),
      keyed(0, 1, 4),
      keyed(1, 1, 4),
      keyed(1, 1, 5, REFUSED),
      keyed(1, 1, 5, REFUSED),
    );
    expect(last(replay, 4)).toEqual([
      'pkey_mprotect 0, predicted ?',
      'pkey_mprotect 0',
      'pkey_mprotect EINVAL, predicted ?',
      'pkey_mprotect EINVAL',
    ]);
    expect(replay.steps.every((step) => step.mismatch === undefined)).toBe(true);
    expect(keys(end(replay))).toBe('0-2 r--p 4');
  });

  it('explain no other error, and nothing is learned from one', () => {
    const replay = run(mapped(0, 1), keyed(0, 1, 4, '-1 EACCES (Permission denied)'), keyed(0, 1, 4));
    expect(last(replay, 2)).toEqual([
      'pkey_mprotect EACCES, predicted ? (unexplained)',
      'pkey_mprotect 0, predicted ?',
    ]);
    // What is refused before the key is looked at tells nothing of it.
    const early = run(
      mapped(0, 1),
      `pkey_mprotect(${p(0)}, 4096, 0x100 /* PROT_??? */, 4) = ${REFUSED}`,
      keyed(0, 1, 4),
    );
    expect(last(early, 2)).toEqual(['pkey_mprotect EINVAL', 'pkey_mprotect 0, predicted ?']);
  });
});

describe('snapshots', () => {
  const FLAGS = 'rd mr mw me';

  it('seed the key of each mapping', () => {
    const seed = smaps(entry(0, 1, 'r--p', 3, FLAGS) + entry(1, 1, 'r--p', 0, FLAGS), 1);
    const options: Partial<ReplayOptions> = { snapshots: [seed] };
    const replay = replayed(
      by(5, 'getpid() = 5', protect(1, 1, 'PROT_NONE'), protect(1, 1, 'PROT_READ')),
      options,
    );
    expect(keys(end(replay))).toBe('0-1 r--p 3, 1-2 r--p 0');
    const joined = replayed(by(5, 'getpid() = 5', keyed(1, 1, 3)), options);
    expect(keys(end(joined))).toBe('0-2 r--p 3');
  });

  it('are compared by it', () => {
    const lines = by(5, 'getpid() = 5', protect(0, 1, 'PROT_READ'), 'getpid() = 5');
    const check = (key: number) =>
      replayed(lines, {
        snapshots: [smaps(entry(0, 1, 'r--p', 3, FLAGS), 1), smaps(entry(0, 1, 'r--p', key, FLAGS), 3)],
      }).checks[1];
    expect(check(3)).toMatchObject({ outcome: 'equal', settled: 0 });
    expect(check(2)).toMatchObject({
      outcome: 'differs',
      firstDifference: { what: 'protection key 3 against 2' },
    });
  });

  it('tell which key execute-only memory has, where that is a guess', () => {
    const lines = by(
      5,
      'getpid() = 5',
      protect(0, 1, 'PROT_EXEC'),
      'getpid() = 5',
      mapped(1, 1, 'PROT_EXEC'),
    );
    const first = smaps(entry(0, 1, 'r--p', 0, FLAGS), 1);
    const replay = replayed(lines, {
      snapshots: [first, smaps(entry(0, 1, '--xp', 4, 'ex mr mw me'), 3)],
    });
    expect(replay.checks[1]).toMatchObject({ outcome: 'equal', settled: 1 });
    expect(keys(end(replay))).toBe('0-2 --xp 4');
  });
});

describe('a processor without protection keys', () => {
  it('is what a trace shows that never uses one', () => {
    // As strace printed it on 6.18.44.
    const replay = run(
      mapped(0, 1),
      'pkey_alloc(0, 0) = -1 EINVAL (Invalid argument)',
      'pkey_alloc(0, 0) = -1 ENOSPC (No space left on device)',
      keyed(0, 1, 0, REFUSED),
      keyed(0, 0, 99),
      keyed(0, 1, -1),
      protect(0, 1, 'PROT_EXEC'),
    );
    expect(last(replay, 4)).toEqual([
      'pkey_mprotect EINVAL',
      'pkey_mprotect 0',
      'pkey_mprotect 0',
      'mprotect 0',
    ]);
    expect(keys(end(replay))).toBe('0-1 --xp 0');
  });

  it('is what somebody says', () => {
    const replay = replayed(by(5, mapped(0, 1), keyed(0, 1, 0)), { without: ['pkeys'] });
    expect(last(replay, 1)).toEqual(['pkey_mprotect 0, predicted EINVAL (unexplained)']);
  });
});
