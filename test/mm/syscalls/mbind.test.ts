import { describe } from 'vitest';
import { behaves } from '../behaves';

const PREFERRED = 1;
const BIND = 2;
const LOCAL = 4;

/** The same calls in one C program on 6.18.44 gave these results and borders. */
describe('policies', () => {
  behaves(
    'of one value join, of another do not',
    (k) => k.nr(0, 4).mbind(1, 1, BIND).mbind(2, 1, PREFERRED),
    {
      all: '[0-1 rw nr][1-2 rw nr][2-3 rw nr][3-4 rw nr]',
    },
  );
  behaves(
    'preferred without a node is local',
    (k) => k.nr(0, 4).mbind(0, 1, PREFERRED, 0n).mbind(1, 1, LOCAL, 0n),
    {
      all: '[0-2 rw nr][2-4 rw nr]',
    },
  );
  behaves('of shared memory too', (k) => k.shared(0, 4).mbind(1, 1, BIND).see().mbind(1, 1, null), {
    all: '[0-1 rw sh ms /dev/zero+0][1-2 rw sh ms /dev/zero+1][2-4 rw sh ms /dev/zero+2] ; [0-4 rw sh ms /dev/zero+0]',
  });
  behaves(
    'flags in the mode make another one',
    (k) =>
      k
        .nr(0, 2)
        .mbind(0, 1, BIND)
        .mbind(0, 2, BIND | (1 << 15)),
    {
      all: '[0-2 rw nr]',
    },
  );
});

describe('what is preferred', () => {
  behaves('is the first node', (k) => k.nr(0, 4).mbind(0, 1, PREFERRED, 1n).mbind(1, 1, PREFERRED, 3n), {
    all: '[0-2 rw nr][2-4 rw nr]',
  });
  const fixed = PREFERRED | (1 << 15);
  behaves(
    'is compared as given where the nodes are fixed',
    (k) => k.nr(0, 4).mbind(0, 1, fixed, 1n).mbind(1, 1, fixed, 3n),
    {
      all: '[0-1 rw nr][1-2 rw nr][2-4 rw nr]',
    },
  );
});

describe('what is refused', () => {
  for (const [title, mode, nodes] of [
    ['the default', 0, 0n],
    ['preferred', PREFERRED, 1n],
    ['interleaving', 3, 1n],
    ['local', LOCAL, 0n],
  ] as const) {
    behaves(`balancing with ${title}`, (k) => k.nr(0, 4).mbind(0, 1, mode | (1 << 13), nodes), {
      all: 'EINVAL [0-4 rw nr]',
    });
  }
  behaves('a hole: nothing is changed', (k) => k.nr(0, 4).mbind(3, 3, BIND), { all: 'EFAULT [0-4 rw nr]' });
  behaves('nothing there at all, also for the default', (k) => k.nr(0, 1).mbind(8, 1, null), {
    all: 'EFAULT [0-1 rw nr]',
  });
  behaves('the default passes over holes', (k) => k.nr(0, 1).nr(2, 1).mbind(0, 1, BIND).mbind(0, 6, null), {
    all: '[0-1 rw nr][2-3 rw nr]',
  });
  behaves('nodes for none', (k) => k.nr(0, 1).mbind(0, 1, BIND, 0n), { all: 'EINVAL [0-1 rw nr]' });
  behaves('no such policy', (k) => k.nr(0, 1).mbind(0, 1, 99), { all: 'EINVAL [0-1 rw nr]' });
  behaves('unknown flags', (k) => k.nr(0, 1).mbind(0, 1, BIND, 1n, 64), { all: 'EINVAL [0-1 rw nr]' });
  behaves('no length comes before the nodes', (k) => k.nr(0, 1).mbind(0, 0, BIND, 0n), {
    all: '[0-1 rw nr]',
  });
});

describe('home nodes', () => {
  behaves('make a policy another one', (k) => k.nr(0, 4).mbind(0, 2, BIND).homeNode(0, 1, 0), {
    all: '[0-1 rw nr][1-2 rw nr][2-4 rw nr]',
  });
  behaves('are for binding policies', (k) => k.nr(0, 4).mbind(0, 1, LOCAL, 0n).homeNode(0, 4, 0), {
    all: 'EOPNOTSUPP [0-1 rw nr][1-4 rw nr]',
  });
  behaves('need a policy', (k) => k.nr(0, 4).homeNode(3, 1, 0), { all: 'ENOENT [0-4 rw nr]' });
  behaves('know no flags', (k) => k.nr(0, 4).homeNode(0, 1, 0, 1), { all: 'EINVAL [0-4 rw nr]' });
});
