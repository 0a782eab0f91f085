import { describe, expect, it } from 'vitest';
import { replayTrace } from '../../src/replay/replayer';
import type { ReplayOptions, ReplayStep } from '../../src/replay/replay_types';
import { parseStrace } from '../../src/trace/strace/importer';

function stepsOf(text: string, options: Partial<ReplayOptions> = {}): readonly ReplayStep[] {
  const trace = parseStrace(text);
  expect(trace.problems).toEqual([]);
  return replayTrace(trace, { kernel: '6.12', ...options }).steps;
}

/** Recorded, predicted and the code of a mismatch. */
function outcomes(text: string, options?: Partial<ReplayOptions>): string[] {
  return stepsOf(text, options).map(
    ({ recorded, predicted, mismatch }) => `${recorded} ${predicted}${mismatch ? ` ${mismatch.code}` : ''}`,
  );
}

const MAP =
  'mmap(0x10000000, 32768, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x10000000';

describe('limits in a trace', () => {
  it('are those that prlimit64 set, in a child and after exec too', () => {
    const refused =
      'mmap(0x20000000, 8192, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (no)';
    expect(
      outcomes(
        [
          '1 prlimit64(0, RLIMIT_AS, {rlim_cur=8*1024, rlim_max=RLIM64_INFINITY}, {rlim_cur=RLIM64_INFINITY, rlim_max=RLIM64_INFINITY}) = 0',
          '1 mmap(0x10000000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x10000000',
          `1 ${refused}`,
          '1 fork() = 2',
          `2 ${refused}`,
          '2 execve("/bin/true", ["true"], 0x1 /* 0 vars */) = 0',
          '2 mmap(0x20000000, 12288, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (no)',
        ].join('\n'),
      ),
    ).toEqual(['0x10000000 0x10000000', 'ENOMEM ENOMEM', '2 ?', 'ENOMEM ENOMEM', '0 ?', 'ENOMEM ENOMEM']);
  });

  it('count also where the kernel would have chosen the place', () => {
    expect(
      outcomes(
        [
          '1 prlimit64(0, RLIMIT_AS, {rlim_cur=8*1024, rlim_max=RLIM64_INFINITY}, NULL) = 0',
          '1 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000000',
          '1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (no)',
        ].join('\n'),
      ),
    ).toEqual(['0x10000000 ?', 'ENOMEM ENOMEM']);
  });

  it('are those that getrlimit or the old value tells, but not those of another resource', () => {
    const brk = '1 brk(NULL) = 0x5000\n1 brk(0x9000) = 0x5000\n';
    expect(outcomes(`1 getrlimit(RLIMIT_DATA, {rlim_cur=8192, rlim_max=8192}) = 0\n${brk}`)[1]).toBe(
      '0x5000 0x5000',
    );
    expect(outcomes(`1 prlimit64(0, RLIMIT_DATA, NULL, {rlim_cur=8192, rlim_max=8192}) = 0\n${brk}`)[1]).toBe(
      '0x5000 0x5000',
    );
    expect(outcomes(`1 getrlimit(RLIMIT_CORE, {rlim_cur=8192, rlim_max=8192}) = 0\n${brk}`)[1]).toBe(
      '0x5000 0x9000 limit-unknown',
    );
    expect(
      outcomes(`1 setrlimit(RLIMIT_DATA, {rlim_cur=8192, rlim_max=8192}) = -1 EPERM (no)\n${brk}`)[1],
    ).toBe('0x5000 0x9000 limit-unknown');
  });

  it('leaves CAP_IPC_LOCK open until a call shows it', () => {
    const limit = '1 setrlimit(RLIMIT_MEMLOCK, {rlim_cur=4096, rlim_max=4096}) = 0';
    const lock = '1 mlock(0x10000000, 8192)';
    const user = [limit, `1 ${MAP}`, `${lock} = -1 ENOMEM (no)`, `${lock} = -1 ENOMEM (no)`].join('\n');
    expect(outcomes(user).slice(1)).toEqual(['ENOMEM ?', 'ENOMEM ENOMEM']);
    const root = [limit, `1 ${MAP}`, `${lock} = 0`, `1 munlock(0x10000000, 8192) = 0`, `${lock} = 0`].join(
      '\n',
    );
    expect(outcomes(root).slice(1)).toEqual(['0 ?', '0 0', '0 0']);
    const dropped = `${root}\n1 setuid(1000) = 0\n1 munlock(0x10000000, 8192) = 0\n${lock} = -1 ENOMEM (no)`;
    expect(outcomes(dropped).slice(4)).toEqual(['0 0', 'ENOMEM ?']);
  });

  it('knows from capset that CAP_IPC_LOCK is gone, not that it is of use', () => {
    const limit = '1 setrlimit(RLIMIT_MEMLOCK, {rlim_cur=4096, rlim_max=4096}) = 0';
    const header = 'capset({version=_LINUX_CAPABILITY_VERSION_3, pid=0}';
    const lockAfter = (effective: string): string | undefined =>
      outcomes(
        [
          limit,
          `1 ${MAP}`,
          `1 ${header}, {effective=${effective}, permitted=1<<CAP_IPC_LOCK, inheritable=0}) = 0`,
          '1 mlock(0x10000000, 8192) = -1 ENOMEM (no)',
        ].join('\n'),
      )[1];
    expect(lockAfter('0')).toBe('ENOMEM ENOMEM');
    expect(lockAfter('1<<CAP_CHOWN|1<<CAP_KILL|0x1fffeffb000')).toBe('ENOMEM ENOMEM');
    expect(lockAfter('1<<CAP_CHOWN|1<<CAP_IPC_LOCK')).toBe('ENOMEM ?');
    expect(lockAfter('0x1fffeffffff')).toBe('ENOMEM ?');
    expect(lockAfter('CAP_WHATEVER')).toBe('ENOMEM ?');
  });

  it('learns no capability from a call that ends the same with and without it', () => {
    const text = [
      '1 setrlimit(RLIMIT_MEMLOCK, {rlim_cur=4096, rlim_max=4096}) = 0',
      '1 mmap(0x10000000, 32768, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x10000000',
      // Without the capability it is too much, with it the memory cannot be brought in.
      '1 mlock(0x10000000, 8192) = -1 ENOMEM (no)',
      '1 mprotect(0x10000000, 32768, PROT_READ) = 0',
      '1 mlock(0x10002000, 8192) = -1 ENOMEM (no)',
    ].join('\n');
    expect(outcomes(text).slice(1)).toEqual(['ENOMEM ENOMEM', '0 0', 'ENOMEM ?']);
  });

  it('refuses what exceeds RLIMIT_AS or RLIMIT_DATA also where the kernel may choose the place', () => {
    const map = (prot: string): string =>
      `1 mmap(NULL, 12288, ${prot}, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (no)`;
    const limited = (name: string, call: string): string[] =>
      outcomes(`1 setrlimit(${name}, {rlim_cur=8192, rlim_max=8192}) = 0\n${call}`);
    expect(limited('RLIMIT_AS', map('PROT_READ'))).toEqual(['ENOMEM ENOMEM']);
    expect(limited('RLIMIT_DATA', map('PROT_READ|PROT_WRITE'))).toEqual(['ENOMEM ENOMEM']);
    expect(limited('RLIMIT_DATA', map('PROT_READ'))).toEqual(['ENOMEM ? limit-unknown']);
  });

  it('takes a refusal that no known limit explains for a limit that is not shown', () => {
    const text = `1 ${MAP.replace('= 0x10000000', '= -1 ENOMEM (no)')}`;
    expect(outcomes(text)).toEqual(['ENOMEM 0x10000000 limit-unknown']);
    expect(outcomes(text, { commitPages: 4 })).toEqual(['ENOMEM ENOMEM']);
  });
});

