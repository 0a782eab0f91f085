import * as madv from '../../src/mm/advice';
import { MAP_ANONYMOUS, MAP_DROPPABLE, MAP_FIXED, MAP_SHARED, MAP_STACK } from '../../src/mm/syscalls/mmap';
import type { Scenario } from './scenario';
import { row, type ScenarioRow } from './scenario_table';

const DROPPABLE = MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED;

/** Two touched pages with a hole between them. */
function island(kernel: Scenario): Scenario {
  return kernel.nr(0, 1).nr(2, 1).write(0, 2);
}

/** A forked child of three touched pages. */
function childOfThree(kernel: Scenario): Scenario {
  return kernel.nr(0, 3).write(0, 1, 2).fork();
}

/** Which mappings join: anonymous memory, flags that count, files. */
export const MERGE_ROWS: readonly ScenarioRow[] = [
  row(1, 'two equal maps side by side', (k) => k.a(0, 1).a(1, 1), { all: '[0-2 rw ac]' }),
  row(2, 'an untouched map joins a touched one', (k) => k.a(0, 1).write(0).a(1, 1), { all: '[0-2 rw ac]' }),
  row(3, 'accounted beside not reserved', (k) => k.a(0, 1).nr(1, 1), { all: '[0-1 rw ac][1-2 rw nr]' }),
  row(
    4,
    'a touched page becomes like its untouched neighbour',
    (k) => k.nr(0, 1).write(0).nr(1, 1, 'r').mprotect(0, 1, 'r'),
    {
      '-6.12': '[0-1 r nr][1-2 r nr]',
      '6.18+': '[0-2 r nr]',
    },
  ),
  row(
    5,
    'an untouched page becomes like its touched neighbour',
    (k) => k.nr(0, 1).write(0).nr(1, 1, 'r').mprotect(1, 1, 'rw'),
    {
      all: '[0-2 rw nr]',
    },
  ),
  row(
    6,
    'half of a touched map becomes like its untouched neighbour',
    (k) => k.nr(0, 2).write(0).nr(2, 1, 'r').mprotect(1, 1, 'r'),
    {
      '-6.12': '[0-1 rw nr][1-2 r nr][2-3 r nr]',
      '6.18+': '[0-1 rw nr][1-3 r nr]',
    },
  ),
  row(7, 'a new map between neighbours that exclude each other', (k) => island(k).nr(1, 1), {
    '-6.11': '[0-1 rw nr][1-3 rw nr]',
    '6.12+': '[0-2 rw nr][2-3 rw nr]',
  }),
  row(8, 'the same by mprotect', (k) => island(k).nr(1, 1, 'r').mprotect(1, 1, 'rw'), {
    all: '[0-2 rw nr][2-3 rw nr]',
  }),
  row(9, 'a hole in touched memory is filled again', (k) => k.nr(0, 3).write(0, 1, 2).munmap(1, 1).nr(1, 1), {
    all: '[0-3 rw nr]',
  }),
  row(
    10,
    'neighbours that differ in access share an anon_vma',
    (k) => k.nr(0, 2).mprotect(1, 1, 'rwx').write(0, 1).mprotect(1, 1, 'rw'),
    {
      all: '[0-2 rw nr]',
    },
  ),
  row(
    11,
    'neighbours that differ in other flags do not',
    (k) => k.nr(0, 2).madvise(1, 1, madv.MADV_DONTFORK).write(0, 1).madvise(1, 1, madv.MADV_DOFORK),
    {
      all: '[0-1 rw nr][1-2 rw nr]',
    },
  ),
  row(
    12,
    'a new map beside inherited touched memory',
    (k) => {
      const child = k.nr(0, 1).write(0).fork().nr(1, 1);
      return `child ${child.text()} parent ${k.nr(1, 1).text()}`;
    },
    { all: 'child [0-1 rw nr][1-2 rw nr] parent [0-2 rw nr]' },
  ),
  row(
    13,
    'pieces of inherited touched memory join again',
    (k) => childOfThree(k).mprotect(1, 1, 'r').see().mprotect(1, 1, 'rw'),
    {
      all: '[0-1 rw nr][1-2 r nr][2-3 rw nr] ; [0-3 rw nr]',
    },
  ),
  row(14, 'a hole in inherited touched memory does not heal', (k) => childOfThree(k).munmap(1, 1).nr(1, 1), {
    all: '[0-1 rw nr][1-2 rw nr][2-3 rw nr]',
  }),
  row(
    15,
    'memory wiped at fork starts untouched',
    (k) =>
      k
        .nr(0, 1)
        .write(0)
        .madvise(0, 1, madv.MADV_WIPEONFORK)
        .fork()
        .nr(1, 1)
        .madvise(1, 1, madv.MADV_WIPEONFORK),
    {
      all: '[0-2 rw nr wf]',
    },
  ),
  row(
    16,
    'touched memory moves away and comes back',
    (k) => k.nr(0, 2).write(0, 1).move(1, 1, 1, 21).nr(20, 1).see().move(21, 1, 1, 1),
    {
      all: '[0-1 rw nr][20-21 rw nr][21-22 rw nr] ; [0-2 rw nr][20-21 rw nr]',
    },
  ),
  row(17, 'untouched memory joins where it moves to', (k) => k.nr(0, 1).nr(20, 1).move(0, 1, 1, 21), {
    all: '[20-22 rw nr]',
  }),
  row(18, 'untouched memory joins the rest of its own mapping', (k) => k.nr(0, 1).nr(2, 2).move(3, 1, 1, 1), {
    all: '[0-3 rw nr]',
  }),
  row(
    19,
    'writable for a moment, untouched',
    (k) => k.a(0, 4, 'none').mprotect(1, 1, 'rw').mprotect(1, 1, 'none'),
    {
      '6.1': '[0-1 none][1-2 none ac][2-4 none]',
      '6.10+': '[0-4 none]',
    },
  ),
  row(
    20,
    'writable for a moment and written to',
    (k) => k.a(0, 4, 'none').mprotect(1, 1, 'rw').write(1).mprotect(1, 1, 'none'),
    {
      all: '[0-1 none][1-2 none ac][2-4 none]',
    },
  ),
  row(
    21,
    'untouched memory loses its access',
    (k) => k.a(0, 4).mprotect(1, 1, 'none').see().mprotect(1, 1, 'rw'),
    {
      '6.1': '[0-1 rw ac][1-2 none ac][2-4 rw ac] ; [0-4 rw ac]',
      '6.10+': '[0-1 rw ac][1-2 none][2-4 rw ac] ; [0-4 rw ac]',
    },
  ),
  row(22, 'MAP_STACK', (k) => k.a(0, 1, 'rw', MAP_STACK), {
    '6.1': '[0-1 rw ac]',
    '6.10+': '[0-1 rw ac nh]',
  }),
  row(
    23,
    'droppable memory is never locked',
    (k) => {
      const mapped = k.map(0, 1, 'rw', DROPPABLE).see();
      return mapped.refusal === undefined ? mapped.mlock(0, 1) : mapped;
    },
    {
      '-6.10': 'EINVAL  ; EINVAL ',
      '6.11+': '[0-1 rw nr wf dd dp] ; [0-1 rw nr wf dd dp]',
    },
  ),
  row(24, 'locked, and locked on fault', (k) => k.a(0, 5).mlock(1, 1).mlock2(3, 1, 1), {
    '6.1': '[0-1 rw ac][1-2 rw lo ac][2-3 rw ac][3-4 rw lo ?? ac][4-5 rw ac]',
    '6.10+': '[0-1 rw ac][1-2 rw lo ac][2-3 rw ac][3-4 rw lo lf ac][4-5 rw ac]',
  }),
  row(
    25,
    'unlocked again: one page was brought in',
    (k) => k.a(0, 5).mlock(1, 1).mlock2(3, 1, 1).munlock(0, 5),
    {
      '-6.12': '[0-1 rw ac][1-2 rw ac][2-5 rw ac]',
      '6.18+': '[0-5 rw ac]',
    },
  ),
  row(
    26,
    'each shared anonymous map is a file of its own',
    (k) => k.shared(0, 2).shared(2, 2).see().mprotect(1, 1, 'r').see().mprotect(1, 1, 'rw'),
    {
      all:
        '[0-2 rw sh ms /dev/zero+0][2-4 rw sh ms /dev/zero+0] ; ' +
        '[0-1 rw sh ms /dev/zero+0][1-2 r sh ms /dev/zero+1][2-4 rw sh ms /dev/zero+0] ; ' +
        '[0-2 rw sh ms /dev/zero+0][2-4 rw sh ms /dev/zero+0]',
    },
  ),
  row(
    27,
    'file offsets and open files',
    (k) =>
      k
        .open(3, 'F')
        .open(4, 'F')
        .file(0, 1, 'r', 3, 0)
        .file(1, 1, 'r', 3, 1)
        .file(2, 1, 'r', 3, 5)
        .file(3, 1, 'r', 4, 6),
    {
      all: '[0-2 r F+0][2-3 r F+5][3-4 r F+6]',
    },
  ),
  row(
    28,
    'a written private file page moves next to its predecessor',
    (k) => k.open(3, 'F').file(0, 2, 'rw', 3, 0).write(1).file(20, 1, 'rw', 3, 0).move(1, 1, 1, 21),
    {
      '-6.12 7.3': '[0-1 rw ac F+0][20-21 rw ac F+0][21-22 rw ac F+1]',
      '6.18': '[0-1 rw ac F+0][20-22 rw ac F+0]',
    },
  ),
  row(
    29,
    'an unwritten one',
    (k) => k.open(3, 'F').file(0, 2, 'rw', 3, 0).file(20, 1, 'rw', 3, 0).move(1, 1, 1, 21),
    {
      all: '[0-1 rw ac F+0][20-22 rw ac F+0]',
    },
  ),
  row(
    30,
    'private /dev/zero is renumbered as anonymous memory is',
    (k) => k.open(3, '/dev/zero').file(0, 4, 'r', 3, 0).move(3, 1, 1, 20),
    {
      all: '[0-3 r /dev/zero+0][20-21 r /dev/zero@20]',
    },
  ),
  row(
    31,
    'a shared map of a file that is open for reading',
    (k) => k.open(3, 'F', false).file(0, 1, 'r', 3, 0, MAP_SHARED).mprotect(0, 1, 'rw'),
    {
      all: 'EACCES [0-1 r ms !mw F+0]',
    },
  ),
  row(
    32,
    'shared maps of a writable and of a read-only open',
    (k) =>
      k.open(3, 'F').open(4, 'F', false).file(0, 1, 'r', 3, 0, MAP_SHARED).file(1, 1, 'r', 4, 1, MAP_SHARED),
    {
      all: '[0-1 r sh ms F+0][1-2 r ms !mw F+1]',
    },
  ),
  row(
    33,
    'file offsets that do not go on',
    (k) => k.open(3, 'F').file(0, 2, 'r', 3, 0, MAP_SHARED).file(2, 1, 'r', 3, 1, MAP_SHARED),
    {
      all: '[0-2 r sh ms F+0][2-3 r sh ms F+1]',
    },
  ),
];
