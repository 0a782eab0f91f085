import { describe } from 'vitest';
import { MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, type Scenario } from '../scenario';

const PROT_GROWSDOWN = 0x01000000;
const PROT_GROWSUP = 0x02000000;
const HERE = Number(at(0));

/** mprotect of the first page of three to read-only, with some arguments otherwise. */
function mprotect(
  kernel: Scenario,
  other: { addr?: number | bigint; length?: number | bigint; prot?: number },
): Scenario {
  return kernel.nr(0, 3).call({ name: 'mprotect', addr: HERE, length: 4096, prot: 1, ...other });
}

describe('arguments, in the order in which they are refused', () => {
  behaves(
    'both ways to grow beat an unaligned address',
    (k) => mprotect(k, { addr: HERE + 1, prot: PROT_GROWSDOWN | PROT_GROWSUP }),
    { all: 'EINVAL [0-3 rw nr]' },
  );
  behaves('an unaligned address beats no length', (k) => mprotect(k, { addr: HERE + 1, length: 0 }), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves(
    'no length is nothing to do, also where nothing is mapped',
    (k) => mprotect(k, { addr: at(50), length: 0, prot: 0xff00 }),
    {
      all: '[0-3 rw nr]',
    },
  );
  behaves(
    'a length that wraps beats unknown bits',
    (k) => mprotect(k, { length: 0xfffffffffffffff0n, prot: 0xff00 }),
    {
      all: 'ENOMEM [0-3 rw nr]',
    },
  );
  behaves('unknown bits beat an unmapped start', (k) => mprotect(k, { addr: at(50), prot: 0xff00 }), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves('PROT_SEM is known', (k) => mprotect(k, { prot: 9 }), { all: '[0-1 r nr][1-3 rw nr]' });
  behaves('an unmapped start', (k) => mprotect(k, { addr: at(50) }), { all: 'ENOMEM [0-3 rw nr]' });
  behaves('growing up is for other machines', (k) => mprotect(k, { prot: 1 | PROT_GROWSUP }), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves('PROT_GROWSDOWN on memory that does not', (k) => mprotect(k, { prot: 1 | PROT_GROWSDOWN }), {
    all: 'EINVAL [0-3 rw nr]',
  });
  behaves(
    'PROT_GROWSDOWN on a seal that does not',
    (k) => k.nr(0, 2).mseal(0, 2).mprotect(0, 1, 'r', PROT_GROWSDOWN),
    {
      '6.10+': 'EINVAL [0-2 rw nr sl]',
    },
  );
});

describe('one mapping after the other', () => {
  behaves(
    'what lies before a refusal is changed',
    (k) =>
      k
        .open(3, 'F', false)
        .nr(0, 1)
        .nr(1, 1, 'rx')
        .file(2, 1, 'r', 3, 0, MAP_SHARED)
        .nr(3, 1)
        .mprotect(0, 4, 'w'),
    {
      all: 'EACCES [0-2 w nr][2-3 r ms !mw F+0][3-4 rw nr]',
    },
  );
  behaves(
    'what has the wanted access already stays as it is',
    (k) => k.nr(0, 1).nr(1, 1, 'r').nr(2, 1).mprotect(0, 3, 'r'),
    {
      all: '[0-3 r nr]',
    },
  );
  behaves('both neighbours join at once', (k) => k.nr(0, 1).nr(1, 1, 'r').nr(2, 1).mprotect(1, 1, 'rw'), {
    all: '[0-3 rw nr]',
  });
  behaves('the neighbour before takes a part in', (k) => k.nr(0, 1).nr(1, 3, 'r').mprotect(1, 2, 'rw'), {
    all: '[0-3 rw nr][3-4 r nr]',
  });
  behaves('the neighbour behind takes a part in', (k) => k.nr(0, 3, 'r').nr(3, 1).mprotect(1, 2, 'rw'), {
    all: '[0-1 r nr][1-4 rw nr]',
  });
  behaves(
    'a seal that is reached after a change, and one that is reached at once',
    (k) => k.nr(0, 1).nr(1, 1, 'r').mseal(1, 1).mprotect(0, 2, 'rx').see().mprotect(1, 1, 'rx'),
    {
      '6.10 6.11': 'EPERM [0-1 rw nr][1-2 r nr sl] ; EPERM [0-1 rw nr][1-2 r nr sl]',
      '6.12+': 'EPERM [0-1 rx nr][1-2 r nr sl] ; EPERM [0-1 rx nr][1-2 r nr sl]',
    },
  );
  behaves(
    'a mapping that the kernel made cannot be split',
    (k) => k.special(0, 2, '[vdso]').mprotect(0, 1, 'r').see().mprotect(0, 2, 'r'),
    {
      all: 'EINVAL [0-2 rx [vdso]] ; [0-2 r [vdso]]',
    },
  );
});

describe('the commit charge', () => {
  behaves('comes with write permission', (k) => k.a(0, 1, 'r').mprotect(0, 1, 'rw'), { all: '[0-1 rw ac]' });
  behaves(
    'not for shared memory, nor where none was wanted',
    (k) => k.shared(0, 1, 'r').nr(2, 1, 'r').mprotect(0, 1, 'rw').mprotect(2, 1, 'rw'),
    {
      all: '[0-1 rw sh ms /dev/zero+0][2-3 rw nr]',
    },
  );
  behaves('stays with a private file', (k) => k.open(3, 'F').file(0, 1, 'rw', 3, 0).mprotect(0, 1, 'r'), {
    all: '[0-1 r ac F+0]',
  });
});

describe('locked memory that becomes writable', () => {
  behaves(
    'gets pages of its own',
    (k) => k.nr(0, 1, 'r').mlock(0, 1).mprotect(0, 1, 'rw').munlock(0, 1).mprotect(0, 1, 'r').nr(1, 1, 'r'),
    {
      all: '[0-2 r nr]',
    },
  );
  behaves(
    'which keep it from untouched memory',
    (k) => k.nr(0, 1, 'r').mlock(0, 1).mprotect(0, 1, 'rw').munlock(0, 1).nr(1, 1, 'r').mprotect(0, 1, 'r'),
    {
      '-6.12': '[0-1 r nr][1-2 r nr]',
      '6.18+': '[0-2 r nr]',
    },
  );
});

describe('PR_SET_MDWE', () => {
  behaves(
    'refuses what becomes executable, not what is',
    (k) =>
      k
        .nr(0, 1, 'rx')
        .nr(1, 1)
        .denyWriteExec()
        .mprotect(1, 1, 'rx')
        .see()
        .mprotect(0, 1, 'rwx')
        .see()
        .mprotect(0, 1, 'x'),
    {
      '6.10+': 'EACCES [0-1 rx nr][1-2 rw nr] ; EACCES [0-1 rx nr][1-2 rw nr] ; [0-1 x nr][1-2 rw nr]',
    },
  );
});
