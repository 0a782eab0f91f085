import { describe } from 'vitest';
import { behaves } from '../behaves';
import { at, type Scenario } from '../scenario';

const TASK_SIZE = 0x7ffffffff000;

function munmap(kernel: Scenario, addr: number | bigint, length: number | bigint): Scenario {
  return kernel.nr(0, 3).call({ name: 'munmap', addr, length });
}

const HERE = Number(at(0));

describe('arguments', () => {
  behaves('an address inside a page', (k) => munmap(k, HERE + 1, 4096), { all: 'EINVAL [0-3 rw nr]' });
  behaves('no length', (k) => munmap(k, HERE, 0), { all: 'EINVAL [0-3 rw nr]' });
  behaves('an address beyond the address space', (k) => munmap(k, 0xffffffffff600000n, 4096), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves('a length beyond the address space', (k) => munmap(k, HERE, TASK_SIZE), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves('a length that wraps', (k) => munmap(k, HERE, 0xfffffffffffffff0n), { all: 'EINVAL [0-3 rw nr]' });
  behaves('a length is rounded up', (k) => munmap(k, HERE, 4097), { all: '[2-3 rw nr]' });
});

describe('what is taken away', () => {
  behaves('nothing where nothing is', (k) => k.nr(0, 1).munmap(5, 3), { all: '[0-1 rw nr]' });
  behaves(
    'across mappings and holes, with both ends inside of one',
    (k) => k.nr(0, 3).nr(4, 1, 'r').nr(6, 3).munmap(1, 6),
    {
      all: '[0-1 rw nr][7-9 rw nr]',
    },
  );
  behaves('a hole: offsets go on behind it', (k) => k.open(3, 'F').file(0, 5, 'r', 3, 2).munmap(1, 2), {
    all: '[0-1 r F+2][3-5 r F+5]',
  });
  behaves(
    'at the limit an edge, and several mappings',
    (k) => k.nr(0, 4).nr(4, 4, 'r').nr(8, 4).limit(3).munmap(11, 1).see().munmap(2, 4),
    {
      all: '[0-4 rw nr][4-8 r nr][8-11 rw nr] ; [0-2 rw nr][6-8 r nr][8-11 rw nr]',
    },
  );
  behaves(
    'half of a mapping that the kernel made: nothing, also of what lies before it',
    (k) => k.nr(0, 2).special(2, 2, '[vdso]').munmap(1, 2).see().munmap(1, 3),
    {
      all: 'EINVAL [0-1 rw nr][1-2 rw nr][2-4 rx [vdso]] ; [0-1 rw nr]',
    },
  );
});

describe('at the limit inside a seal', () => {
  behaves(
    'the limit is looked at before the seal, after it where the whole range is walked first',
    (k) => k.nr(0, 3).mseal(0, 3).limit(1).munmap(1, 1),
    {
      '6.10 6.11': 'EPERM [0-3 rw nr sl]',
      '6.12+': 'ENOMEM [0-3 rw nr sl]',
    },
  );
  behaves(
    'the upper end of a first mapping splits there and stays split',
    (k) => k.nr(0, 4).nr(4, 2, 'r').mseal(4, 2).munmap(3, 3),
    {
      '6.10 6.11': 'EPERM [0-4 rw nr][4-6 r nr sl]',
      '6.12+': 'EPERM [0-3 rw nr][3-4 rw nr][4-6 r nr sl]',
    },
  );
  behaves(
    'a seal before the end: the last mapping is not split',
    (k) => k.nr(0, 2).nr(2, 2, 'r').mseal(0, 2).munmap(0, 3),
    {
      '6.10+': 'EPERM [0-2 rw nr sl][2-4 r nr]',
    },
  );
});
