import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import type { SnapshotInput } from '../../src/replay/replay_types';
import { by, end, flags, fork, mapped, maps, replayed, results } from './traced';

/** Shows that the kernel has soft-dirty. */
const SHOWN: SnapshotInput = {
  label: 's',
  pid: 5,
  line: 1,
  entries: parseMaps('7f1000000000-7f1000001000 rw-p 00000000 00:00 0 \nVmFlags: rd wr mr mw me ac sd \n')
    .entries,
};
const DIRTY = '0-1 rd wr mr mw me ac sd';
const CLEAN = '0-1 rd wr mr mw me ac';

const OPEN = 'openat(AT_FDCWD, "/proc/self/clear_refs", O_WRONLY) = 3';

/** Flags of the first mapping of a process after the lines. */
function after(pid: number, ...lines: readonly string[]): string {
  const replay = replayed([...by(5, 'getpid() = 5'), ...lines], { snapshots: [SHOWN] });
  return flags(end(replay), pid);
}

describe('a write to clear_refs', () => {
  // As strace printed them on 6.18.44.
  it.each([
    ['write(3</proc/5/clear_refs>, "4", 1) = 1'],
    ['write(3, "4", 1)                  = 1'],
    ['pwrite64(3</proc/5/clear_refs>, "4\\n", 2, 0) = 2'],
    ['write(3</proc/5/clear_refs>, " 04\\n", 4) = 4'],
    ['write(3, "4"..., 20)              = 12'],
  ])('clears soft-dirty: %s', (write) => {
    expect(after(5, ...by(5, OPEN, write))).toBe(CLEAN);
  });

  it.each([
    ['write(3</proc/5/clear_refs>, "1", 1) = 1'],
    ['write(3</proc/5/clear_refs>, "5\\n", 2) = 2'],
    ['write(3</proc/5/clear_refs>, "4", 1) = -1 EINVAL (Invalid argument)'],
    ['write(3</proc/5/clear_refs>, "4", 1) = 1 (INJECTED)'],
    ['write(3</proc/5/clear_refs>, "4", 1 <unfinished ...>'],
    ['write(3</proc/5/oom_score_adj>, "4", 1) = 1'],
    ['write(4, "4", 1) = 1'],
    ['read(3</proc/5/clear_refs>, "4", 1) = 1'],
  ])('and this does not: %s', (write) => {
    expect(after(5, ...by(5, OPEN, write))).toBe(DIRTY);
  });

  it('is a step of the process whose memory it is', () => {
    const lines = [...by(5, 'getpid() = 5', OPEN), ...by(5, 'write(3, "4", 1) = 1', mapped(4, 1))];
    const replay = replayed(lines, { snapshots: [SHOWN] });
    expect(results(replay).slice(1)).toEqual(['3 write 1', '4 mmap 0x7f1000004000']);
    expect(replay.steps[1]?.title).toBe('write(4 to clear_refs of 5: nothing is soft-dirty)');
    expect(flags(replay.at(0))).toBe(DIRTY);
    expect(flags(replay.at(1))).toBe(CLEAN);
    expect(flags(replay.at(2))).toBe(`${CLEAN}, 4-5 rd wr mr mw me ac sd`);
  });

  it('works on the process that opened the file, whoever writes', () => {
    const lines = [...by(5, OPEN, 'dup2(3, 1) = 1', fork(6)), '6 write(1, "4\\n", 2) = 2'];
    expect(after(5, ...lines)).toBe(CLEAN);
    expect(after(6, ...lines)).toBe(DIRTY);
    const own = [...by(5, fork(6)), ...by(6, OPEN, 'write(3, "4\\n", 2) = 2')];
    expect(after(5, ...own)).toBe(DIRTY);
    expect(after(6, ...own)).toBe(CLEAN);
    const other = [...by(5, fork(6)), ...by(6, OPEN.replace('self', '5'), 'write(3, "4\\n", 2) = 2')];
    expect(after(5, ...other)).toBe(CLEAN);
    expect(after(6, ...other)).toBe(DIRTY);
  });

  it('goes by the note of the descriptor, where its opening is not in the trace', () => {
    expect(after(5, '5 write(7</proc/5/clear_refs>, "4", 1) = 1')).toBe(CLEAN);
    expect(after(5, '5 write(7</proc/5/task/5/clear_refs>, "4", 1) = 1')).toBe(CLEAN);
    expect(after(5, '5 write(7</proc/99/clear_refs>, "4", 1) = 1')).toBe(DIRTY);
  });

  it('is no step on a kernel that shows no soft-dirty', () => {
    const replay = replayed(by(5, mapped(0, 1), OPEN, 'write(3, "4", 1) = 1'));
    expect(results(replay)).toEqual(['1 mmap 0x7f1000000000']);
    expect(maps(end(replay))).toBe('0-1 rw-p');
  });
});
