import { describe, expect, it } from 'vitest';
import { KERNEL_VERSIONS, type KernelVersion } from '../../../src/mm/kernel_rules';
import { MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { scenario, type Scenario } from '../scenario';
import { MINOR, MISSING, uffd, WP } from '../scenario_uffd';

/** What registering answers, and what it leaves behind. */
function registered(k: Scenario, mode: number, pages = 4): string {
  return uffd(k, 9).register(0, pages, mode).text();
}

describe('what can be watched', () => {
  it.each<[string, (k: Scenario) => Scenario, number, string]>([
    ['anonymous memory', (k) => k.nr(0, 4), MISSING, '[0-4 rw um nr]'],
    ['anonymous memory for write protection', (k) => k.nr(0, 4), WP, '[0-4 rw uw nr]'],
    [
      'shared anonymous memory for minor faults',
      (k) => k.shared(0, 4),
      MINOR,
      '[0-4 rw sh ms ui /dev/zero+0]',
    ],
    [
      'a memfd',
      (k) => k.open(3, '/memfd:m', true, true).file(0, 4, 'rw', 3, 0, MAP_SHARED),
      MISSING | MINOR,
      '[0-4 rw sh ms um ui /memfd:m+0]',
    ],
    ['holes behind the first memory', (k) => k.nr(0, 1).nr(3, 1), MISSING, '[0-1 rw um nr][3-4 rw um nr]'],
  ])('%s', (_, make, mode, text) => {
    expect(registered(make(scenario('6.18')), mode)).toBe(text);
  });

  it.each<[string, (k: Scenario) => Scenario, number, string]>([
    ['no mode', (k) => k.nr(0, 4), 0, 'EINVAL'],
    ['an unknown mode', (k) => k.nr(0, 4), 16, 'EINVAL'],
    ['minor faults of private memory', (k) => k.nr(0, 4), MINOR, 'EINVAL'],
    ['nothing mapped', (k) => k.nr(4, 1), MISSING, 'EINVAL'],
    ['a SysV segment', (k) => k.shmat(0, 4), MISSING, 'EINVAL'],
    ['memory of the kernel', (k) => k.special(0, 4, '[vdso]'), MISSING, 'EINVAL'],
  ])('not %s', (_, make, mode, errno) => {
    expect(registered(make(scenario('6.18')), mode)).toMatch(new RegExp(`^${errno} `));
  });

  it('no range that leaves the address space, none without UFFDIO_API, none that another watches', () => {
    const k = scenario('6.18').nr(0, 4);
    expect(uffd(k, 9).register(0, 2 ** 36).last).toBe('EINVAL');
    const fresh = scenario('6.18').nr(0, 4);
    expect(uffd(fresh, 9, null).register(0, 4).last).toBe('EINVAL');
    const taken = scenario('6.18').nr(0, 4);
    uffd(taken, 8).register(1, 1);
    expect(uffd(taken, 9).register(0, 4).text()).toBe('EBUSY [0-1 rw nr][1-2 rw um nr][2-4 rw nr]');
  });

  it('any memory that can be written, where write protection works by itself', () => {
    const k = scenario('6.18').open(3, '/f').file(0, 4, 'rw', 3, 0);
    expect(uffd(k, 9, { wpAsync: true }).register(0, 4, WP).last).toBe('0');
  });

  it('a file, as far as it may be on tmpfs', () => {
    const k = scenario('6.18').open(3, '/f').file(0, 4, 'rw', 3, 0);
    uffd(k, 9).register(0, 4);
    expect(k.mm.takeDecided('filesystem')).toBe(true);
  });
});

describe('droppable memory', () => {
  it.each<[KernelVersion, string]>([
    ['6.12', '0'],
    ['6.18', 'EINVAL'],
  ])('on %s', (version, result) => {
    const k = scenario(version).map(0, 4, 'rw', 0x38);
    expect(uffd(k, 9).register(0, 4).last).toBe(result);
  });
});

describe('unregistering', () => {
  it('a part leaves the rest, all joins again', () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9);
    fd.register(2, 2);
    expect(fd.unregister(2, 1).text()).toBe('[0-3 rw nr][3-4 rw um nr][4-8 rw nr]');
    expect(fd.unregister(0, 8).text()).toBe('[0-8 rw nr]');
  });

  it.each<[KernelVersion, string]>([
    ['6.12', '[0-8 rw nr]'],
    ['6.18', 'EINVAL [0-2 rw nr][2-4 rw um nr][4-8 rw nr]'],
  ])('what another registered, on %s', (version, text) => {
    const k = scenario(version).nr(0, 8);
    uffd(k, 8).register(2, 2);
    expect(uffd(k, 9).unregister(2, 2).text()).toBe(text);
  });
});

