import * as madv from '../../src/mm/advice';
import { MAP_GROWSDOWN, MAP_SHARED } from '../../src/mm/syscalls/mmap';
import { at, type Scenario } from './scenario';
import { row, type ScenarioRow } from './scenario_table';

/** [0-2][2-4 sl][4-6], accounted. */
function sandwich(kernel: Scenario): Scenario {
  return kernel.a(0, 6).mseal(2, 2);
}

const SANDWICH = '[0-2 rw ac][2-4 rw ac sl][4-6 rw ac]';
/** What stays of it when an in-loop kernel refuses a call that began in page 1. */
const SPLIT_SANDWICH = '[0-1 rw ac][1-2 rw ac][2-4 rw ac sl][4-6 rw ac]';

/** Every advice there is, but for those that need a privilege. */
const ADVICE: readonly number[] = Object.values(madv).filter(
  (advice) => advice !== madv.MADV_HWPOISON && advice !== madv.MADV_SOFT_OFFLINE,
);

/** The advice that gets EPERM on sealed read-only anonymous memory, each tried in a process of its own. */
function refusedAdvice(kernel: Scenario): string {
  kernel.nr(0, 1, 'r').mseal(0, 1);
  return ADVICE.filter((advice) => kernel.fork().madvise(0, 1, advice).last === 'EPERM')
    .sort((a, b) => a - b)
    .join(' ');
}

