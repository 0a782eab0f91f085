import { describe, expect, it } from 'vitest';
import { vpn } from '../../../src/mm/addr';
import {
  MAP_ANONYMOUS,
  MAP_DROPPABLE,
  MAP_FIXED,
  MAP_FIXED_NOREPLACE,
  MAP_GROWSDOWN,
  MAP_LOCKED,
  MAP_NONBLOCK,
  MAP_NORESERVE,
  MAP_POPULATE,
  MAP_PRIVATE,
  MAP_SHARED,
} from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, scenario, type Scenario } from '../scenario';

const MAP_SHARED_VALIDATE = 3;
const MAP_SYNC = 0x80000;
const ANON = MAP_PRIVATE | MAP_ANONYMOUS;
const NR = ANON | MAP_FIXED | MAP_NORESERVE;
const TASK_SIZE = 0x7ffffffff000;

/** mmap of one page at page 0 with some arguments otherwise. */
function mmap(
  kernel: Scenario,
  other: {
    addr?: number | bigint;
    length?: number | bigint;
    prot?: number;
    flags?: number;
    fd?: number;
    offset?: number | bigint;
  },
): Scenario {
  const { fd = -1, ...rest } = other;
  return kernel.call({
    name: 'mmap',
    addr: at(0),
    length: 4096,
    prot: 3,
    flags: NR,
    offset: 0,
    ...rest,
    fd: { fd },
  });
}

describe('arguments, in the order in which they are refused', () => {
  behaves(
    'an offset inside a page beats a descriptor that is not open',
    (k) => mmap(k, { flags: MAP_PRIVATE, offset: 1 }),
    {
      all: 'EINVAL ',
    },
  );
  behaves(
    'a descriptor that is not open beats an empty length',
    (k) => mmap(k, { flags: MAP_PRIVATE, length: 0 }),
    {
      all: 'EBADF ',
    },
  );
  behaves('an empty length beats a bad address', (k) => mmap(k, { length: 0, addr: 1 }), { all: 'EINVAL ' });
  behaves('a length that wraps', (k) => mmap(k, { length: 0xffffffffffffffffn }), { all: 'ENOMEM ' });
  behaves('a length beyond the address space', (k) => mmap(k, { length: TASK_SIZE + 4096 }), {
    all: 'ENOMEM ',
  });
  behaves(
    'a fixed range that leaves the address space beats an unaligned address',
    (k) => mmap(k, { addr: TASK_SIZE - 1, length: 8192 }),
    { all: 'ENOMEM ' },
  );
  behaves('a fixed unaligned address', (k) => mmap(k, { addr: Number(at(0)) + 1 }), { all: 'EINVAL ' });
  behaves(
    'an occupied place beats an unknown kind of mapping',
    (k) => mmap(k.nr(0, 1), { flags: MAP_ANONYMOUS | MAP_FIXED_NOREPLACE }),
    {
      all: 'EEXIST [0-1 rw nr]',
    },
  );
  behaves('neither shared nor private', (k) => mmap(k.nr(0, 1), { flags: MAP_ANONYMOUS | MAP_FIXED }), {
    all: 'EINVAL [0-1 rw nr]',
  });
  behaves(
    'MAP_SHARED_VALIDATE is for files',
    (k) => mmap(k, { flags: MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_FIXED }),
    {
      all: 'EINVAL ',
    },
  );
  behaves(
    'shared memory that grows down',
    (k) => mmap(k, { flags: MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN }),
    {
      all: 'EINVAL ',
    },
  );
  behaves(
    'droppable memory that is locked',
    (k) => mmap(k, { flags: MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED }),
    {
      all: 'EINVAL ',
    },
  );
  behaves(
    'a synchronous mapping of an ordinary file, asked for so that it must be refused',
    (k) => mmap(k.open(3, 'F'), { flags: MAP_SHARED_VALIDATE | MAP_SYNC | MAP_FIXED, fd: 3 }),
    { all: 'EOPNOTSUPP ' },
  );
  behaves(
    'a file that grows down',
    (k) => mmap(k.open(3, 'F'), { flags: MAP_PRIVATE | MAP_FIXED | MAP_GROWSDOWN, fd: 3 }),
    {
      all: 'EINVAL ',
    },
  );
  behaves(
    'a shared writable mapping of a file that is open for reading',
    (k) => mmap(k.open(3, 'F', false), { flags: MAP_SHARED | MAP_FIXED, fd: 3 }),
    { all: 'EACCES ' },
  );
  behaves(
    'a private one may be written',
    (k) => mmap(k.open(3, 'F', false), { flags: MAP_PRIVATE | MAP_FIXED, fd: 3 }),
    {
      all: '[0-1 rw ac F+0]',
    },
  );
  behaves('unknown protection bits are passed over', (k) => mmap(k, { prot: 0xff0001 }), {
    all: '[0-1 r nr]',
  });
  behaves('MAP_FIXED_NOREPLACE at a free place', (k) => mmap(k, { flags: ANON | MAP_FIXED_NOREPLACE }), {
    all: '[0-1 rw ac]',
  });
});