describe('what pages decide', () => {
  it('is open for mbind with MPOL_MF_STRICT and a policy without nodes, and a refusal changes nothing', () => {
    const after = (result: string, prot = 'PROT_READ|PROT_WRITE'): (string | number)[] => {
      const map = MAP.replace('PROT_READ|PROT_WRITE', prot);
      const text = `1 ${map}\n1 mbind(0x10000000, 4096, MPOL_LOCAL, NULL, 0, MPOL_MF_STRICT) = ${result}\n`;
      const replay = replayTrace(parseStrace(text), { kernel: '6.18' });
      const vmas = replay.at(1).vmas(replay.lives[0]?.id ?? '').length;
      return [outcomes(text, { kernel: '6.18' })[1] ?? '', vmas];
    };
    expect(after('0')).toEqual(['0 ?', 2]);
    expect(after('-1 EIO (Input/output error)')).toEqual(['EIO ?', 1]);
    // Nobody can have written there.
    expect(after('0', 'PROT_NONE')).toEqual(['0 0', 2]);
  });
});

describe('faults that signals show', () => {
  it('an access that was not allowed below memory that grows down has made it grow', () => {
    const text = [
      '1 mmap(0x10010000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_GROWSDOWN, -1, 0) = 0x10010000',
      '1 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_ACCERR, si_addr=0x1000e010} ---',
      '1 munmap(0x20000000, 4096) = 0',
    ].join('\n');
    const replay = replayTrace(parseStrace(text), { kernel: '6.12' });
    const [life] = replay.lives;
    expect(
      replay
        .at(1)
        .vmas(life?.id ?? '')
        .map(({ start, end }) => [start, end]),
    ).toEqual([[0x1000e, 0x10011]]);
  });
});
