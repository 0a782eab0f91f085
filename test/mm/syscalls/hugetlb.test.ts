import { describe, expect, it } from 'vitest';
import * as madv from '../../../src/mm/advice';
import { GIGANTIC_PAGE } from '../../../src/mm/hugetlb';
import {
  MAP_ANONYMOUS,
  MAP_DROPPABLE,
  MAP_FIXED,
  MAP_FIXED_NOREPLACE,
  MAP_GROWSDOWN,
  MAP_HUGETLB,
  MAP_LOCKED,
  MAP_NORESERVE,
  MAP_PRIVATE,
  MAP_SHARED,
  MAP_STACK,
} from '../../../src/mm/syscalls/mmap';
import { MREMAP_DONTUNMAP, MREMAP_MAYMOVE } from '../../../src/mm/syscalls/mremap';
import { behaves } from '../behaves';
import { scenario, type Scenario } from '../scenario';

/** Pages of 4 KiB in 2 MiB. */
const H = 512;
const ANON = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB;
const SIZE_1G = 30 * 2 ** 26;
const SYNC = 0x80000;
const VALIDATE = 3;

/** `pages` of anonymous memory of huge pages at a fixed place. */
function huge(k: Scenario, page: number, pages: number, more = 0): Scenario {
  return k.map(page, pages, 'rw', ANON | more);
}

/** A memfd with huge pages, or with those of `hugePage`. */
function memfd(k: Scenario, fd: number, hugePage = H): Scenario {
  k.life.files.openHuge(fd, '/memfd:x', true, true, hugePage);
  return k;
}

/** The same calls in C programs on 6.18.44 with free huge pages gave these results and maps. The other kernels have none. */
describe('mmap of huge pages', () => {
  behaves('rounds the length up, is never merged and never charged', (k) => huge(huge(k, 0, 1), H, H), {
    all: '[0-512 rw de ht /anon_hugepage+0][512-1024 rw de ht /anon_hugepage+0]',
  });
  behaves('shared', (k) => k.map(0, 1, 'rw', MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB), {
    all: '[0-512 rw sh ms de ht /anon_hugepage+0]',
  });
  behaves('is not locked', (k) => huge(k, 0, H, MAP_LOCKED), { all: '[0-512 rw de ht /anon_hugepage+0]' });
  behaves('is not locked by MCL_FUTURE either', (k) => huge(k.mlockall(2), 0, H), {
    all: '[0-512 rw de ht /anon_hugepage+0]',
  });
  behaves('for a stack', (k) => huge(k, 0, H, MAP_STACK), {
    '6.1': '[0-512 rw de ht /anon_hugepage+0]',
    '6.10+': '[0-512 rw de ht nh /anon_hugepage+0]',
  });
  behaves('without reservation', (k) => huge(k, 0, H, MAP_NORESERVE), {
    all: '[0-512 rw de nr ht /anon_hugepage+0]',
  });
  behaves(
    'offsets count, though nobody else has the file',
    (k) => k.map(0, 1, 'rw', ANON, { offset: 2 * H }),
    {
      all: '[0-512 rw de ht /anon_hugepage+1024]',
    },
  );
  behaves(
    'an offset inside a huge page: what was there is gone',
    (k) => k.nr(0, 2 * H).map(0, 1, 'rw', ANON, { offset: 1 }),
    {
      all: 'EINVAL [512-1024 rw nr]',
    },
  );
  for (const [title, flags, length, errno] of [
    ['no length', ANON, 0, 'EINVAL'],
    ['a length that wraps', ANON, 2 ** 52 - 1, 'EINVAL'],
    ['a length above the address space', ANON, 2 ** 52 - 1024, 'ENOMEM'],
    ['growing down', ANON | MAP_GROWSDOWN, H, 'EINVAL'],
    ['neither shared nor private', ANON & ~MAP_PRIVATE, H, 'EINVAL'],
    ['droppable', (ANON & ~MAP_PRIVATE) | MAP_DROPPABLE, H, 'EINVAL'],
    ['shared and growing down', (ANON & ~MAP_PRIVATE) | MAP_SHARED | MAP_GROWSDOWN, H, 'EINVAL'],
    ['with MAP_SYNC, validated', (ANON & ~MAP_PRIVATE) | VALIDATE | SYNC, H, 'EOPNOTSUPP'],
    ['of 4 MiB', ANON + 22 * 2 ** 26, H, 'EINVAL'],
  ] as const) {
    behaves(`${title}: ${errno}`, (k) => k.nr(5, 1).map(0, length, 'rw', flags), {
      all: `${errno} [5-6 rw nr]`,
    });
  }
  behaves('MAP_SHARED_VALIDATE', (k) => k.map(0, H, 'rw', (ANON & ~MAP_PRIVATE) | VALIDATE), {
    all: '[0-512 rw sh ms de ht /anon_hugepage+0]',
  });
  behaves('2 MiB by name', (k) => k.map(0, 1, 'rw', ANON + 21 * 2 ** 26), {
    all: '[0-512 rw de ht /anon_hugepage+0]',
  });
});

