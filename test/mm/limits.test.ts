import { describe, expect, it } from 'vitest';
import { MAP_ANONYMOUS, MAP_FIXED, MAP_GROWSDOWN, MAP_LOCKED, MAP_PRIVATE } from '../../src/mm/syscalls/mmap';
import type { KernelVersion } from '../../src/mm/kernel_rules';
import type { Rlimit } from '../../src/mm/process_limits';
import { scenario } from './scenario';

/** What small programs got on 6.1.192, 6.12.117, 6.18.44 and 7.3.4. */

const MCL_CURRENT = 1;
const MCL_FUTURE = 2;
const VERSIONS: readonly KernelVersion[] = ['6.1', '6.12', '6.18', '7.3'];

function pages(count: number): Rlimit {
  return { cur: count * 4096, max: Infinity };
}

describe.each(VERSIONS)('limits on %s', (version) => {
  const splits = version !== '6.1';
  const sourceFirst = version === '6.18' || version === '7.3';

  it('RLIMIT_AS below what is mapped already: a replacement of equal size is refused', () => {
    const k = scenario(version)
      .nr(0, 3)
      .nr(3, 3, 'r')
      .limits({ as: pages(5) });
    expect(k.nr(1, 4).text()).toBe(
      splits ? 'ENOMEM [0-1 rw nr][1-3 rw nr][3-5 r nr][5-6 r nr]' : 'ENOMEM [0-3 rw nr][3-6 r nr]',
    );
  });

  it('RLIMIT_DATA counts private writable memory that is no stack', () => {
    const k = scenario(version)
      .nr(0, 3, 'r')
      .limits({ data: { cur: 4095, max: Infinity } });
    expect(k.mprotect(1, 1, 'rw').seeResult().nr(5, 1).seeResult().log()).toBe('ENOMEM ; ENOMEM');
    expect(k.a(7, 1, 'rw', MAP_GROWSDOWN).nr(9, 1, 'r').shared(11, 1).last).toBe('@11');
  });

  it('a soft RLIMIT_DATA of 0 holds for brk only', () => {
    const k = scenario(version)
      .heapAt(10)
      .limits({ data: { cur: 0, max: Infinity } });
    expect(k.nr(0, 1).seeResult().brk(12).seeResult().log()).toBe('@0 ; @10');
  });

  it('brk cannot even shrink above RLIMIT_DATA', () => {
    const k = scenario(version)
      .heapAt(0)
      .brk(10)
      .limits({ data: pages(1) });
    expect(k.brk(5).last).toBe('@10');
  });

  it('mprotect is refused only what newly exceeds RLIMIT_DATA', () => {
    const k = scenario(version)
      .nr(0, 3)
      .limits({ data: pages(2) });
    expect(
      k.mprotect(2, 1, 'rwx').seeResult().mprotect(2, 1, 'r').mprotect(2, 1, 'rw').seeResult().log(),
    ).toBe('0 ; ENOMEM');
  });

  it('mremap grows and copies within RLIMIT_AS', () => {
    const k = scenario(version)
      .nr(0, 3)
      .limits({ as: pages(3) });
    const tried = k
      .grow(0, 3, 4, 0)
      .seeResult()
      .move(0, 3, 3, 20)
      .seeResult()
      .dontunmap(20, 3, 40)
      .seeResult();
    expect(tried.move(20, 1, 2, 60).seeResult().log()).toBe('ENOMEM ; @20 ; ENOMEM ; ENOMEM');
  });

  it('a fixed move frees its target before RLIMIT_AS is asked, until 6.16', () => {
    const k = scenario(version)
      .nr(0, 3)
      .nr(20, 3)
      .limits({ as: pages(6) });
    expect(k.move(0, 2, 3, 20).text()).toBe(
      sourceFirst ? 'ENOMEM [0-3 rw nr][20-23 rw nr]' : '[2-3 rw nr][20-23 rw nr]',
    );
  });

  it('RLIMIT_MEMLOCK without CAP_IPC_LOCK', () => {
    const k = scenario(version)
      .nr(0, 8)
      .limits({ memlock: pages(4), ipcLock: false });
    expect(k.mlock(0, 8).seeResult().mlock(0, 4).seeResult().mlock(2, 4).seeResult().log()).toBe(
      'ENOMEM ; 0 ; ENOMEM',
    );
    expect(k.mlock(0, 4).last).toBe('0');
    expect(k.map(20, 1, 'rw', MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED).seeResult().last).toBe(
      'EAGAIN',
    );
    // The kind of mapping is looked at afterwards.
    expect(k.map(20, 1, 'rw', MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED).seeResult().last).toBe('EAGAIN');
    expect(k.grow(3, 1, 2).seeResult().last).toBe('EAGAIN');
    expect(k.mlockall(MCL_CURRENT).seeResult().mlockall(MCL_FUTURE).last).toBe('0');
    expect(k.nr(30, 5).seeResult().last).toBe('EAGAIN');
  });

  it('RLIMIT_MEMLOCK of 0 without CAP_IPC_LOCK', () => {
    const k = scenario(version)
      .nr(0, 1)
      .limits({ memlock: pages(0), ipcLock: false });
    const tried = k
      .mlock(0, 1)
      .seeResult()
      .mlock(0, 0)
      .seeResult()
      .mlockall(MCL_CURRENT)
      .seeResult()
      .munlock(0, 1);
    expect(tried.mlock2(0, 1, 8).seeResult().mlockall(99).seeResult().log()).toBe(
      'EPERM ; EPERM ; EPERM ; EINVAL ; EINVAL',
    );
    expect(k.map(20, 1, 'rw', MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED).seeResult().last).toBe('EPERM');
  });

  it('memory that grows down stays within RLIMIT_STACK, RLIMIT_AS and RLIMIT_MEMLOCK', () => {
    const grown = (k = scenario(version).a(100, 1, 'rw', MAP_GROWSDOWN)): typeof k => k;
    expect(
      grown()
        .limits({ stack: pages(8) })
        .fault(93)
        .seeResult()
        .fault(92)
        .seeResult()
        .log(),
    ).toBe('0 ; SIGSEGV');
    expect(
      grown()
        .limits({ as: pages(1) })
        .fault(99).last,
    ).toBe('SIGSEGV');
    expect(
      grown()
        .limits({ data: { cur: 1, max: 1 } })
        .fault(99).last,
    ).toBe('0');
    const locked = grown()
      .mlock(100, 1)
      .limits({ memlock: pages(1), ipcLock: false });
    expect(locked.fault(99).last).toBe('SIGSEGV');
  });

  it('shared anonymous memory that cannot be backed leaves a hole', () => {
    const k = scenario(version).memory('guess', 100).nr(0, 3);
    expect(k.shared(1, 200).text()).toBe('ENOMEM [0-1 rw nr]');
  });

  it('a request of more than all memory: mprotect, mremap', () => {
    const k = scenario(version).memory('guess', 100).nr(0, 200).a(300, 200, 'r').a(600, 1);
    expect(k.mprotect(300, 200, 'rw').seeResult().grow(600, 1, 200, 0).seeResult().log()).toBe(
      'ENOMEM ; ENOMEM',
    );
    expect(k.move(600, 1, 200, 1000).last).toBe('ENOMEM');
  });
});
