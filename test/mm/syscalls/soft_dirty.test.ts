import { describe } from 'vitest';
import { behaves } from '../behaves';
import { softDirty } from '../scenario';

const MPOL_BIND = 2;

/** By the source alone: no kernel at hand has soft-dirty. */

describe('what a joined mapping has', () => {
  behaves(
    'mprotect: a clean range beside memory that is dirty',
    (k) => k.nr(1, 1, 'r').clearSoftDirty().nr(0, 1).nr(2, 1).mprotect(1, 1, 'rw').maps(softDirty),
    { '-6.12': '[0-3 rw nr]', '6.18+': '[0-3 rw nr sd]' },
  );
  behaves(
    'mprotect: a dirty range beside memory that is clean',
    (k) => k.nr(0, 1).nr(2, 1).clearSoftDirty().nr(1, 1, 'r').mprotect(1, 1, 'rw').maps(softDirty),
    { all: '[0-3 rw nr sd]' },
  );
  behaves(
    'mlock: a clean range in front of memory that is dirty',
    (k) =>
      k.nr(0, 1).clearSoftDirty().nr(1, 1, 'r').mlock(1, 1).mprotect(1, 1, 'rw').mlock(0, 1).maps(softDirty),
    { '-6.12': '[0-2 rw lo nr]', '6.18+': '[0-2 rw lo nr sd]' },
  );
  behaves(
    'mbind leaves what the mapping that grows has',
    (k) => k.nr(0, 1).mbind(0, 1, MPOL_BIND).clearSoftDirty().nr(1, 1).mbind(1, 1, MPOL_BIND).maps(softDirty),
    { '-6.12': '[0-2 rw nr]', '6.18+': '[0-2 rw nr sd]' },
  );
  behaves(
    'mseal leaves it too',
    (k) => k.nr(0, 1).mseal(0, 1).clearSoftDirty().nr(1, 1).mseal(1, 1).maps(softDirty),
    { '6.10 6.11 6.12': '[0-2 rw nr sl]', '6.18+': '[0-2 rw nr sl sd]' },
  );
  behaves(
    'mremap: what is moved beside clean memory',
    (k) => k.nr(0, 1).clearSoftDirty().nr(4, 1).move(4, 1, 1, 1).maps(softDirty),
    { '-6.12': '[0-2 rw nr]', '6.18+': '[0-2 rw nr sd]' },
  );
});

describe('a cleared mark', () => {
  behaves('keeps nothing apart', (k) => k.nr(0, 2).clearSoftDirty().nr(2, 1).nr(4, 1).maps(softDirty), {
    all: '[0-3 rw nr sd][4-5 rw nr sd]',
  });
  behaves('is inherited', (k) => k.nr(0, 1).clearSoftDirty().nr(4, 1).fork().nr(8, 1).maps(softDirty), {
    all: '[0-1 rw nr][4-5 rw nr sd][8-9 rw nr sd]',
  });
  behaves(
    'stays where memory is split or grows in place',
    (k) => k.nr(0, 2).clearSoftDirty().mprotect(0, 1, 'r').grow(1, 1, 3).maps(softDirty),
    { all: '[0-1 r nr][1-4 rw nr]' },
  );
});