const TWO = '[0-512 rw de ht /anon_hugepage+0][512-1024 rw de ht /anon_hugepage+512]';

describe('the place of huge pages', () => {
  behaves('a fixed one is aligned', (k) => huge(k, 1, H), { all: 'EINVAL ' });
  behaves('also where it leaves the address space', (k) => huge(k, 0x7ffffffff - 0x1000000, H), {
    all: 'EINVAL ',
  });
  behaves('it leaves the address space', (k) => huge(k, 0x7fffffe00 - 0x1000000, H), { all: 'ENOMEM ' });
  behaves(
    'MAP_FIXED_NOREPLACE',
    (k) =>
      huge(k, 0, H)
        .map(0, H, 'rw', (ANON & ~MAP_FIXED) | MAP_FIXED_NOREPLACE)
        .seeResult()
        .map(1, H, 'rw', (ANON & ~MAP_FIXED) | MAP_FIXED_NOREPLACE),
    { all: 'EEXIST ; EINVAL [0-512 rw de ht /anon_hugepage+0]' },
  );
  behaves('a hint inside a huge page', (k) => k.map(H + 1, H, 'rw', ANON & ~MAP_FIXED), {
    '-6.12': '[512-1024 rw de ht /anon_hugepage+0]',
    '6.18+': '[1024-1536 rw de ht /anon_hugepage+0]',
  });
  behaves(
    'a hint to what is taken',
    (k) => huge(k, 0, H).map(0, H, 'rw', ANON & ~MAP_FIXED, { placed: 8 * H }),
    { all: '[0-512 rw de ht /anon_hugepage+0][4096-4608 rw de ht /anon_hugepage+0]' },
  );
  behaves('over a part of a huge page', (k) => huge(k, 0, 2 * H).nr(H, 1), {
    '-6.11': `ENOMEM ${TWO}`,
    '6.12+': `EINVAL ${TWO}`,
  });
  behaves('over a whole one', (k) => huge(k, 0, 2 * H).nr(H, H), {
    all: '[0-512 rw de ht /anon_hugepage+0][512-1024 rw nr]',
  });
});

const FOUR = '[0-2048 rw de ht /anon_hugepage+0]';
const SPLIT_AT_1 = '[0-512 rw de ht /anon_hugepage+0][512-2048 rw de ht /anon_hugepage+512]';