describe('the last close releases', () => {
  it('at once, where nobody else has the descriptor', () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9);
    fd.register(2, 2);
    expect(fd.close().text()).toBe('[0-8 rw nr]');
  });

  it('when the child that inherited it is gone too', () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9);
    fd.register(2, 2);
    const child = k.fork();
    expect(fd.close().text()).toBe('[0-2 rw nr][2-4 rw um nr][4-8 rw nr]');
    child.exit();
    expect(k.text()).toBe('[0-8 rw nr]');
  });
});

describe('whose memory it is', () => {
  it("a child's request works on the memory of the process that opened the descriptor", () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9);
    const child = k.fork();
    expect(fd.register(0, 4, MISSING, child).text()).toBe('[0-8 rw nr]');
    expect(k.text()).toBe('[0-4 rw um nr][4-8 rw nr]');
  });

  it('when that process has ended there is none', () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9);
    const child = k.fork();
    k.exit();
    expect(fd.register(0, 4, MISSING, child).last).toBe('ENOMEM');
  });
});

describe('fork', () => {
  it('leaves the child unwatched', () => {
    const k = scenario('7.3').nr(0, 8);
    uffd(k, 9).register(0, 4);
    // fork joins nothing.
    expect(k.fork().text()).toBe('[0-4 rw nr][4-8 rw nr]');
  });

  it('with EVENT_FORK the child is watched by a context of its own', () => {
    const k = scenario('7.3').nr(0, 8);
    const fd = uffd(k, 9, { eventFork: true });
    fd.register(0, 4);
    const child = k.fork();
    expect(child.text()).toBe('[0-4 rw um nr][4-8 rw nr]');
    expect(fd.unregister(0, 4).text()).toBe('[0-8 rw nr]');
    expect(child.text()).toBe('[0-4 rw um nr][4-8 rw nr]');
  });
});

/** Two ranges, both watched, one moved beside the other; what lies on its other side is not watched. */
function movedBeside(version: KernelVersion, eventRemap: boolean): string {
  const k = scenario(version).nr(0, 4).nr(104, 4).nr(96, 4);
  const fd = uffd(k, 9, { eventRemap });
  fd.register(0, 4);
  fd.register(104, 4);
  return k.move(0, 4, 4, 100).text();
}

describe('moved memory', () => {
  it.each<[KernelVersion, string]>([
    ['6.1', '[96-100 rw nr][100-108 rw nr]'],
    ['6.12', '[96-100 rw nr][100-108 rw nr]'],
    ['6.18', '[96-100 rw nr][100-108 rw nr]'],
    ['7.3', '[96-100 rw nr][100-104 rw nr][104-108 rw um nr]'],
  ])('loses its watch, on %s', (version, text) => {
    expect(movedBeside(version, false)).toBe(text);
  });

  it.each(KERNEL_VERSIONS)('keeps it with EVENT_REMAP, on %s', (version) => {
    expect(movedBeside(version, true)).toBe('[96-100 rw nr][100-108 rw um nr]');
  });

  it('grows in place together with its watch, and joins what is watched behind', () => {
    const k = scenario('7.3').nr(0, 4).nr(8, 4);
    const fd = uffd(k, 9);
    fd.register(0, 4);
    fd.register(8, 4);
    expect(k.grow(0, 4, 8, 0).text()).toBe('[0-12 rw um nr]');
  });

  it('stays where it is with MREMAP_DONTUNMAP', () => {
    const k = scenario('7.3').nr(0, 8);
    uffd(k, 9).register(0, 8);
    expect(k.dontunmap(2, 2, 100).text()).toBe('[0-8 rw um nr][100-102 rw nr]');
  });

  it('moves alone only', () => {
    const k = scenario('7.3').nr(0, 4).nr(4, 4, 'r');
    uffd(k, 9).register(4, 4);
    expect(k.move(0, 8, 8, 100).text()).toBe('EFAULT [4-8 r um nr][100-104 rw nr]');
  });
});