/** Seals: what they refuse, in which order, and what a refused call leaves. */
export const SEAL_ROWS: readonly ScenarioRow[] = [
  row(
    58,
    'sealing is idempotent and joins',
    (k) => k.nr(0, 3).mseal(1, 1).see().mseal(1, 1).see().mseal(0, 3),
    {
      '6.10+': '[0-1 rw nr][1-2 rw nr sl][2-3 rw nr] ; [0-1 rw nr][1-2 rw nr sl][2-3 rw nr] ; [0-3 rw nr sl]',
    },
  ),
  row(59, 'a hole: nothing is sealed', (k) => k.nr(0, 1).nr(2, 1).mseal(0, 3), {
    '6.1': 'ENOSYS [0-1 rw nr][2-3 rw nr]',
    '6.10+': 'ENOMEM [0-1 rw nr][2-3 rw nr]',
  }),
  row(
    60,
    'arguments: unaligned with flags, no length, length that wraps',
    (k) =>
      k
        .call({ name: 'mseal', addr: Number(at(0)) + 1, length: 4096, flags: 7 })
        .seeResult()
        .call({ name: 'mseal', addr: at(0), length: 0, flags: 0 })
        .seeResult()
        .call({ name: 'mseal', addr: at(0), length: 0xffffffffffffffffn, flags: 0 }),
    {
      '6.1': 'ENOSYS ; ENOSYS ; ENOSYS ',
      '6.10+': 'EINVAL ; 0 ; EINVAL ',
    },
  ),
  row(61, 'mprotect over a seal', (k) => sandwich(k).mprotect(0, 6, 'r'), {
    '6.10 6.11': `EPERM ${SANDWICH}`,
    '6.12+': 'EPERM [0-2 r][2-4 rw ac sl][4-6 rw ac]',
  }),
  row(62, 'mprotect from the middle of a mapping into a seal', (k) => sandwich(k).mprotect(1, 2, 'r'), {
    '6.10 6.11': `EPERM ${SANDWICH}`,
    '6.12+': 'EPERM [0-1 rw ac][1-2 r][2-4 rw ac sl][4-6 rw ac]',
  }),
  row(
    63,
    'munmap over a seal, and from the middle of a mapping into it',
    (k) => sandwich(k).munmap(0, 6).see().munmap(1, 2),
    {
      '6.10 6.11': `EPERM ${SANDWICH} ; EPERM ${SANDWICH}`,
      '6.12+': `EPERM ${SANDWICH} ; EPERM ${SPLIT_SANDWICH}`,
    },
  ),
  row(
    64,
    'mmap(MAP_FIXED) over a seal, and from the middle of a mapping into it',
    (k) => sandwich(k).a(2, 2).see().a(1, 2),
    {
      '6.10 6.11': `EPERM ${SANDWICH} ; EPERM ${SANDWICH}`,
      '6.12+': `EPERM ${SANDWICH} ; EPERM ${SPLIT_SANDWICH}`,
    },
  ),
  row(65, 'mremap that shrinks: the tail is sealed', (k) => sandwich(k).grow(0, 4, 1), {
    '6.10 6.11': `EPERM ${SANDWICH}`,
    '6.12+': `EPERM ${SPLIT_SANDWICH}`,
  }),
  row(66, 'a move of everything', (k) => sandwich(k).move(0, 6, 6, 30), {
    '6.10 6.11': `EPERM ${SANDWICH}`,
    '6.12': `EFAULT ${SANDWICH}`,
    '6.18+': 'EPERM [2-4 rw ac sl][4-6 rw ac][30-32 rw ac]',
  }),
  row(67, 'a move onto a seal', (k) => sandwich(k).a(40, 2, 'r').move(40, 2, 2, 1), {
    '6.10 6.11': `EPERM ${SANDWICH}[40-42 r]`,
    '6.12+': `EPERM ${SPLIT_SANDWICH}[40-42 r]`,
  }),
  row(
    68,
    'mprotect: ordinary memory, a hole, a seal',
    (k) => k.a(0, 2).a(4, 2).mseal(4, 2).mprotect(0, 6, 'r'),
    {
      '6.10 6.11': 'EPERM [0-2 rw ac][4-6 rw ac sl]',
      '6.12+': 'ENOMEM [0-2 r][4-6 rw ac sl]',
    },
  ),
  row(
    69,
    'read-only memory with a seal in the middle: throwing away its pages, and advice that shows in flags',
    (k) =>
      k.nr(0, 6, 'r').mseal(2, 2).madvise(0, 6, madv.MADV_DONTNEED).see().madvise(0, 6, madv.MADV_DONTFORK),
    {
      '6.10 6.11': 'EPERM [0-2 r nr][2-4 r nr sl][4-6 r nr] ; EPERM [0-2 r nr][2-4 r nr sl][4-6 r nr]',
      '6.12+': 'EPERM [0-2 r nr][2-4 r nr sl][4-6 r nr] ; EPERM [0-2 r dc nr][2-4 r nr sl][4-6 r nr]',
    },
  ),
  row(70, 'sealed read-only anonymous memory: the advice that is refused', refusedAdvice, {
    // 6.10.0 tested the low bits of the advice.
    '6.10': '1 2 3 4 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25',
    '6.11 6.12': '4 8 9 10 18 24',
    '6.18+': '4 8 9 10 18 24 102',
  }),
  row(
    71,
    'sealed writable memory: pages may go, flags may change',
    (k) =>
      k
        .nr(0, 3)
        .mseal(0, 3)
        .madvise(1, 1, madv.MADV_DONTNEED)
        .madvise(1, 1, madv.MADV_FREE)
        .madvise(1, 1, madv.MADV_DONTFORK),
    {
      '6.10+': '[0-1 rw nr sl][1-2 rw dc nr sl][2-3 rw nr sl]',
    },
  ),
  row(
    72,
    'sealed read-only private /dev/zero',
    (k) => k.open(3, '/dev/zero').file(0, 1, 'r', 3, 0).mseal(0, 1).madvise(0, 1, madv.MADV_DONTNEED),
    {
      '6.10 6.11 6.12': '[0-1 r sl /dev/zero+0]',
      '6.18+': 'EPERM [0-1 r sl /dev/zero+0]',
    },
  ),
  row(
    73,
    'sealed read-only file and shared memory',
    (k) =>
      k
        .open(3, 'F')
        .file(0, 1, 'r', 3, 0)
        .shared(2, 1, 'r')
        .mseal(0, 1)
        .mseal(2, 1)
        .madvise(0, 1, madv.MADV_DONTNEED)
        .madvise(2, 1, madv.MADV_DONTNEED),
    {
      '6.10+': '[0-1 r sl F+0][2-3 r sh ms sl /dev/zero+0]',
    },
  ),
  row(
    74,
    'mprotect that changes nothing and mremap that does nothing',
    (k) => k.nr(0, 2).mseal(0, 2).mprotect(0, 2, 'rw').see().grow(0, 2, 2),
    {
      '6.10+': 'EPERM [0-2 rw nr sl] ; EPERM [0-2 rw nr sl]',
    },
  ),
  row(
    75,
    'a sealed mapping that could not be made writable anyway',
    (k) => k.open(3, 'F', false).file(0, 1, 'r', 3, 0, MAP_SHARED).mseal(0, 1).mprotect(0, 1, 'rw'),
    {
      '6.10 6.11': 'EPERM [0-1 r ms sl !mw F+0]',
      '6.12+': 'EACCES [0-1 r ms sl !mw F+0]',
    },
  ),
  row(76, 'shmdt of a sealed attach', (k) => k.shmat(0, 2).mseal(0, 2).shmdt(0), {
    '6.10+': '[0-2 rw sh ms sl /SYSV00000000+0]',
  }),
  row(77, 'a break below a sealed heap page', (k) => k.heapAt(0).brk(4).mseal(2, 1).brk(1).seeResult(), {
    '6.10 6.11': '@4 ; [0-2 rw ac][2-3 rw ac sl][3-4 rw ac]',
    '6.12+': '@4 ; [0-1 rw ac][1-2 rw ac][2-3 rw ac sl][3-4 rw ac]',
  }),
  row(
    78,
    'a page of a mapping that the kernel made, and all of it',
    (k) => k.special(0, 2, '[vdso]').mseal(0, 1).see().mseal(0, 2),
    {
      '6.10+': 'EINVAL [0-2 rx [vdso]] ; [0-2 rx sl [vdso]]',
    },
  ),
  row(
    79,
    'a new map beside a seal, then sealed too',
    (k) => k.nr(0, 1).mseal(0, 1).nr(1, 1).see().mseal(1, 1),
    {
      '6.10+': '[0-1 rw nr sl][1-2 rw nr] ; [0-2 rw nr sl]',
    },
  ),
  row(80, 'sealed memory grows down', (k) => k.nr(40, 2, 'rw', MAP_GROWSDOWN).mseal(40, 2).fault(39), {
    '6.10+': '[39-42 rw gd nr sl]',
  }),
];