describe('borders of huge pages', () => {
  behaves('munmap inside of one', (k) => huge(k, 0, 4 * H).munmap(2 * H + 1, H), { all: `EINVAL ${FOUR}` });
  behaves(
    'munmap to the inside of one: the border where it began stays',
    (k) => huge(k, 0, 4 * H).munmap(H, H + 1),
    {
      all: `EINVAL ${SPLIT_AT_1}`,
    },
  );
  behaves('munmap from the start to the inside of one', (k) => huge(k, 0, 4 * H).munmap(0, H + 1), {
    all: `EINVAL ${FOUR}`,
  });
  behaves('munmap of whole ones', (k) => huge(k, 0, 4 * H).munmap(H, 2 * H), {
    all: '[0-512 rw de ht /anon_hugepage+0][1536-2048 rw de ht /anon_hugepage+1536]',
  });
  behaves('munmap from ordinary memory into one', (k) => huge(k.nr(0, H), H, 2 * H).munmap(100, H), {
    all: 'EINVAL [0-100 rw nr][100-512 rw nr][512-1536 rw de ht /anon_hugepage+0]',
  });
  behaves('mprotect of a part of one', (k) => huge(k, 0, 4 * H).mprotect(0, 1, 'r'), {
    all: `EINVAL ${FOUR}`,
  });
  behaves('mprotect to what it has', (k) => huge(k, 0, 4 * H).mprotect(3, 1, 'rw'), { all: FOUR });
  behaves(
    'mprotect and back: no merge',
    (k) =>
      huge(k, 0, 4 * H)
        .mprotect(0, H, 'r')
        .mprotect(0, H, 'rw'),
    {
      all: SPLIT_AT_1,
    },
  );
  behaves('mprotect from ordinary memory into one', (k) => huge(k.nr(0, H), H, 2 * H).mprotect(200, H, 'r'), {
    all: 'EINVAL [0-200 rw nr][200-512 r nr][512-1536 rw de ht /anon_hugepage+0]',
  });
  behaves(
    'mlock of a part changes nothing',
    (k) =>
      huge(k, 0, 4 * H)
        .mlock(0, 1)
        .mlock2(1, 1, 1),
    { all: FOUR },
  );
  behaves('mlock without access', (k) => k.map(0, H, 'none', ANON).mlock(0, 1), {
    all: 'ENOMEM [0-512 none de ht /anon_hugepage+0]',
  });
  behaves('mseal of a part of one', (k) => huge(k, 0, 4 * H).mseal(H, 1), {
    '6.10+': `EINVAL ${SPLIT_AT_1}`,
  });
  behaves('mseal of a whole one', (k) => huge(k, 0, 2 * H).mseal(H, H), {
    '6.10+': '[0-512 rw de ht /anon_hugepage+0][512-1024 rw de ht sl /anon_hugepage+512]',
  });
  behaves(
    'mbind of a part of one',
    (k) =>
      huge(k, 0, 4 * H)
        .mbind(0, 1, 2)
        .seeResult()
        .mbind(H, H, 2),
    {
      all: 'EINVAL ; [0-512 rw de ht /anon_hugepage+0][512-1024 rw de ht /anon_hugepage+512][1024-2048 rw de ht /anon_hugepage+1024]',
    },
  );
  behaves('a name', (k) => huge(k, 0, H).name(0, H, 'x'), { all: 'EBADF [0-512 rw de ht /anon_hugepage+0]' });
});

