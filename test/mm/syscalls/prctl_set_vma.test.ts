import { describe, expect, it } from 'vitest';
import { MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, scenario, type Scenario } from '../scenario';

const HERE = Number(at(0));

function name(
  kernel: Scenario,
  other: { option?: number; addr?: number | bigint; length?: number | bigint; text?: string },
): Scenario {
  const { text = 'x', ...rest } = other;
  const call = { name: 'prctl_set_vma', option: 0, addr: HERE, length: 4096, ...rest } as const;
  return kernel.nr(0, 2).call({ ...call, vmaName: { kind: 'text', text, truncated: false } });
}

const SAME = '[0-2 rw nr]';

describe('arguments, in the order in which they are refused', () => {
  behaves('another option than the one there is', (k) => name(k, { option: 1, text: 'a[' }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('a bad name beats an address inside a page', (k) => name(k, { addr: HERE + 1, text: 'a$b' }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('an address inside a page beats no length', (k) => name(k, { addr: HERE + 1, length: 0 }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('a bad name beats no length', (k) => name(k, { length: 0, text: 'a`' }), { all: `EINVAL ${SAME}` });
  behaves('a length that wraps', (k) => name(k, { length: 0xfffffffffffffff0n }), { all: `EINVAL ${SAME}` });
  behaves('a range that wraps', (k) => name(k, { length: 0xfffffffffffff000n }), { all: `EINVAL ${SAME}` });
  behaves(
    'no length is nothing to do, also where nothing is mapped',
    (k) => name(k, { addr: at(50), length: 0 }),
    {
      all: SAME,
    },
  );
  behaves('a length is rounded up', (k) => name(k, { length: 1 }), { all: '[0-1 rw nr "x"][1-2 rw nr]' });
  behaves('nothing mapped there', (k) => name(k, { addr: at(50) }), { all: `ENOMEM ${SAME}` });

  it('a kernel without names refuses all of it', () => {
    const kernel = scenario('7.3', { lacks: ['anon-names'] })
      .nr(0, 1)
      .name(0, 1, 'x')
      .see()
      .name(0, 0, null);
    expect(kernel.text()).toBe('EINVAL [0-1 rw nr] ; EINVAL [0-1 rw nr]');
  });
});

describe('the text', () => {
  it.each(['\\', '`', '$', '[', ']', '\x1f', '\x7f', '\t', 'é', '\udce9'])(
    '%j must not be in it',
    (character) => {
      expect(scenario('7.3').nr(0, 1).name(0, 1, `a${character}b`).last).toBe('EINVAL');
    },
  );

  it('every other printable character may', () => {
    for (let code = 0x20; code < 0x7f; code++) {
      const character = String.fromCharCode(code);
      if ('\\`$[]'.includes(character)) continue;
      expect([character, scenario('7.3').nr(0, 1).name(0, 1, character).last]).toEqual([character, '0']);
    }
  });
});

describe('what can be named', () => {
  behaves(
    'shared anonymous memory since 6.2, files never',
    (k) =>
      k
        .open(3, 'F')
        .shared(0, 1)
        .file(1, 1, 'rw', 3, 0, MAP_SHARED)
        .name(0, 1, 'x')
        .seeResult()
        .name(1, 1, 'x'),
    {
      '6.1': 'EBADF ; EBADF [0-1 rw sh ms /dev/zero+0][1-2 rw sh ms F+0]',
      '6.10+': '0 ; EBADF [0-1 rw sh ms /dev/zero+0 "x"][1-2 rw sh ms F+0]',
    },
  );
  behaves('a file refuses to lose a name too', (k) => k.open(3, 'F').file(0, 1, 'r', 3, 0).name(0, 1, null), {
    all: 'EBADF [0-1 r F+0]',
  });
  it('mappings that the kernel made, where it does not show', () => {
    const kernel = scenario('7.3').special(0, 1, '[vdso]').name(0, 1, 'x');
    expect([kernel.last, kernel.labels()]).toEqual(['0', '[0-1 [vdso]]']);
  });
  behaves('the heap, where it does not show', (k) => k.heapAt(0).brk(2).name(0, 2, 'x').labels(), {
    all: '[0-2 [heap]]',
  });
});

describe('along the range', () => {
  behaves('a hole does not stop it', (k) => k.nr(0, 1).nr(2, 2).name(0, 3, 'x'), {
    all: 'ENOMEM [0-1 rw nr "x"][2-3 rw nr "x"][3-4 rw nr]',
  });
  behaves('at the limit: what came before stays', (k) => k.nr(0, 1).nr(1, 2, 'r').limit(2).name(0, 2, 'x'), {
    all: 'EAGAIN [0-1 rw nr "x"][1-3 r nr]',
  });
  behaves('the same name again needs no split', (k) => k.nr(0, 3).name(0, 3, 'x').limit(1).name(1, 1, 'x'), {
    all: '[0-3 rw nr "x"]',
  });
  behaves('a new map has no name and joins no named one', (k) => k.nr(0, 1).name(0, 1, 'x').nr(1, 1), {
    all: '[0-1 rw nr "x"][1-2 rw nr]',
  });
  behaves(
    'mprotect, advice and locks keep it',
    (k) => k.nr(0, 3).name(0, 3, 'x').mprotect(0, 1, 'r').madvise(1, 1, 10).mlock(2, 1),
    {
      all: '[0-1 r nr "x"][1-2 rw dc nr "x"][2-3 rw lo nr "x"]',
    },
  );
});
