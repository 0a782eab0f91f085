import { describe, expect, it } from 'vitest';
import { LINEAR_FOR_16, timeRatio } from '../time_ratio';
import { parseMaps } from '../../src/procfs/maps';
import { replayTrace } from '../../src/replay/replayer';
import type { Replay } from '../../src/replay/replay_types';
import { statesLines } from '../../src/replay/states';
import { readTrace } from '../../src/trace/read_trace';

/** Logs that are damaged, contradict themselves or are huge. Each must be replayed to its end, recounted all the way. */

function replayText(text: string): Replay {
  return replayTrace(readTrace(text), { kernel: '7.3', validate: true });
}

const ANON = 'PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0';

/** `pid from-to` of every process. */
function lives(replay: Replay): string[] {
  return replay.lives.map((life) => `${life.pid} ${life.startLine}-${life.endLine ?? ''}`);
}

function mapsOf(replay: Replay, line: number, pid: number): string[] {
  const instant = replay.at(replay.stepAtLine(line));
  const life = instant.lives.find((candidate) => candidate.pid === pid);
  return instant.entries(life?.id ?? '').map((entry) => entry.start.toString(16));
}

describe('pids that make no sense', () => {
  it('takes no process for its own child', () => {
    const replay = replayText('5 clone(child_stack=NULL, flags=SIGCHLD) = 5\n');
    expect(lives(replay)).toEqual(['5 1-']);
    expect(replay.steps[0]?.mismatch?.code).toBe('lost-line');
  });

  it('takes no address for a pid', () => {
    const replay = replayText('5 clone(child_stack=NULL, flags=SIGCHLD) = 0xffffffffffff0000\n');
    expect(lives(replay)).toEqual(['5 1-']);
    expect(replay.steps[0]?.mismatch?.code).toBe('lost-line');
  });

  it('follows a pid that is used again, also by a grandchild', () => {
    const fork = 'clone(child_stack=NULL, flags=SIGCHLD)';
    const replay = replayText(`10 ${fork} = 20\n10 exit_group(0) = ?\n20 ${fork} = 10\n`);
    expect(lives(replay)).toEqual(['10 1-2', '20 1-', '10 3-']);
  });

  it('does not give an earlier process of that pid to a later fork', () => {
    const replay = replayText(
      [
        `20 mmap(NULL, 4096, ${ANON}) = 0x10000`,
        `10 mmap(NULL, 4096, ${ANON}) = 0x20000`,
        '10 exit_group(0) = ?',
        '20 clone(child_stack=NULL, flags=SIGCHLD) = 10',
        '10 munmap(0x30000, 4096) = 0',
        '',
      ].join('\n'),
    );
    expect(lives(replay)).toEqual(['20 1-', '10 2-3', '10 4-']);
    expect(mapsOf(replay, 2, 10)).toEqual(['20']);
    expect(mapsOf(replay, 5, 10)).toEqual(['10']);
  });

  it('ends a process whose pid is born again without an exit', () => {
    const replay = replayText(
      [
        `5 mmap(NULL, 4096, ${ANON}) = 0x10000`,
        '5 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x10000, 4096, "x") = 0',
        '5 clone(child_stack=NULL, flags=SIGCHLD) = 6',
        '5 clone(child_stack=NULL, flags=SIGCHLD) = 6',
        `6 mmap(NULL, 4096, ${ANON}) = 0x90000`,
        '',
      ].join('\n'),
    );
    expect(mapsOf(replay, 5, 6)).toEqual(['10', '90']);
    expect(
      replay
        .at(Infinity)
        .names()
        .map((name) => name.refs),
    ).toEqual([2]);
  });

  it('replays a long chain of forks that are seen before their results', () => {
    const count = 20_000;
    const begun = Array.from(
      { length: count },
      (_, i) => `${i + 1} clone(child_stack=NULL <unfinished ...>\n`,
    );
    const ended = Array.from(
      { length: count },
      (_, i) => `${i + 1} <... clone resumed>, flags=SIGCHLD) = ${i + 2}\n`,
    );
    const text = begun.join('') + `${count + 1} brk(NULL) = 0x1000\n` + ended.join('');
    expect(replayTrace(readTrace(text), { kernel: '7.3', validate: false }).lives).toHaveLength(count + 1);
  }, 60_000);
});

describe('addresses that no program has', () => {
  it.each([
    'mprotect(0x8000000000000000, 18446744073709547520, PROT_READ) = 0',
    `mmap(NULL, 8192, ${ANON}) = 0xfffffffffffff000`,
    'mremap(0xfffffffffffff000, 16384, 32768, MREMAP_MAYMOVE) = 0',
    'mremap(0x10000, 4096, 8192, MREMAP_MAYMOVE) = 0xfffffffffffff000',
    'munmap(0xfffffffffffff000, 4096) = 0',
    'brk(0xfffffffffffff000) = 0xfffffffffffff000',
  ])('%s', (call) => {
    const replay = replayText(`1 mmap(NULL, 4096, ${ANON}) = 0x10000\n1 ${call}\n`);
    const pages = replay.at(Infinity).entries('1@1');
    expect(pages.every((entry) => entry.end <= 2 ** 35)).toBe(true);
  });
});

describe('size', () => {
  it('takes over a snapshot of 150,000 mappings', () => {
    const maps = Array.from({ length: 150_000 }, (_, i) => {
      const start = (0x10000 + i * 2) * 4096;
      return `${start.toString(16)}-${(start + 4096).toString(16)} rw-p 00000000 00:00 0 \n`;
    });
    const snapshot = { label: 'big.maps', pid: 1, line: 1, entries: parseMaps(maps.join('')).entries };
    const text = '1 brk(NULL) = 0x1000\n1 munmap(0x10000000, 4096) = 0\n';
    const replay = replayTrace(readTrace(text), { kernel: '7.3', snapshots: [snapshot], validate: false });
    expect(replay.at(Infinity).vmas('1@1')).toHaveLength(149_999);
  }, 60_000);

  it('yields each state when it is reached', () => {
    const text = `1 mmap(NULL, 4096, ${ANON}) = 0x10000\n`.repeat(1000);
    const first = statesLines(readTrace(text), { kernel: '7.3' }).next();
    expect(first.value).toMatchObject({ line: 1 });
  });

  it.each([
    ['pids born again and again', (n: number) => '1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n'.repeat(n)],
    [
      'many processes and many calls',
      (n: number) =>
        Array.from({ length: n }, (_, i) => `1 clone(child_stack=NULL, flags=SIGCHLD) = ${i + 2}\n`).join(
          '',
        ) + '1 mprotect(0x10000, 4096, PROT_READ) = 0\n'.repeat(n * 4),
    ],
  ])(
    'takes time in proportion: %s',
    (_, text) => {
      const work = (input: string): void => {
        replayTrace(readTrace(input), { kernel: '7.3', validate: false });
      };
      expect(timeRatio(work, text(250), text(4000))).toBeLessThan(LINEAR_FOR_16);
    },
    60_000,
  );
});
