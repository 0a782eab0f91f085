import * as madv from '../../src/mm/advice';
import { MAP_ANONYMOUS, MAP_GROWSDOWN, MAP_PRIVATE } from '../../src/mm/syscalls/mmap';
import { at, softDirty, type Scenario } from './scenario';
import { row, type ScenarioRow } from './scenario_table';

const HINT = MAP_PRIVATE | MAP_ANONYMOUS;

/** Two pages that two calls gave the same name, and an unnamed one between them. */
function twins(kernel: Scenario): Scenario {
  return kernel.name(0, 1, 'same').name(2, 1, 'same').nr(1, 1).see().name(1, 1, 'same');
}

/** A heap of two pages is named and grows by two, which then get the same name. */
function nameGrowingHeap(kernel: Scenario): string {
  return kernel.name(0, 2, 'h').brk(4).see().name(2, 2, 'h').text();
}

/** Names, the heap, close hooks, KSM, guard regions, soft-dirty. */
export const NAME_ROWS: readonly ScenarioRow[] = [
  row(
    81,
    'equal names of different calls join',
    (k) =>
      k
        .nr(0, 4)
        .name(1, 1, 'foo')
        .see()
        .name(2, 1, 'foo')
        .see()
        .name(0, 4, 'foo')
        .see()
        .name(1, 1, 'bar')
        .see()
        .name(1, 1, 'foo'),
    {
      all: [
        '[0-1 rw nr][1-2 rw nr "foo"][2-4 rw nr]',
        '[0-1 rw nr][1-3 rw nr "foo"][3-4 rw nr]',
        '[0-4 rw nr "foo"]',
        '[0-1 rw nr "foo"][1-2 rw nr "bar"][2-4 rw nr "foo"]',
        '[0-4 rw nr "foo"]',
      ].join(' ; '),
    },
  ),
  row(82, 'the empty name is a name', (k) => k.nr(0, 3).name(0, 3, '').see().name(0, 3, null), {
    all: '[0-3 rw nr ""] ; [0-3 rw nr]',
  }),
  row(83, 'a name closes the gap between equals', (k) => twins(k.nr(0, 1).nr(2, 1)), {
    all: '[0-1 rw nr "same"][1-2 rw nr][2-3 rw nr "same"] ; [0-3 rw nr "same"]',
  }),
  row(84, 'but not between memory that was touched apart', (k) => twins(k.nr(0, 1).nr(2, 1).write(0, 2)), {
    // The unnamed page joins neither touched neighbour, for its name differs; once named it joins the one before it.
    all: '[0-1 rw nr "same"][1-2 rw nr][2-3 rw nr "same"] ; [0-2 rw nr "same"][2-3 rw nr "same"]',
  }),
  row(
    85,
    'a file in the range',
    (k) => k.open(3, 'F').nr(0, 1).file(2, 1, 'r', 3, 0).nr(3, 1).name(0, 4, 'x'),
    {
      all: 'EBADF [0-1 rw nr "x"][2-3 r F+0][3-4 rw nr]',
    },
  ),
  row(
    86,
    'names of 79 and of 80 bytes, one with a bracket, one where nothing can be read',
    (k) =>
      k
        .nr(0, 1)
        .name(0, 1, 'n'.repeat(79))
        .seeResult()
        .name(0, 1, 'n'.repeat(80))
        .seeResult()
        .name(0, 1, 'a[b')
        .seeResult()
        .call({
          name: 'prctl_set_vma',
          option: 0,
          addr: Number(at(0)) + 1,
          length: 4096,
          vmaName: { kind: 'pointer', pointer: 8, unreadable: true },
        })
        .seeResult()
        .name(0, 1, null),
    {
      all: '0 ; EINVAL ; EINVAL ; EFAULT ; [0-1 rw nr]',
    },
  ),
  row(
    87,
    'private memfd, SysV segment, private /dev/zero',
    (k) => {
      k.open(3, '/memfd:m', true, true).open(4, '/dev/zero');
      k.file(0, 1, 'r', 3, 0).shmat(2, 1).file(4, 1, 'r', 4, 0);
      const results = k
        .name(0, 1, 'x')
        .seeResult()
        .name(2, 1, 'x')
        .seeResult()
        .name(4, 1, 'x')
        .seeResult()
        .log();
      return `${results} ; ${k.labels()}`;
    },
    {
      '6.1': 'EBADF ; EBADF ; EBADF ; [0-1 /memfd:m][2-3 /SYSV00000000][4-5 /dev/zero]',
      '6.10+': '0 ; EBADF ; EBADF ; [0-1 [anon_shmem:x]][2-3 /SYSV00000000][4-5 /dev/zero]',
    },
  ),
  row(
    88,
    'a named touched heap grows, in the process and in a forked child',
    (k) => {
      const child = k.heapAt(0).brk(2).write(0).fork();
      return `${nameGrowingHeap(k)} child ${nameGrowingHeap(child)}`;
    },
    {
      all:
        '[0-2 rw ac "h"][2-4 rw ac] ; [0-4 rw ac "h"] ' +
        'child [0-2 rw ac "h"][2-4 rw ac] ; [0-2 rw ac "h"][2-4 rw ac "h"]',
    },
  ),
  row(89, 'a page of a seal is named', (k) => k.nr(0, 3).mseal(0, 3).name(1, 1, 'x'), {
    '6.10+': '[0-1 rw nr sl][1-2 rw nr sl "x"][2-3 rw nr sl]',
  }),
  row(
    91,
    'a hint in the guard gap below memory that grows down, and one just below the gap',
    (k) =>
      k
        .nr(1000, 1, 'rw', MAP_GROWSDOWN)
        .map(744, 1, 'rw', HINT)
        .seeResult()
        .map(743, 1, 'rw', HINT)
        .seeResult(),
    {
      all: '? ; @743 ; [743-744 rw ac][1000-1001 rw gd nr]',
    },
  ),
  row(92, 'a map right at the break', (k) => k.heapAt(0).brk(2).nr(2, 1).labels(), {
    '6.1': '[0-2 [heap]][2-3 [heap]]',
    '6.10+': '[0-2 [heap]][2-3 ]',
  }),
  row(
    93,
    'the break grows beside inherited touched memory',
    (k) => {
      const child = k.heapAt(0).brk(2).write(0).fork().brk(4);
      return `child ${child.labels()} parent ${k.brk(4).labels()}`;
    },
    { all: 'child [0-2 [heap]][2-4 [heap]] parent [0-4 [heap]]' },
  ),
  row(
    94,
    'a SysV attach: a border moves, whole mappings do not join',
    (k) => k.shmat(0, 6).mprotect(2, 2, 'r').mprotect(4, 1, 'r').see().mprotect(2, 3, 'rw'),
    {
      '6.1':
        '[0-2 rw sh ms /SYSV00000000+0][2-4 r sh ms /SYSV00000000+2][4-5 r sh ms /SYSV00000000+4][5-6 rw sh ms /SYSV00000000+5] ; ' +
        '[0-2 rw sh ms /SYSV00000000+0][2-4 rw sh ms /SYSV00000000+2][4-5 rw sh ms /SYSV00000000+4][5-6 rw sh ms /SYSV00000000+5]',
      '6.10+':
        '[0-2 rw sh ms /SYSV00000000+0][2-5 r sh ms /SYSV00000000+2][5-6 rw sh ms /SYSV00000000+5] ; ' +
        '[0-2 rw sh ms /SYSV00000000+0][2-5 rw sh ms /SYSV00000000+2][5-6 rw sh ms /SYSV00000000+5]',
    },
  ),
  row(
    97,
    'PR_SET_MEMORY_MERGE, then three maps side by side',
    (k) => k.memoryMerge().nr(0, 1).nr(1, 1).nr(2, 1),
    {
      '6.1': '[0-3 rw nr]',
      '6.10 6.11 6.12': '[0-1 rw nr mg][1-2 rw nr mg][2-3 rw nr mg]',
      '6.18+': '[0-3 rw nr mg]',
    },
  ),
  row(98, 'a guard page', (k) => k.nr(0, 3).madvise(1, 1, madv.MADV_GUARD_INSTALL).see().nr(3, 1), {
    '-6.12': 'EINVAL [0-3 rw nr] ; [0-4 rw nr]',
    '6.18+': '[0-3 rw gu nr] ; [0-4 rw gu nr]',
  }),
  row(
    99,
    'a new map makes the whole mapping soft-dirty',
    (k) => k.nr(0, 1).clearSoftDirty().nr(1, 1).maps(softDirty),
    {
      all: '[0-2 rw nr sd]',
    },
  ),
];
