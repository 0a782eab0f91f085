import { describe } from 'vitest';
import { MAP_GROWSDOWN, MAP_LOCKED, MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { MREMAP_DONTUNMAP, MREMAP_FIXED, MREMAP_MAYMOVE } from '../../../src/mm/syscalls/mremap';
import { behaves } from '../behaves';
import { at, type Scenario } from '../scenario';

const HERE = Number(at(0));
const THERE = Number(at(20));
const TASK_SIZE = 0x7ffffffff000;
const MOVE = MREMAP_MAYMOVE | MREMAP_FIXED;

/** mremap of two pages at page 0 to page 20, with some arguments otherwise. */
function mremap(
  kernel: Scenario,
  other: { oldAddr?: number; oldLength?: number; newLength?: number; flags?: number; newAddr?: number },
): Scenario {
  const usual = { oldAddr: HERE, oldLength: 8192, newLength: 8192, flags: MOVE, newAddr: THERE };
  return kernel.nr(0, 2).call({ name: 'mremap', ...usual, ...other });
}

const SAME = '[0-2 rw nr]';

describe('arguments', () => {
  behaves('unknown flags', (k) => mremap(k, { flags: 8 }), { all: `EINVAL ${SAME}` });
  behaves('MREMAP_FIXED without MREMAP_MAYMOVE', (k) => mremap(k, { flags: MREMAP_FIXED }), {
    all: `EINVAL ${SAME}`,
  });
  behaves('MREMAP_DONTUNMAP without MREMAP_MAYMOVE', (k) => mremap(k, { flags: MREMAP_DONTUNMAP }), {
    all: `EINVAL ${SAME}`,
  });
  behaves(
    'MREMAP_DONTUNMAP and another length',
    (k) => mremap(k, { flags: MOVE | MREMAP_DONTUNMAP, newLength: 4096 }),
    { all: `EINVAL ${SAME}` },
  );
  behaves('an old address inside a page', (k) => mremap(k, { oldAddr: HERE + 1 }), { all: `EINVAL ${SAME}` });
  behaves('no new length', (k) => mremap(k, { newLength: 0 }), { all: `EINVAL ${SAME}` });
  behaves('a new address inside a page', (k) => mremap(k, { newAddr: THERE + 1 }), { all: `EINVAL ${SAME}` });
  behaves('a new range that leaves the address space', (k) => mremap(k, { newAddr: TASK_SIZE - 4096 }), {
    all: `EINVAL ${SAME}`,
  });
  behaves(
    'ranges that overlap, from above and from below',
    (k) =>
      mremap(k, { newAddr: HERE + 4096 })
        .see()
        .call({
          name: 'mremap',
          oldAddr: HERE + 4096,
          oldLength: 4096,
          newLength: 8192,
          flags: MOVE,
          newAddr: HERE,
        }),
    { all: `EINVAL ${SAME} ; EINVAL ${SAME}` },
  );
  behaves('nothing mapped at the old address', (k) => mremap(k, { oldAddr: THERE + 8 * 4096 }), {
    all: `EFAULT ${SAME}`,
  });
  behaves(
    'what is unmapped beats a seal only where both are asked at the same time',
    (k) => k.nr(0, 1).nr(2, 1).mseal(2, 1).move(1, 2, 2, 20),
    {
      '6.10+': 'EFAULT [0-1 rw nr][2-3 rw nr sl]',
    },
  );
});

describe('at the same place', () => {
  behaves('an equal length may reach past the mapping', (k) => k.nr(0, 2).grow(0, 5, 5), { all: SAME });
  behaves('shrinking takes the tail away, whatever is there', (k) => k.nr(0, 3).nr(4, 2, 'r').grow(0, 6, 1), {
    all: '[0-1 rw nr]',
  });
  behaves('shrinking with nothing at the tail', (k) => k.nr(0, 1).grow(0, 3, 1), { all: '[0-1 rw nr]' });
  behaves('growing past the end of its mapping', (k) => k.nr(0, 2).nr(2, 1, 'r').grow(0, 3, 4), {
    all: 'EFAULT [0-2 rw nr][2-3 r nr]',
  });
  behaves('growing into something without leave to move', (k) => k.nr(0, 2).nr(2, 1, 'r').grow(0, 2, 3, 0), {
    all: 'ENOMEM [0-2 rw nr][2-3 r nr]',
  });
  behaves('growing from the middle of a mapping without leave to move', (k) => k.nr(0, 3).grow(0, 1, 2, 0), {
    all: 'ENOMEM [0-3 rw nr]',
  });
  behaves(
    'growing in place needs no gap below memory that grows down',
    (k) => k.nr(0, 1).a(3, 1, 'rw', MAP_GROWSDOWN).grow(0, 1, 3, 0),
    { all: '[0-3 rw nr][3-4 rw gd ac]' },
  );
  behaves(
    'the part that is new in locked memory is locked',
    (k) => k.a(0, 1, 'rw', MAP_LOCKED).grow(0, 1, 3),
    {
      all: '[0-3 rw lo ac]',
    },
  );
  behaves(
    'name and advice reach over the new part',
    (k) => k.nr(0, 1).name(0, 1, 'x').madvise(0, 1, 10).grow(0, 1, 2),
    {
      all: '[0-2 rw dc nr "x"]',
    },
  );
  behaves(
    'a seal refuses shrinking, growing and doing nothing',
    (k) => k.nr(0, 2).mseal(0, 2).grow(0, 2, 1).see().grow(0, 2, 3).see().grow(0, 2, 2),
    {
      '6.10+': 'EPERM [0-2 rw nr sl] ; EPERM [0-2 rw nr sl] ; EPERM [0-2 rw nr sl]',
    },
  );
});

describe('moving', () => {
  behaves(
    'flags, name and offset go along',
    (k) => k.open(3, 'F').file(0, 4, 'rw', 3, 5).madvise(0, 4, 16).move(1, 2, 2, 20),
    {
      all: '[0-1 rw ac dd F+5][3-4 rw ac dd F+8][20-22 rw ac dd F+6]',
    },
  );
  behaves('a name goes along', (k) => k.nr(0, 2).name(0, 2, 'x').move(1, 1, 1, 20), {
    all: '[0-1 rw nr "x"][20-21 rw nr "x"]',
  });
  behaves('a place that is taken is cleared', (k) => k.nr(0, 2).nr(19, 4, 'r').move(0, 2, 2, 20), {
    all: '[19-20 r nr][20-22 rw nr][22-23 r nr]',
  });
  behaves('a shrinking move takes the tail away', (k) => k.nr(0, 3).nr(3, 1, 'r').move(0, 4, 2, 20), {
    all: '[20-22 rw nr]',
  });
  behaves('a growing move', (k) => k.nr(0, 2).move(1, 1, 3, 20), { all: '[0-1 rw nr][20-23 rw nr]' });
  behaves(
    'a growing move where the kernel likes',
    (k) => k.nr(0, 2).nr(2, 1, 'r').grow(0, 2, 3, MREMAP_MAYMOVE, 20),
    {
      all: '[2-3 r nr][20-23 rw nr]',
    },
  );
  behaves('locked memory stays locked', (k) => k.a(0, 2, 'rw', MAP_LOCKED).move(0, 1, 2, 20), {
    all: '[1-2 rw lo ac][20-22 rw lo ac]',
  });
  behaves(
    'a mapping that the kernel made moves as a whole',
    (k) => k.special(0, 2, '[vdso]').move(0, 1, 1, 20).see().move(0, 2, 2, 20),
    {
      all: 'EINVAL [0-2 rx [vdso]] ; [20-22 rx [vdso]]',
    },
  );
});

describe('duplicating with an old length of 0', () => {
  behaves('private memory', (k) => k.nr(0, 2).move(0, 0, 2, 20), { all: `EINVAL ${SAME}` });
  behaves('shared memory', (k) => k.shared(0, 2).move(0, 0, 2, 20), {
    all: '[0-2 rw sh ms /dev/zero+0][20-22 rw sh ms /dev/zero+0]',
  });
  behaves(
    'a sealed shared mapping: the copy is sealed where the seal is overlooked',
    (k) => k.shared(0, 1).mseal(0, 1).move(0, 0, 1, 20),
    {
      '6.10 6.11': '[0-1 rw sh ms sl /dev/zero+0][20-21 rw sh ms sl /dev/zero+0]',
      '6.12+': 'EPERM [0-1 rw sh ms sl /dev/zero+0]',
    },
  );
});

describe('MREMAP_DONTUNMAP', () => {
  behaves('leaves an empty mapping behind', (k) => k.nr(0, 2).name(0, 2, 'x').dontunmap(0, 2, 20), {
    all: '[0-2 rw nr "x"][20-22 rw nr "x"]',
  });
  behaves('of a file', (k) => k.open(3, 'F').file(0, 2, 'r', 3, 1, MAP_SHARED).dontunmap(0, 2, 20), {
    all: '[0-2 r sh ms F+1][20-22 r sh ms F+1]',
  });
  behaves('locks go with the pages', (k) => k.a(0, 2, 'rw', MAP_LOCKED).dontunmap(0, 2, 20), {
    all: '[0-2 rw ac][20-22 rw lo ac]',
  });
  behaves('untouched memory, right behind its source', (k) => k.nr(0, 2).dontunmap(0, 2, 2), {
    '6.10 6.11 6.18': '[0-4 rw nr]',
    '6.1 6.12 7.3': '[0-2 rw nr][2-4 rw nr]',
  });
  behaves('a sealed source', (k) => k.nr(0, 2).mseal(0, 2).dontunmap(0, 2, 20), {
    '6.10+': 'EPERM [0-2 rw nr sl]',
  });

  behaves(
    'of a part: what stays was written to as before',
    (k) => k.nr(0, 2).write(0).dontunmap(0, 1, 20).nr(2, 1, 'r').mprotect(0, 2, 'r'),
    {
      '-6.12': '[0-2 r nr][2-3 r nr][20-21 rw nr]',
      '6.18+': '[0-3 r nr][20-21 rw nr]',
    },
  );
  behaves(
    'of all: what stays counts as untouched',
    (k) => k.nr(0, 2).write(0).dontunmap(0, 2, 20).nr(2, 1, 'r').mprotect(0, 2, 'r'),
    { all: '[0-3 r nr][20-22 rw nr]' },
  );
});

describe('a seal in the destination', () => {
  behaves(
    'the source stays; where the source is checked first, nothing else is seen either',
    (k) => k.nr(0, 2).nr(20, 2).nr(22, 1, 'r').mseal(22, 1).move(0, 2, 2, 21),
    {
      '6.10 6.11': 'EPERM [0-2 rw nr][20-22 rw nr][22-23 r nr sl]',
      '6.12+': 'EPERM [0-2 rw nr][20-21 rw nr][21-22 rw nr][22-23 r nr sl]',
    },
  );
  behaves(
    'a shrinking move with a sealed tail has destroyed the destination by then',
    (k) => k.nr(0, 2).nr(2, 1, 'r').mseal(2, 1).nr(20, 2).move(0, 3, 1, 20),
    {
      '6.10 6.11': 'EPERM [0-2 rw nr][2-3 r nr sl][20-22 rw nr]',
      '6.12+': 'EPERM [0-1 rw nr][1-2 rw nr][2-3 r nr sl][21-22 rw nr]',
    },
  );
});

describe('many mappings in one move', () => {
  behaves(
    'holes at the end are kept, holes at the beginning are not there',
    (k) => k.nr(1, 1).nr(3, 1, 'r').move(1, 5, 5, 30).see().move(0, 2, 2, 40),
    {
      '-6.12': 'EFAULT [1-2 rw nr][3-4 r nr] ; EFAULT [1-2 rw nr][3-4 r nr]',
      '6.18+': '[30-31 rw nr][32-33 r nr] ; EFAULT [30-31 rw nr][32-33 r nr]',
    },
  );
  behaves('a part of a mapping at each end', (k) => k.nr(0, 2).nr(2, 2, 'r').move(1, 2, 2, 30), {
    '-6.12': 'EFAULT [0-2 rw nr][2-4 r nr]',
    '6.18+': '[0-1 rw nr][3-4 r nr][30-31 rw nr][31-32 r nr]',
  });
});
