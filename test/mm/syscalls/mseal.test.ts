import { describe } from 'vitest';
import { MAP_GROWSDOWN, MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, type Scenario } from '../scenario';

const HERE = Number(at(0));

function mseal(
  kernel: Scenario,
  other: { addr?: number | bigint; length?: number | bigint; flags?: number | bigint },
): Scenario {
  return kernel.nr(0, 2).call({ name: 'mseal', addr: HERE, length: 4096, flags: 0, ...other });
}

describe('arguments, in the order in which they are refused', () => {
  behaves('flags', (k) => mseal(k, { flags: 1n << 40n }), {
    '6.1': 'ENOSYS [0-2 rw nr]',
    '6.10+': 'EINVAL [0-2 rw nr]',
  });
  behaves('an address inside a page beats no length', (k) => mseal(k, { addr: HERE + 1, length: 0 }), {
    '6.10+': 'EINVAL [0-2 rw nr]',
  });
  behaves('a length that rounds to nothing', (k) => mseal(k, { length: 0xfffffffffffff001n }), {
    '6.10+': 'EINVAL [0-2 rw nr]',
  });
  behaves('a range that ends at 2^64', (k) => mseal(k, { addr: 0xfffffffffffff000n, length: 4096 }), {
    '6.10+': 'EINVAL [0-2 rw nr]',
  });
  behaves(
    'no length is nothing to do, also where nothing is mapped',
    (k) => mseal(k, { addr: at(50), length: 0 }),
    {
      '6.10+': '[0-2 rw nr]',
    },
  );
  behaves('a length is rounded up', (k) => mseal(k, { length: 4097 }), { '6.10+': '[0-2 rw nr sl]' });
  behaves(
    'nothing mapped at all, and nothing at the end',
    (k) =>
      mseal(k, { addr: at(50) })
        .see()
        .mseal(1, 2),
    {
      '6.10+': 'ENOMEM [0-2 rw nr] ; ENOMEM [0-2 rw nr]',
    },
  );
});

describe('what can be sealed', () => {
  behaves(
    'any kind of memory',
    (k) =>
      k
        .open(3, 'F')
        .file(0, 1, 'r', 3, 0)
        .file(1, 1, 'rw', 3, 0, MAP_SHARED)
        .shared(2, 1)
        .a(3, 1, 'rw', MAP_GROWSDOWN)
        .nr(4, 1, 'none')
        .mseal(0, 5),
    {
      '6.10+':
        '[0-1 r sl F+0][1-2 rw sh ms sl F+0][2-3 rw sh ms sl /dev/zero+0][3-4 rw gd ac sl][4-5 none nr sl]',
    },
  );
  behaves('a range that begins and ends inside of mappings', (k) => k.nr(0, 3).nr(3, 3, 'r').mseal(2, 2), {
    '6.10+': '[0-2 rw nr][2-3 rw nr sl][3-4 r nr sl][4-6 r nr]',
  });
  behaves(
    'at the limit: what was sealed before stays so',
    (k) => k.nr(0, 1, 'r').nr(1, 3).limit(2).mseal(0, 2),
    {
      '6.10+': 'ENOMEM [0-1 r nr sl][1-4 rw nr]',
    },
  );
  behaves(
    'at the limit: a seal that is there already needs no split',
    (k) => k.nr(0, 3).mseal(0, 3).limit(1).mseal(1, 1),
    {
      '6.10+': '[0-3 rw nr sl]',
    },
  );
});

describe('what seals do not refuse', () => {
  behaves(
    'locks, names and advice, which split them',
    (k) => k.nr(0, 4).mseal(0, 4).mlock(0, 1).name(1, 1, 'x').madvise(2, 1, 1),
    {
      '6.10+': '[0-1 rw lo nr sl][1-2 rw nr sl "x"][2-3 rw rr nr sl][3-4 rw nr sl]',
    },
  );
  behaves('a hint and a fixed place beside them', (k) => k.nr(0, 1).mseal(0, 1).nr(1, 1).munmap(1, 1), {
    '6.10+': '[0-1 rw nr sl]',
  });
  behaves('fork: the child has them, and exit', (k) => k.nr(0, 1).mseal(0, 1).fork().munmap(0, 1), {
    '6.10+': 'EPERM [0-1 rw nr sl]',
  });
});

describe('what refuses them a way out', () => {
  behaves(
    'MADV_UNMERGEABLE takes the seal off on 6.10 and 6.11',
    (k) => k.nr(0, 2).madvise(0, 2, 12).mseal(0, 2).madvise(0, 2, 13).mprotect(0, 1, 'r'),
    {
      '6.10 6.11': '[0-1 r nr][1-2 rw nr]',
      '6.12+': 'EPERM [0-2 rw nr sl]',
    },
  );
  behaves(
    'not on 6.10 where the memory is read-only',
    (k) => k.nr(0, 1, 'r').madvise(0, 1, 12).mseal(0, 1).madvise(0, 1, 13),
    {
      '6.10': 'EPERM [0-1 r nr mg sl]',
      '6.11': '[0-1 r nr]',
      '6.12': '[0-1 r nr sl]',
      '6.18+': '[0-1 r nr sl]',
    },
  );
  behaves(
    'mmap(MAP_FIXED_NOREPLACE) says that something is there',
    (k) => k.nr(0, 1).mseal(0, 1).map(0, 1, 'rw', 0x100022),
    {
      '6.10+': 'EEXIST [0-1 rw nr sl]',
    },
  );
});
