import { describe, expect, it } from 'vitest';
import { forceBrk, learnBrk, sysBrk } from '../../../src/mm/syscalls/brk';
import { MAP_GROWSDOWN } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { mmOf, ranges } from '../vmas';
import { at } from '../scenario';

describe('growing and shrinking', () => {
  behaves('to where it is asked', (k) => k.heapAt(0).brk(2).see().brk(5).see().brk(1), {
    all: '[0-2 rw ac] ; [0-5 rw ac] ; [0-1 rw ac]',
  });
  behaves('all of it', (k) => k.heapAt(0).brk(2).brk(0), { all: '' });
  behaves(
    'inside the same page: only the number changes',
    (k) =>
      k
        .heapAt(0)
        .brk(2)
        .call({ name: 'brk', addr: Number(at(1)) + 1 })
        .seeResult()
        .munmap(1, 1)
        .brk(2),
    {
      all: '@1 ; [0-1 rw ac]',
    },
  );
  behaves('below its start: it stays', (k) => k.heapAt(4).brk(6).brk(3).seeResult(), {
    all: '@6 ; [4-6 rw ac]',
  });
  behaves(
    'the part that is taken away may have holes, but not be one',
    (k) => k.heapAt(0).brk(4).munmap(1, 1).brk(1).seeResult().brk(2).seeResult(),
    {
      all: '@1 ; @2 ; [0-2 rw ac]',
    },
  );
});

describe('what is in the way', () => {
  behaves(
    'a mapping, and the page before it',
    (k) => k.heapAt(0).brk(1).nr(5, 1).brk(5).seeResult().brk(4).seeResult(),
    {
      all: '@1 ; @4 ; [0-4 rw ac][5-6 rw nr]',
    },
  );
  behaves(
    'memory that grows down, and the gap before it',
    (k) => k.heapAt(0).brk(1).a(300, 1, 'rw', MAP_GROWSDOWN).brk(44).seeResult().brk(43).seeResult(),
    {
      all: '@1 ; @43 ; [0-43 rw ac][300-301 rw gd ac]',
    },
  );
  behaves(
    'more mappings than there may be',
    (k) => k.heapAt(0).brk(1).nr(50, 1).limit(1).brk(2).seeResult(),
    {
      all: '@1 ; [0-1 rw ac][50-51 rw nr]',
    },
  );
  behaves('a seal at its end: the heap goes on beside it', (k) => k.heapAt(0).brk(2).mseal(0, 2).brk(3), {
    '6.10+': '[0-2 rw ac sl][2-3 rw ac]',
  });
});

describe('what the new part is like', () => {
  behaves('locked, where the future is to be', (k) => k.heapAt(0).brk(1).mlockall(2).brk(2), {
    all: '[0-1 rw ac][1-2 rw lo ac]',
  });
  behaves(
    'it does not join what lies behind',
    (k) => k.heapAt(0).brk(1).a(3, 1).brk(2).see().munmap(3, 1).brk(3),
    {
      all: '[0-2 rw ac][3-4 rw ac] ; [0-3 rw ac]',
    },
  );
  behaves('it does not join what ends where the heap begins', (k) => k.heapAt(2).a(0, 2).brk(3).brk(4), {
    all: '[0-2 rw ac][2-4 rw ac]',
  });
});

describe('a break that nobody has told', () => {
  it('goes anywhere until the record says where it is', () => {
    const mm = mmOf([]);
    expect(sysBrk(mm, 0x5000)).toEqual({ ok: true, value: 'anywhere' });
    learnBrk(mm, 0x4800);
    expect(sysBrk(mm, 0)).toEqual({ ok: true, value: 0x4800 });
    learnBrk(mm, 0x9000);
    expect(mm.scalars.startBrk).toBe(0x4800);
    expect(sysBrk(mm, 0x6800)).toEqual({ ok: true, value: 0x6800 });
    expect(ranges(mm)).toBe('5-7');
  });

  it('follows the record where the rules say otherwise', () => {
    const mm = mmOf([]);
    forceBrk(mm, 0x4000);
    forceBrk(mm, 0x6000);
    expect(ranges(mm)).toBe('4-6');
    forceBrk(mm, 0x5000);
    expect(ranges(mm)).toBe('4-5');
    expect(mm.scalars.brk).toBe(0x5000);
  });
});
