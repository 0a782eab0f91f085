import { describe, expect, it } from 'vitest';
import * as madv from '../../../src/mm/advice';
import type { KernelFeature } from '../../../src/mm/kernel_rules';
import { MAP_ANONYMOUS, MAP_DROPPABLE, MAP_FIXED, MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, scenario, type Scenario } from '../scenario';

const HERE = Number(at(0));
const DROPPABLE = MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED;

function madvise(
  kernel: Scenario,
  other: { addr?: number | bigint; length?: number | bigint; advice?: number },
): Scenario {
  return kernel
    .nr(0, 3)
    .call({ name: 'madvise', addr: HERE, length: 4096, advice: madv.MADV_DONTFORK, ...other });
}

const SAME = '[0-3 rw nr]';

describe('arguments, in the order in which they are refused', () => {
  behaves('unknown advice beats no length', (k) => madvise(k, { advice: 5, length: 0 }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('an address inside a page beats no length', (k) => madvise(k, { addr: HERE + 1, length: 0 }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('a length that wraps', (k) => madvise(k, { length: 0xfffffffffffffff0n }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('a range that wraps', (k) => madvise(k, { length: 0xfffffffffffff000n }), {
    all: `EINVAL ${SAME}`,
  });
  behaves(
    'no length is nothing to do, also where nothing is mapped',
    (k) => madvise(k, { addr: at(50), length: 0 }),
    {
      all: SAME,
    },
  );
  behaves('nothing mapped there', (k) => madvise(k, { addr: at(50) }), { all: `ENOMEM ${SAME}` });

  it.each([
    ['ksm', madv.MADV_MERGEABLE],
    ['ksm', madv.MADV_UNMERGEABLE],
    ['thp', madv.MADV_HUGEPAGE],
    ['thp', madv.MADV_NOHUGEPAGE],
  ] as const)('a kernel without %s does not know advice %i', (feature, advice) => {
    expect(
      scenario('7.3', { lacks: [feature] })
        .nr(0, 1)
        .madvise(0, 0, advice).last,
    ).toBe('EINVAL');
    expect(scenario('7.3').nr(0, 1).madvise(0, 0, advice).last).toBe('0');
  });

  it('poisoning needs a privilege', () => {
    for (const advice of [madv.MADV_HWPOISON, madv.MADV_SOFT_OFFLINE]) {
      expect(scenario('7.3').nr(0, 1).madvise(0, 1, advice).text()).toBe('EPERM [0-1 rw nr]');
    }
  });
});

describe('advice that shows in flags', () => {
  behaves(
    'how memory is read',
    (k) =>
      k
        .nr(0, 2)
        .madvise(0, 1, madv.MADV_RANDOM)
        .see()
        .madvise(0, 2, madv.MADV_SEQUENTIAL)
        .see()
        .madvise(0, 2, madv.MADV_NORMAL),
    {
      all: '[0-1 rw rr nr][1-2 rw nr] ; [0-2 rw sr nr] ; [0-2 rw nr]',
    },
  );
  behaves(
    'fork, and wiping',
    (k) =>
      k
        .nr(0, 1)
        .madvise(0, 1, madv.MADV_DONTFORK)
        .madvise(0, 1, madv.MADV_WIPEONFORK)
        .see()
        .madvise(0, 1, madv.MADV_DOFORK)
        .madvise(0, 1, madv.MADV_KEEPONFORK),
    { all: '[0-1 rw dc nr wf] ; [0-1 rw nr]' },
  );
  behaves(
    'core dumps',
    (k) => k.nr(0, 2).madvise(1, 1, madv.MADV_DONTDUMP).see().madvise(0, 2, madv.MADV_DODUMP),
    {
      all: '[0-1 rw nr][1-2 rw nr dd] ; [0-2 rw nr]',
    },
  );
  behaves(
    'merging, but not of shared memory',
    (k) =>
      k.nr(0, 1).shared(1, 1).madvise(0, 2, madv.MADV_MERGEABLE).see().madvise(0, 2, madv.MADV_UNMERGEABLE),
    {
      all: '[0-1 rw nr mg][1-2 rw sh ms /dev/zero+0] ; [0-1 rw nr][1-2 rw sh ms /dev/zero+0]',
    },
  );
  it('huge pages: one wish takes the place of the other', () => {
    const kernel = scenario('7.3')
      .nr(0, 1)
      .madvise(0, 1, madv.MADV_HUGEPAGE)
      .see()
      .madvise(0, 1, madv.MADV_NOHUGEPAGE);
    expect(kernel.text()).toBe('[0-1 rw nr hg] ; [0-1 rw nr nh]');
  });
  behaves(
    'droppable memory keeps its flags',
    (k) =>
      k.map(0, 1, 'rw', DROPPABLE).madvise(0, 1, madv.MADV_KEEPONFORK).see().madvise(0, 1, madv.MADV_DODUMP),
    {
      '6.11+': 'EINVAL [0-1 rw nr wf dd dp] ; EINVAL [0-1 rw nr wf dd dp]',
    },
  );
  behaves(
    'wiping is for private anonymous memory',
    (k) => k.shared(0, 1).madvise(0, 1, madv.MADV_WIPEONFORK),
    {
      all: 'EINVAL [0-1 rw sh ms /dev/zero+0]',
    },
  );
});

describe('holes and errors on the way', () => {
  behaves('a hole at the beginning', (k) => k.nr(1, 1).madvise(0, 2, madv.MADV_DONTFORK), {
    all: 'ENOMEM [1-2 rw dc nr]',
  });
  behaves(
    'a hole, then an error: the error',
    (k) => k.nr(0, 1).shared(2, 1).nr(3, 1).madvise(0, 4, madv.MADV_WIPEONFORK),
    {
      all: 'EINVAL [0-1 rw nr wf][2-3 rw sh ms /dev/zero+0][3-4 rw nr]',
    },
  );
  behaves(
    'at the limit: what came before stays',
    (k) => k.nr(0, 1).nr(1, 2, 'r').limit(2).madvise(0, 2, madv.MADV_DONTFORK),
    {
      all: 'EAGAIN [0-1 rw dc nr][1-3 r nr]',
    },
  );
  behaves(
    'at the limit a border may move',
    (k) => k.nr(0, 1).nr(1, 2).madvise(0, 1, madv.MADV_DONTFORK).limit(2).madvise(1, 1, madv.MADV_DONTFORK),
    {
      all: '[0-2 rw dc nr][2-3 rw nr]',
    },
  );
});

describe('advice that concerns pages', () => {
  behaves(
    'locked memory keeps its pages, unless that is said',
    (k) =>
      k
        .nr(0, 1)
        .mlock(0, 1)
        .madvise(0, 1, madv.MADV_DONTNEED)
        .seeResult()
        .madvise(0, 1, madv.MADV_FREE)
        .seeResult()
        .madvise(0, 1, madv.MADV_COLD)
        .seeResult()
        .madvise(0, 1, madv.MADV_PAGEOUT)
        .seeResult()
        .madvise(0, 1, madv.MADV_REMOVE)
        .seeResult()
        .madvise(0, 1, madv.MADV_DONTNEED_LOCKED),
    {
      all: 'EINVAL ; EINVAL ; EINVAL ; EINVAL ; EINVAL ; [0-1 rw lo nr]',
    },
  );
  behaves(
    'MADV_FREE is for anonymous memory',
    (k) => k.open(3, 'F').file(0, 1, 'rw', 3, 0).madvise(0, 1, madv.MADV_FREE),
    {
      all: 'EINVAL [0-1 rw ac F+0]',
    },
  );
  behaves(
    'MADV_REMOVE punches files that are shared and writable',
    (k) =>
      k
        .nr(0, 1)
        .open(3, '/memfd:m', true, true)
        .file(2, 1, 'r', 3, 0)
        .file(4, 1, 'rw', 3, 0, MAP_SHARED)
        .madvise(0, 1, madv.MADV_REMOVE)
        .seeResult()
        .madvise(2, 1, madv.MADV_REMOVE)
        .seeResult()
        .madvise(4, 1, madv.MADV_REMOVE)
        .seeResult()
        .log(),
    { all: 'EINVAL ; EACCES ; 0' },
  );
  behaves(
    'pages do not come back untouched',
    (k) => k.nr(0, 1).write(0).madvise(0, 1, madv.MADV_DONTNEED).nr(1, 1, 'r').mprotect(0, 1, 'r'),
    {
      '-6.12': '[0-1 r nr][1-2 r nr]',
      '6.18+': '[0-2 r nr]',
    },
  );
});

describe('reading ahead', () => {
  it('of anonymous memory needs swap to read from', () => {
    const advise = (lacks: readonly KernelFeature[]): string[] => {
      const kernel = scenario('7.3', { lacks }).open(3, 'F').nr(0, 1).file(2, 1, 'r', 3, 0);
      return [0, 2].map((page) => kernel.madvise(page, 1, madv.MADV_WILLNEED).seeResult().last);
    };
    expect(advise([])).toEqual(['0', '0']);
    expect(advise(['swap'])).toEqual(['EBADF', '0']);
  });
});

describe('bringing pages in', () => {
  behaves(
    'needs the access',
    (k) =>
      k
        .nr(0, 1, 'r')
        .nr(1, 1, 'w')
        .madvise(0, 1, madv.MADV_POPULATE_WRITE)
        .seeResult()
        .madvise(0, 1, madv.MADV_POPULATE_READ)
        .seeResult()
        .log(),
    {
      all: 'EINVAL ; 0',
    },
  );
  behaves(
    'writing touches, reading does not',
    (k) =>
      k
        .nr(0, 1)
        .nr(2, 1)
        .madvise(0, 1, madv.MADV_POPULATE_WRITE)
        .madvise(2, 1, madv.MADV_POPULATE_READ)
        .nr(1, 1, 'r')
        .nr(3, 1, 'r')
        .mprotect(0, 1, 'r')
        .mprotect(2, 1, 'r'),
    {
      '-6.12': '[0-1 r nr][1-4 r nr]',
      '6.18+': '[0-4 r nr]',
    },
  );
  behaves(
    'a hole: the pages before it are there',
    (k) => k.nr(0, 1).madvise(0, 2, madv.MADV_POPULATE_WRITE).seeResult().nr(1, 1, 'r').mprotect(0, 1, 'r'),
    {
      '-6.12': 'ENOMEM ; [0-1 r nr][1-2 r nr]',
      '6.18+': 'ENOMEM ; [0-2 r nr]',
    },
  );
  behaves(
    'memory without access behind a hole: old kernels went on',
    (k) => k.nr(0, 1).nr(2, 1, 'none').madvise(0, 3, madv.MADV_POPULATE_READ),
    {
      '6.1': 'EINVAL [0-1 rw nr][2-3 none nr]',
      '6.10+': 'ENOMEM [0-1 rw nr][2-3 none nr]',
    },
  );
});

describe('guard regions', () => {
  behaves(
    'not in locked memory; removing one leaves the mark',
    (k) =>
      k
        .nr(0, 2)
        .mlock(0, 1)
        .madvise(0, 1, madv.MADV_GUARD_INSTALL)
        .seeResult()
        .madvise(1, 1, madv.MADV_GUARD_INSTALL)
        .see()
        .madvise(1, 1, madv.MADV_GUARD_REMOVE),
    {
      '6.18+': 'EINVAL ; [0-1 rw lo nr][1-2 rw gu nr] ; [0-1 rw lo nr][1-2 rw gu nr]',
    },
  );
  behaves(
    'the mark does not keep memory apart',
    (k) => k.nr(0, 1).nr(1, 1, 'r').madvise(1, 1, madv.MADV_GUARD_INSTALL).mprotect(0, 1, 'r'),
    {
      '6.18+': '[0-2 r gu nr]',
    },
  );
});

describe('MADV_COLLAPSE', () => {
  const collapse = (pages: number): string =>
    scenario('6.18').nr(0, 512).madvise(0, pages, madv.MADV_COLLAPSE).seeResult().log();

  it('depends on pages, whether a gap follows or not', () => {
    expect([collapse(512), collapse(1024)]).toEqual(['?', '?']);
  });

  it('a gap alone is ENOMEM', () => {
    expect(scenario('6.18').madvise(0, 512, madv.MADV_COLLAPSE).seeResult().log()).toBe('ENOMEM');
  });
});
