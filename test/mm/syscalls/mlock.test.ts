import { describe } from 'vitest';
import { MAP_ANONYMOUS, MAP_DROPPABLE, MAP_FIXED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at } from '../scenario';

const HERE = Number(at(0));

describe('ranges', () => {
  behaves('grow to whole pages', (k) => k.nr(0, 4).call({ name: 'mlock', addr: HERE + 4097, length: 4096 }), {
    all: '[0-1 rw nr][1-3 rw lo nr][3-4 rw nr]',
  });
  behaves(
    'no length is nothing to do, also where nothing is mapped',
    (k) => k.nr(0, 1).mlock(50, 0).munlock(50, 0),
    {
      all: '[0-1 rw nr]',
    },
  );
  behaves('an unmapped start', (k) => k.nr(1, 1).mlock(0, 2), { all: 'ENOMEM [1-2 rw nr]' });
  behaves(
    'munlock over a hole: what lies before it is unlocked',
    (k) => k.nr(0, 1).nr(2, 1).mlock(0, 1).mlock(2, 1).munlock(0, 3),
    {
      all: 'ENOMEM [0-1 rw nr][2-3 rw lo nr]',
    },
  );
  behaves('unknown flags of mlock2', (k) => k.nr(0, 1).mlock2(0, 1, 2), { all: 'EINVAL [0-1 rw nr]' });
  behaves('at the limit', (k) => k.nr(0, 1, 'r').nr(1, 3).limit(2).mlock(0, 2), {
    all: 'ENOMEM [0-1 r lo nr][1-4 rw nr]',
  });
});

describe('what is locked', () => {
  behaves(
    'a plain lock takes the place of one on fault',
    (k) => k.nr(0, 1).mlock2(0, 1, 1).see().mlock(0, 1),
    {
      '6.1': '[0-1 rw lo ?? nr] ; [0-1 rw lo nr]',
      '6.10+': '[0-1 rw lo lf nr] ; [0-1 rw lo nr]',
    },
  );
  behaves(
    'read-only memory stays untouched',
    (k) => k.nr(0, 1, 'r').mlock(0, 1).munlock(0, 1).mprotect(0, 1, 'rw').nr(1, 1, 'r').mprotect(0, 1, 'r'),
    {
      all: '[0-2 r nr]',
    },
  );
  behaves(
    'droppable memory is passed over',
    (k) =>
      k
        .map(0, 1, 'rw', MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED)
        .nr(1, 1)
        .mlock(0, 2),
    {
      '6.11+': '[0-1 rw nr wf dd dp][1-2 rw lo nr]',
    },
  );
  behaves(
    'mappings that the kernel made are passed over',
    (k) => k.special(0, 1, '[vdso]').nr(1, 1).mlock(1, 1),
    {
      all: '[0-1 rx [vdso]][1-2 rw lo nr]',
    },
  );
});

describe('mlockall', () => {
  behaves(
    'arguments: nothing, something unknown, on fault alone',
    (k) => k.nr(0, 1).mlockall(0).seeResult().mlockall(9).seeResult().mlockall(4).seeResult().log(),
    {
      all: 'EINVAL ; EINVAL ; EINVAL',
    },
  );
  behaves('the future alone leaves what is there', (k) => k.nr(0, 1).mlockall(2).nr(2, 1), {
    all: '[0-1 rw nr][2-3 rw lo nr]',
  });
  behaves('the present alone ends the future', (k) => k.mlockall(2).nr(0, 1).mlockall(1).nr(2, 1), {
    all: '[0-1 rw lo nr][2-3 rw nr]',
  });
  behaves('on fault', (k) => k.nr(0, 1).mlockall(7).nr(2, 1), {
    '6.1': '[0-1 rw lo ?? nr][2-3 rw lo ?? nr]',
    '6.10+': '[0-1 rw lo lf nr][2-3 rw lo lf nr]',
  });
  behaves('munlockall ends both', (k) => k.nr(0, 1).mlockall(3).call({ name: 'munlockall' }).nr(2, 1), {
    all: '[0-1 rw nr][2-3 rw nr]',
  });
});