describe('madvise of huge pages', () => {
  for (const [title, page, pages, advice, errno] of [
    ['MADV_DONTNEED needs an aligned start', 1, 1, madv.MADV_DONTNEED, 'EINVAL'],
    ['MADV_DONTNEED_LOCKED too', 1, 1, madv.MADV_DONTNEED_LOCKED, 'EINVAL'],
    ['MADV_FREE', 0, H, madv.MADV_FREE, 'EINVAL'],
    ['MADV_REMOVE of private memory', 1, 1, madv.MADV_REMOVE, 'EACCES'],
    ['MADV_WIPEONFORK', 0, H, madv.MADV_WIPEONFORK, 'EINVAL'],
    ['MADV_COLD', 0, H, madv.MADV_COLD, 'EINVAL'],
    ['MADV_PAGEOUT', 0, H, madv.MADV_PAGEOUT, 'EINVAL'],
    ['MADV_COLLAPSE', 0, H, madv.MADV_COLLAPSE, 'EINVAL'],
    ['MADV_GUARD_INSTALL', 0, H, madv.MADV_GUARD_INSTALL, 'EINVAL'],
    ['MADV_GUARD_REMOVE', 0, H, madv.MADV_GUARD_REMOVE, 'EINVAL'],
    ['MADV_RANDOM of a part', 1, 1, madv.MADV_RANDOM, 'EINVAL'],
    ['MADV_DOFORK of a part', 513, 1, madv.MADV_DONTFORK, 'EINVAL'],
  ] as const) {
    behaves(
      title,
      (k) =>
        huge(k, 0, 4 * H)
          .madvise(page, pages, advice)
          .see(),
      {
        all: `${errno} ${FOUR} ; ${errno} ${FOUR}`,
      },
    );
  }
  for (const [title, page, pages, advice] of [
    ['MADV_DONTNEED of a part from its start', 0, 1, madv.MADV_DONTNEED],
    ['MADV_DONTNEED_LOCKED as well', 0, H + 1, madv.MADV_DONTNEED_LOCKED],
    ['what changes no flag', 1, 1, madv.MADV_NORMAL],
    ['MADV_WILLNEED', 1, 1, madv.MADV_WILLNEED],
    ['MADV_MERGEABLE', 0, H, madv.MADV_MERGEABLE],
    ['MADV_KEEPONFORK', 0, H, madv.MADV_KEEPONFORK],
    ['MADV_POPULATE_WRITE of a part', 1, 1, madv.MADV_POPULATE_WRITE],
  ] as const) {
    behaves(title, (k) => huge(k, 0, 4 * H).madvise(page, pages, advice), { all: FOUR });
  }
  behaves('flags of whole huge pages', (k) => huge(k, 0, 2 * H).madvise(H, H, madv.MADV_DONTFORK), {
    all: '[0-512 rw de ht /anon_hugepage+0][512-1024 rw dc de ht /anon_hugepage+512]',
  });
  behaves('MADV_HUGEPAGE is one', (k) => huge(k, 0, H).madvise(0, H, madv.MADV_HUGEPAGE), {
    all: '[0-512 rw de ht hg /anon_hugepage+0]',
  });
  behaves(
    'MADV_DODUMP, though it is special',
    (k) => huge(k, 0, H).madvise(0, H, madv.MADV_DONTDUMP).madvise(0, H, madv.MADV_DODUMP),
    {
      all: '[0-512 rw de ht /anon_hugepage+0]',
    },
  );
  behaves(
    'a hole in shared memory, also in a part',
    (k) =>
      k.map(0, H, 'rw', MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB).madvise(1, 1, madv.MADV_REMOVE),
    {
      all: '[0-512 rw sh ms de ht /anon_hugepage+0]',
    },
  );
});

