import { describe, expect, it } from 'vitest';
import { parseStrace } from '../../../src/trace/strace/importer';
import { FALLBACK_PID } from '../../../src/trace/strace/pids';

function pids(text: string): number[] {
  return parseStrace(text).events.map((event) => event.pid);
}

function lacks(text: string): string[] {
  return parseStrace(text).lacks.map(({ code }) => code);
}

describe('pids of lines without one', () => {
  it('is the pid in prefixes that no clone returned', () => {
    expect(
      pids('brk(NULL) = 0x1000\nfork() = 9\n[pid  9] brk(NULL) = 0x1000\n[pid  8] brk(NULL) = 0x1000\n'),
    ).toEqual([8, 8, 9, 8]);
  });

  it('knows children by the messages before their parents’ results', () => {
    const text =
      'vfork(strace: Process 9 attached\n <unfinished ...>\n[pid  9] exit(0) = ?\n[pid  8] <... vfork resumed>) = 9\n';
    expect(pids(text)).toEqual([9, 8]);
  });

  it('knows children by the results of split calls alone (-q)', () => {
    expect(
      pids('vfork( <unfinished ...>\n[pid  9] exit(0) = ?\n[pid  8] <... vfork resumed>) = 9\n'),
    ).toEqual([9, 8]);
  });

  it('belongs to whoever is left', () => {
    const text =
      '[pid  8] fork() = 9\n[pid  9] brk(NULL) = 0x1000\n[pid  8] +++ exited with 0 +++\nbrk(NULL) = 0x1000\n';
    expect(pids(text)).toEqual([8, 9, 8, 9]);
  });

  it('takes the word of the task itself, its thread first', () => {
    expect(pids('getpid() = 7\ngettid() = 8\n')).toEqual([8, 8]);
    expect(lacks('getpid() = 7\n')).not.toContain('no-pids');
  });

  it('makes one up otherwise, says so, and takes none that is used', () => {
    expect(pids('brk(NULL) = 0x1000\n')).toEqual([FALLBACK_PID]);
    expect(lacks('brk(NULL) = 0x1000\n')).toContain('no-pids');
    expect(pids('fork() = 1\nstrace: Process 1 attached\n[pid     1] brk(NULL) = 0x1000\n')).toEqual([2, 1]);
  });

  it('is what the caller says', () => {
    const trace = parseStrace('gettid() = 8\n', { pid: 99 });
    expect(trace.events.map((event) => event.pid)).toEqual([99]);
  });
});

describe('what a capture lacks', () => {
  const exec = '7 execve("/a", ["a"], NULL) = 0\n';
  const map = '7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</a>, 0) = 0x1000\n';
  const prctl = '7 prctl(PR_SET_NAME, "x") = 0\n';

  it('is nothing for a capture made as recommended', () => {
    expect(lacks(exec + map + prctl)).toEqual([]);
  });

  it('is prctl, unless the capture is unfiltered and there simply was none', () => {
    expect(lacks(exec + map)).toEqual(['no-prctl']);
    expect(lacks(`${exec}7 arch_prctl(ARCH_SET_FS, 0x1) = 0\n${map}`)).toEqual([]);
  });

  it('is the rest of cut names, and names that are pointers', () => {
    const name = (text: string): string =>
      `7 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x1000, 4096, ${text}) = 0\n`;
    expect(lacks(exec + name('"a"...'))).toEqual(['names-cut']);
    expect(lacks(exec + name('0x1234'))).toEqual(['names-as-pointers']);
    expect(lacks(exec + name('NULL'))).toEqual([]);
  });

  it('is the children, if none has a line', () => {
    expect(lacks(`${exec}${prctl}7 fork() = 8\n`)).toEqual(['no-children']);
    expect(lacks(`${exec}${prctl}7 fork() = 8\n7 fork() = 9\n9 exit(0) = ?\n`)).toEqual([]);
  });

  it('is paths, if mapped files have none', () => {
    expect(lacks(`${exec}${prctl}7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x1000\n`)).toEqual([
      'no-fd-paths',
    ]);
  });

  it('is the start, if the first task did not begin with execve', () => {
    expect(lacks(prctl)).toEqual(['no-start']);
  });

  it('is the failed calls, only when a long capture cannot do without', () => {
    const start = `${exec}7 arch_prctl(ARCH_SET_FS, 0x1) = 0\n7 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY) = 3\n`;
    expect(lacks(start + map.repeat(200))).toEqual(['no-failed-calls']);
    expect(
      lacks(`${start}7 access("/x", R_OK) = -1 ENOENT (No such file or directory)\n${map.repeat(200)}`),
    ).toEqual([]);
    expect(lacks(start + map.repeat(20))).toEqual([]);
  });

  it('is whether a task shares memory, if the flags of its clone3 are hidden', () => {
    expect(lacks(`${exec}${prctl}7 clone3(0x7ff0, 88) = 8\n8 exit(0) = ?\n`)).toEqual(['no-clone-flags']);
    expect(lacks(`${exec}${prctl}7 clone3(NULL, 0) = -1 EINVAL (Invalid argument)\n`)).toEqual([]);
  });

  it('is mseal by name', () => {
    expect(lacks(`${exec}${prctl}7 syscall_0x1ce(0x1000, 0x1000, 0, 1, 2, 3) = 0\n`)).toEqual([
      'numbered-calls',
    ]);
  });
});