describe('flags of the result', () => {
  behaves(
    'only private writable memory is accounted',
    (k) =>
      k
        .a(0, 1)
        .a(2, 1, 'r')
        .shared(4, 1)
        .open(3, 'F')
        .file(6, 1, 'rw', 3, 0)
        .file(8, 1, 'rw', 3, 0, MAP_SHARED),
    {
      all: '[0-1 rw ac][2-3 r][4-5 rw sh ms /dev/zero+0][6-7 rw ac F+0][8-9 rw sh ms F+0]',
    },
  );
  behaves('MAP_NORESERVE shows on memory without access too', (k) => k.nr(0, 1, 'none'), {
    all: '[0-1 none nr]',
  });
  behaves('memory that grows down', (k) => k.a(0, 1, 'rw', MAP_GROWSDOWN), { all: '[0-1 rw gd ac]' });
  behaves(
    'locks wanted for the future, then for it no more',
    (k) => k.mlockall(2).nr(0, 1).mlockall(6).nr(2, 1).mlockall(1).nr(4, 1),
    {
      '6.1': '[0-1 rw lo nr][2-3 rw lo nr][4-5 rw nr]',
      '6.10+': '[0-1 rw lo nr][2-3 rw lo nr][4-5 rw nr]',
    },
  );
  behaves(
    'droppable memory while locks are wanted for the future',
    (k) => k.mlockall(2).map(0, 1, 'rw', MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED),
    {
      '6.11': '[0-1 rw lo nr wf dd dp]',
      '6.12+': '[0-1 rw nr wf dd dp]',
    },
  );
  behaves(
    'a shared map of /dev/zero is shared anonymous memory',
    (k) => k.open(3, '/dev/zero').file(0, 2, 'rw', 3, 0, MAP_SHARED),
    {
      all: '[0-2 rw sh ms /dev/zero+0]',
    },
  );
});

/** Whether the first page was written to shows in whether it joins an untouched one. */
function touchedText(kernel: Scenario): Scenario {
  return kernel.nr(1, 1, 'r').mprotect(0, 1, 'r');
}

describe('bringing pages in', () => {
  behaves('MAP_POPULATE writes to private memory', (k) => touchedText(k.map(0, 1, 'rw', NR | MAP_POPULATE)), {
    '-6.12': '[0-1 r nr][1-2 r nr]',
    '6.18+': '[0-2 r nr]',
  });
  behaves(
    'MAP_POPULATE with MAP_NONBLOCK does not',
    (k) => touchedText(k.map(0, 1, 'rw', NR | MAP_POPULATE | MAP_NONBLOCK)),
    {
      all: '[0-2 r nr]',
    },
  );
  behaves('MAP_LOCKED does', (k) => touchedText(k.map(0, 1, 'rw', NR | MAP_LOCKED).munlock(0, 1)), {
    '-6.12': '[0-1 r nr][1-2 r nr]',
    '6.18+': '[0-2 r nr]',
  });
  behaves(
    'reading populates nothing that is private',
    (k) => touchedText(k.map(0, 1, 'r', NR | MAP_POPULATE).mprotect(0, 1, 'rw')),
    {
      all: '[0-2 r nr]',
    },
  );
});

describe('taking the place of others', () => {
  behaves('MAP_FIXED cuts what it covers', (k) => k.nr(0, 4).nr(6, 2, 'r').nr(2, 5, 'rx'), {
    all: '[0-2 rw nr][2-7 rx nr][7-8 r nr]',
  });
  behaves('a hole in one mapping at the limit', (k) => k.nr(0, 3).limit(1).nr(1, 1, 'r'), {
    all: 'ENOMEM [0-3 rw nr]',
  });
  behaves('a hole in a seal at the limit', (k) => k.nr(0, 3).mseal(0, 3).limit(1).nr(1, 1, 'r'), {
    '6.10 6.11': 'EPERM [0-3 rw nr sl]',
    '6.12+': 'ENOMEM [0-3 rw nr sl]',
  });
  behaves('part of a mapping that the kernel made', (k) => k.special(0, 2, '[vdso]').nr(1, 1), {
    '-6.11': 'ENOMEM [0-2 rx [vdso]]',
    '6.12+': 'EINVAL [0-2 rx [vdso]]',
  });
  behaves('all of it', (k) => k.special(0, 2, '[vdso]').nr(0, 2), { all: '[0-2 rw nr]' });
  behaves(
    'an equal map in the middle of touched memory changes nothing',
    (k) => k.nr(0, 3).write(0).nr(1, 1),
    {
      all: '[0-3 rw nr]',
    },
  );
});

describe('where the kernel is free', () => {
  it('the record says where, and the rules only that it succeeds', () => {
    const kernel = scenario('7.3').a(0, 2);
    kernel.map(1, 2, 'rw', ANON, { placed: 40 });
    expect(kernel.last).toBe('?');
    expect(kernel.text()).toBe('[0-2 rw ac][40-42 rw ac]');
  });

  it('without a record nothing is placed', () => {
    const kernel = scenario('7.3').nr(0, 1);
    kernel.map(0, 1, 'rw', ANON);
    expect([kernel.last, kernel.text()]).toEqual(['?', '[0-1 rw nr]']);
    expect(kernel.mm.tree.lookup(vpn(0))).toBeUndefined();
  });

  behaves('a hint is rounded down', (k) => mmap(k, { addr: Number(at(3)) + 5, flags: ANON }).seeResult(), {
    all: '@3 ; [3-4 rw ac]',
  });
  behaves('a hint that reaches into a mapping', (k) => k.nr(1, 1).map(0, 2, 'rw', ANON).seeResult(), {
    all: '? ; [1-2 rw nr]',
  });
});

describe('PR_SET_MDWE', () => {
  behaves(
    'refuses memory that is writable and executable; what was there is lost on old kernels',
    (k) => k.denyWriteExec().nr(0, 3).nr(1, 1, 'rwx').see().nr(4, 1, 'rx'),
    {
      '6.10 6.11': 'EACCES [0-1 rw nr][2-3 rw nr] ; [0-1 rw nr][2-3 rw nr][4-5 rx nr]',
      '6.12+': 'EACCES [0-3 rw nr] ; [0-3 rw nr][4-5 rx nr]',
    },
  );
});