describe('mremap of huge pages', () => {
  const refused = (title: string, script: (k: Scenario) => Scenario): void => {
    behaves(title, (k) => script(huge(k, 0, 2 * H)), {
      all: 'EINVAL [0-1024 rw de ht /anon_hugepage+0]',
    });
  };
  refused('does not grow', (k) => k.grow(0, 2 * H, 3 * H));
  refused('does not grow where a part is named', (k) => k.grow(0, 1, H + 1));
  refused('needs an aligned old address', (k) => k.grow(1, 1, 1));
  refused('needs an aligned new address', (k) => k.move(0, H, H, 5 * H + 1));
  refused('does not leave its pages', (k) => k.grow(0, H, H, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
  refused('does not duplicate', (k) => k.grow(0, 0, H));
  behaves('of a part of a page to its whole does nothing', (k) => huge(k, 0, H).grow(0, 1, H).grow(0, H, 1), {
    all: '[0-512 rw de ht /anon_hugepage+0]',
  });
  behaves('shrinks by whole pages', (k) => huge(k, 0, 2 * H).grow(0, 2 * H, 1), {
    all: '[0-512 rw de ht /anon_hugepage+0]',
  });
  behaves('moves whole pages', (k) => huge(k, 0, 2 * H).move(0, 1, 1, 4 * H), {
    all: '[512-1024 rw de ht /anon_hugepage+512][2048-2560 rw de ht /anon_hugepage+0]',
  });
  behaves('shrinks and moves', (k) => huge(k, 0, 2 * H).move(0, 2 * H, H, 4 * H), {
    all: '[2048-2560 rw de ht /anon_hugepage+0]',
  });
  behaves('goes among others', (k) => huge(k.nr(0, H), H, H).move(0, 2 * H, 2 * H, 4 * H), {
    '-6.12': 'EFAULT [0-512 rw nr][512-1024 rw de ht /anon_hugepage+0]',
    '6.18+': '[2048-2560 rw nr][2560-3072 rw de ht /anon_hugepage+0]',
  });
  behaves(
    'goes not to between borders: what is before it has moved',
    (k) => huge(k.nr(0, H), H, H).move(100, H, H, 4 * H),
    {
      '-6.12': 'EFAULT [0-512 rw nr][512-1024 rw de ht /anon_hugepage+0]',
      '6.18+': 'EINVAL [0-100 rw nr][512-1024 rw de ht /anon_hugepage+0][2048-2460 rw nr]',
    },
  );
  behaves('of ordinary memory onto a part of one', (k) => huge(k.nr(0, 1), H, H).move(0, 1, 1, H), {
    all: 'EINVAL [0-1 rw nr][512-1024 rw de ht /anon_hugepage+0]',
  });
});

describe('files with huge pages', () => {
  const X = '/memfd:x';
  const map = (k: Scenario, page: number, flags: number, offset = 0): Scenario =>
    k.map(page, 1, 'rw', flags | MAP_FIXED, { fd: 3, offset });
  behaves('shared and private', (k) => map(map(memfd(k, 3), 0, MAP_SHARED), H, MAP_PRIVATE, H), {
    all: `[0-512 rw sh ms de ht ${X}+0][512-1024 rw de ht ${X}+512]`,
  });
  behaves('one beside the other: no merge', (k) => map(map(memfd(k, 3), 0, MAP_SHARED), H, MAP_SHARED, H), {
    all: `[0-512 rw sh ms de ht ${X}+0][512-1024 rw sh ms de ht ${X}+512]`,
  });
  behaves(
    'MAP_HUGETLB is allowed and its size passed over',
    (k) => map(memfd(k, 3), 0, MAP_SHARED + MAP_HUGETLB + SIZE_1G),
    {
      all: `[0-512 rw sh ms de ht ${X}+0]`,
    },
  );
  behaves('an offset inside a huge page', (k) => map(memfd(k, 3), 0, MAP_SHARED, 1), { all: 'EINVAL ' });
  behaves('an address inside a huge page', (k) => map(memfd(k, 3), 1, MAP_SHARED), { all: 'EINVAL ' });
  behaves('a part is unmapped', (k) => map(memfd(k, 3), 0, MAP_SHARED).munmap(0, 1), {
    all: `EINVAL [0-512 rw sh ms de ht ${X}+0]`,
  });
  behaves('shared ones do not grow either', (k) => map(memfd(k, 3), 0, MAP_SHARED).grow(0, 0, H), {
    all: `EINVAL [0-512 rw sh ms de ht ${X}+0]`,
  });
  behaves('no name', (k) => map(memfd(k, 3), 0, MAP_SHARED).name(0, H, 'x'), {
    all: `EBADF [0-512 rw sh ms de ht ${X}+0]`,
  });
  behaves('of 1 GiB', (k) => map(memfd(k, 3, GIGANTIC_PAGE), 0, MAP_SHARED), {
    all: `[0-${GIGANTIC_PAGE} rw sh ms de ht ${X}+0]`,
  });
  behaves('of 1 GiB at an offset of 2 MiB', (k) => map(memfd(k, 3, GIGANTIC_PAGE), 0, MAP_SHARED, H), {
    all: 'EINVAL ',
  });
  behaves(
    'remap_file_pages: whole pages, and a wrong offset leaves a hole',
    (k) => {
      const call = (page: number, pages: number, pgoff: number): Scenario =>
        k.call({
          name: 'remap_file_pages',
          addr: (0x1000000 + page) * 4096,
          size: pages * 4096,
          prot: 0,
          pgoff,
          flags: 0,
        });
      k.map(0, 4 * H, 'rw', MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB);
      call(0, 1, 0).seeResult();
      call(0, H, H);
      call(H, H, 1).seeResult();
      return call(2 * H, H, 2 * H);
    },
    {
      all: 'EINVAL ; EINVAL ; [0-512 rw sh ms de ht /anon_hugepage+512][1024-1536 rw sh ms de ht /anon_hugepage+1024][1536-2048 rw sh ms de ht /anon_hugepage+1536]',
    },
  );
});

describe('1 GiB', () => {
  // The arena begins at such a border.
  const G = GIGANTIC_PAGE;
  behaves('is mapped and cut as a whole', (k) => k.map(0, H, 'rw', ANON + SIZE_1G).munmap(H, G - H), {
    all: `EINVAL [0-${G} rw de ht /anon_hugepage+0]`,
  });
  behaves('needs its own borders', (k) => k.map(H, H, 'rw', ANON + SIZE_1G), { all: 'EINVAL ' });
  behaves('goes as a whole', (k) => k.map(0, H, 'rw', ANON + SIZE_1G).munmap(0, G), { all: '' });
  behaves('moves as a whole', (k) => k.map(0, H, 'rw', ANON + SIZE_1G).move(0, 1, 1, 2 * G), {
    all: `[${2 * G}-${3 * G} rw de ht /anon_hugepage+0]`,
  });
});

describe('a kernel or a processor without them', () => {
  const without = (title: string, lacks: 'hugetlb' | 'hugetlb-1g', flags: number, gives: string): void => {
    it(title, () => {
      expect(
        scenario('6.18', { lacks: [lacks] })
          .map(0, H, 'rw', flags)
          .now(),
      ).toBe(gives);
    });
  };
  without('no hugetlb', 'hugetlb', ANON, 'EINVAL ');
  without('no pages of 1 GiB', 'hugetlb-1g', ANON + SIZE_1G, 'EINVAL ');
  without('others all the same', 'hugetlb-1g', ANON, '[0-512 rw de ht /anon_hugepage+0]');
});

describe('fork', () => {
  behaves('inherits them', (k) => huge(k, 0, H).fork(), { all: '[0-512 rw de ht /anon_hugepage+0]' });
});

describe('segments of huge pages', () => {
  const attach = (k: Scenario, page: number, flags = 0): Scenario => {
    k.world.segments.set(7, { size: (H + 1) * 4096, key: '00000000', hugePage: H });
    return k.call({ name: 'shmat', id: 7, addr: (0x1000000 + page) * 4096, flags });
  };
  const S = '/SYSV00000000';
  behaves('are attached as a whole', (k) => attach(k, 0), { all: `[0-1024 rw sh ms de ht ${S}+0]` });
  behaves('at a border only', (k) => attach(k, 1), { all: 'EINVAL ' });
  behaves(
    'lose whole pages and go as one',
    (k) => attach(k, 0).munmap(0, 1).seeResult().munmap(0, H).see().shmdt(0),
    {
      all: `EINVAL ; [512-1024 rw sh ms de ht ${S}+512] ; `,
    },
  );
  behaves(
    'a piece that moved away stays',
    (k) =>
      attach(k, 0)
        .move(0, H, H, 8 * H)
        .shmdt(0),
    {
      all: `[4096-4608 rw sh ms de ht ${S}+0]`,
    },
  );
});
