import * as madv from '../../src/mm/advice';
import { MAP_ANONYMOUS, MAP_FIXED, MAP_GROWSDOWN, MAP_PRIVATE, MAP_SHARED } from '../../src/mm/syscalls/mmap';
import { MREMAP_DONTUNMAP, MREMAP_FIXED, MREMAP_MAYMOVE } from '../../src/mm/syscalls/mremap';
import { at, type Scenario } from './scenario';
import { row, type ScenarioRow } from './scenario_table';
import { uffd } from './scenario_uffd';

/** Pages of 100 GiB. */
const MUCH = 100 * 2 ** 18;
const PROT_GROWSDOWN = 0x01000000;
const MCL_FUTURE = 2;

/** A fixed move with so much room below vm.max_map_count, each in a process of its own. */
function moveWithRoom(kernel: Scenario, ...rooms: readonly number[]): string {
  kernel.nr(0, 1);
  return rooms
    .map(
      (room) =>
        kernel
          .limit(1 + room)
          .fork()
          .move(0, 1, 1, 20).last,
    )
    .join(' ');
}

/** What calls leave behind when they fail, the limits they meet, and how mremap differs. */
export const CALL_ROWS: readonly ScenarioRow[] = [
  row(34, 'mprotect into a hole', (k) => k.a(0, 2).a(3, 1).mprotect(0, 4, 'r'), {
    '6.1': 'ENOMEM [0-2 r ac][3-4 rw ac]',
    '6.10+': 'ENOMEM [0-2 r][3-4 rw ac]',
  }),
  row(
    35,
    'mprotect into memory that may not be written',
    (k) =>
      k.open(3, 'F', false).a(0, 1, 'r').file(1, 1, 'r', 3, 0, MAP_SHARED).a(2, 1, 'r').mprotect(0, 3, 'rw'),
    {
      all: 'EACCES [0-1 rw ac][1-2 r ms !mw F+0][2-3 r]',
    },
  ),
  row(
    36,
    'PROT_GROWSDOWN begins at the start of the mapping',
    (k) => k.nr(10, 3, 'rw', MAP_GROWSDOWN).mprotect(11, 1, 'r', PROT_GROWSDOWN),
    {
      all: '[10-12 r gd nr][12-13 rw gd nr]',
    },
  ),
  row(37, 'advice over a hole', (k) => k.a(0, 1).a(2, 1).madvise(0, 3, madv.MADV_DONTFORK), {
    all: 'ENOMEM [0-1 rw dc ac][2-3 rw dc ac]',
  }),
  row(
    38,
    'advice that a mapping in the middle refuses',
    (k) => k.open(3, 'F').a(0, 1).file(1, 1, 'r', 3, 0).a(2, 1).madvise(0, 3, madv.MADV_WIPEONFORK),
    {
      all: 'EINVAL [0-1 rw ac wf][1-2 r F+0][2-3 rw ac]',
    },
  ),
  row(39, 'mlock over a hole', (k) => k.a(0, 1).a(2, 1).mlock(0, 3), {
    all: 'ENOMEM [0-1 rw lo ac][2-3 rw ac]',
  }),
  row(40, 'mlock of memory without access', (k) => k.a(0, 1).nr(1, 1, 'none').mlock(0, 2), {
    all: 'ENOMEM [0-1 rw lo ac][1-2 none lo nr]',
  }),
  row(
    41,
    'locks do not reach a child',
    (k) => {
      const child = k.mlockall(MCL_FUTURE).a(0, 1).fork().a(4, 1);
      return `parent ${k.text()} child ${child.text()}`;
    },
    { all: 'parent [0-1 rw lo ac] child [0-1 rw ac][4-5 rw ac]' },
  ),
  row(
    42,
    'mmap at the limit, past it, and past it where it would merge',
    (k) => k.nr(0, 1).nr(10, 1).limit(2).nr(20, 1).see().nr(30, 1).see().nr(21, 1),
    {
      all:
        '[0-1 rw nr][10-11 rw nr][20-21 rw nr] ; ENOMEM [0-1 rw nr][10-11 rw nr][20-21 rw nr] ; ' +
        'ENOMEM [0-1 rw nr][10-11 rw nr][20-21 rw nr]',
    },
  ),
  row(
    43,
    'at the limit: a hole, an edge, a split by mprotect and by madvise',
    (k) =>
      k
        .nr(0, 5)
        .limit(1)
        .munmap(2, 1)
        .see()
        .munmap(4, 1)
        .see()
        .mprotect(1, 1, 'r')
        .see()
        .madvise(1, 1, madv.MADV_DONTFORK),
    {
      all: 'ENOMEM [0-5 rw nr] ; [0-4 rw nr] ; ENOMEM [0-4 rw nr] ; EAGAIN [0-4 rw nr]',
    },
  ),
  row(
    44,
    'one below the limit: mprotect keeps its first split',
    (k) => k.nr(0, 5).limit(2).mprotect(2, 1, 'r'),
    {
      all: 'ENOMEM [0-2 rw nr][2-5 rw nr]',
    },
  ),
  row(45, 'one below the limit: mseal keeps its first split', (k) => k.nr(0, 5).limit(2).mseal(2, 1), {
    '6.1': 'ENOSYS [0-5 rw nr]',
    '6.10+': 'ENOMEM [0-2 rw nr][2-5 rw nr]',
  }),
  row(46, 'at the limit: mremap that does nothing', (k) => k.nr(0, 2).limit(1).grow(0, 2, 2), {
    '-6.18': '[0-2 rw nr]',
    '7.3': 'ENOMEM [0-2 rw nr]',
  }),
  row(47, 'mremap with room for 3, 4, 5 and 6 more mappings', (k) => moveWithRoom(k, 3, 4, 5, 6), {
    '-6.18': 'ENOMEM ENOMEM ENOMEM @20',
    '7.3': 'ENOMEM @20 @20 @20',
  }),
  row(
    48,
    'a fixed map of more than there is',
    (k) =>
      k
        .memory('guess', MUCH / 2)
        .nr(0, 3)
        .map(1, MUCH, 'rw', MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED),
    { '-6.11': 'ENOMEM [0-1 rw nr]', '6.12+': 'ENOMEM [0-1 rw nr][1-3 rw nr]' },
  ),
  row(
    49,
    'a growing move of a source that crosses mappings',
    (k) => k.a(0, 1).a(1, 1, 'r').a(20, 4).move(0, 2, 3, 20),
    {
      '-6.12': 'EFAULT [0-1 rw ac][1-2 r][23-24 rw ac]',
      '6.18+': 'EFAULT [0-1 rw ac][1-2 r][20-24 rw ac]',
    },
  ),
  row(50, 'a move over a hole', (k) => k.a(0, 1).a(2, 1).move(0, 3, 3, 30), {
    '-6.12': 'EFAULT [0-1 rw ac][2-3 rw ac]',
    '6.18+': '[30-31 rw ac][32-33 rw ac]',
  }),
  row(51, 'a move of parts of several mappings', (k) => k.nr(0, 2).nr(2, 2, 'r').nr(5, 2).move(1, 5, 5, 30), {
    '-6.12': 'EFAULT [0-2 rw nr][2-4 r nr][5-7 rw nr]',
    '6.18+': '[0-1 rw nr][6-7 rw nr][30-31 rw nr][31-33 r nr][34-35 rw nr]',
  }),
  row(
    52,
    'nothing there to move, and nowhere to move it',
    (k) =>
      k.call({
        name: 'mremap',
        oldAddr: at(0),
        oldLength: 4096,
        newLength: 4096,
        flags: MREMAP_MAYMOVE | MREMAP_FIXED,
        newAddr: Number(at(20)) + 1,
      }),
    { '-6.12': 'EFAULT ', '6.18+': 'EINVAL ' },
  ),
  row(
    53,
    'MREMAP_DONTUNMAP with lengths that are equal in pages',
    (k) =>
      k.nr(0, 1).call(
        {
          name: 'mremap',
          oldAddr: at(0),
          oldLength: 4095,
          newLength: 4096,
          flags: MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
          newAddr: undefined,
        },
        20,
      ),
    { '-6.12': 'EINVAL [0-1 rw nr]', '6.18+': '[0-1 rw nr][20-21 rw nr]' },
  ),
  row(
    54,
    'mremap to more than the address space',
    (k) =>
      k.nr(0, 1).call({
        name: 'mremap',
        oldAddr: at(0),
        oldLength: 4096,
        newLength: 2 ** 48,
        flags: MREMAP_MAYMOVE,
        newAddr: undefined,
      }),
    { '-6.12': 'ENOMEM [0-1 rw nr]', '6.18+': 'EINVAL [0-1 rw nr]' },
  ),
  row(55, 'growth in place closes a hole', (k) => k.a(0, 1).a(2, 1).grow(0, 1, 2), { all: '[0-3 rw ac]' }),
  row(56, 'MREMAP_DONTUNMAP of a part of locked memory', (k) => k.a(0, 3).mlock(0, 3).dontunmap(1, 1, 20), {
    '6.1 6.12 7.3': '[0-1 rw lo ac][1-2 rw ac][2-3 rw lo ac][20-21 rw lo ac]',
    '6.10 6.11 6.18': '[0-3 rw ac][20-21 rw lo ac]',
  }),
  row(
    57,
    'MREMAP_DONTUNMAP leaves the source untouched',
    (k) => k.a(0, 2).write(0).dontunmap(0, 2, 20).a(2, 1),
    {
      all: '[0-3 rw ac][20-22 rw ac]',
    },
  ),
  row(
    90,
    'memory grows down to what is accessible, to what is not, and to its like',
    (k) =>
      [
        k.fork().nr(100, 1, 'rw', MAP_GROWSDOWN).nr(0, 1).fault(99),
        k.fork().nr(100, 1, 'rw', MAP_GROWSDOWN).nr(0, 1, 'none').fault(99),
        k.fork().nr(100, 1, 'rw', MAP_GROWSDOWN).nr(0, 1, 'rw', MAP_GROWSDOWN).fault(99),
      ]
        .map((child) => child.text())
        .join(' ; '),
    {
      all:
        'SIGSEGV [0-1 rw nr][100-101 rw gd nr] ; [0-1 none nr][99-101 rw gd nr] ; ' +
        '[0-1 rw gd nr][99-101 rw gd nr]',
    },
  ),
  row(
    95,
    'userfaultfd: registering splits and joins, unregistering joins again',
    (k) => {
      const fd = uffd(k.nr(0, 6), 9);
      fd.register(1, 2);
      fd.register(3, 1).see();
      return fd.unregister(0, 6);
    },
    { all: '[0-1 rw nr][1-4 rw um nr][4-6 rw nr] ; [0-6 rw nr]' },
  ),
  row(
    96,
    'mbind: policies split and join',
    (k) => k.nr(0, 4).mbind(1, 1, 2).mbind(2, 1, 2).see().mbind(0, 4, null),
    { all: '[0-1 rw nr][1-3 rw nr][3-4 rw nr] ; [0-4 rw nr]' },
  ),
  row(100, 'MAP_NORESERVE without overcommit', (k) => k.memory('never').nr(0, 1).nr(2, 1, 'r'), {
    all: '[0-1 rw ac][2-3 r]',
  }),
];
