import { describe, expect, it } from 'vitest';
import { MAP_LOCKED } from '../../../src/mm/syscalls/mmap';
import { dupMm } from '../../../src/mm/syscalls/fork';
import { unionOf, VM_READ, VM_UFFD_MISSING, VM_UFFD_WP } from '../../../src/mm/vm_flags';
import { behaves } from '../behaves';
import { scenario } from '../scenario';
import { mmOf, vmaOf } from '../vmas';

describe('the child has', () => {
  behaves(
    'everything but what is not to be copied',
    (k) =>
      k
        .open(3, 'F')
        .nr(0, 1)
        .shared(2, 1)
        .file(4, 1, 'r', 3, 7)
        .nr(6, 1, 'none')
        .nr(8, 1)
        .madvise(8, 1, 10)
        .fork(),
    {
      all: '[0-1 rw nr][2-3 rw sh ms /dev/zero+0][4-5 r F+7][6-7 none nr]',
    },
  );
  behaves('no locks', (k) => k.a(0, 1, 'rw', MAP_LOCKED).nr(2, 1).mlock2(2, 1, 1).fork(), {
    all: '[0-1 rw ac][2-3 rw nr]',
  });
  behaves('seals, names and advice', (k) => k.nr(0, 1).name(0, 1, 'x').madvise(0, 1, 18).mseal(0, 1).fork(), {
    '6.10+': '[0-1 rw nr wf sl "x"]',
  });
  behaves('the break', (k) => k.heapAt(0).brk(2).fork().brk(1), { all: '[0-1 rw ac]' });
  behaves(
    'two mappings that differed in a lock only: they stay two',
    (k) => k.nr(0, 1).nr(1, 1, 'r').mlock(1, 1).mprotect(1, 1, 'rw').fork(),
    {
      all: '[0-1 rw nr][1-2 rw nr]',
    },
  );
});

describe('they go apart', () => {
  behaves(
    'whatever the child does',
    (k) => {
      const child = k.nr(0, 4).fork().munmap(0, 1).mprotect(1, 1, 'r').name(2, 1, 'x');
      return `${k.text()} / ${child.text()}`;
    },
    { all: '[0-4 rw nr] / [1-2 r nr][2-3 rw nr "x"][3-4 rw nr]' },
  );
  behaves(
    'and whatever the parent does',
    (k) => {
      const child = k.nr(0, 4).fork();
      return `${k.munmap(0, 3).text()} / ${child.text()}`;
    },
    { all: '[3-4 rw nr] / [0-4 rw nr]' },
  );
});

describe('touched memory', () => {
  it('has an anon_vma of its own in the child, marked as inherited', () => {
    const parent = scenario('7.3').nr(0, 1).write(0);
    const child = parent.fork();
    const [own] = parent.mm.tree.all();
    const [inherited] = child.mm.tree.all();
    expect(own).toMatchObject({ anonVma: 1, forkChild: false });
    expect(inherited).toMatchObject({ anonVma: 2, forkChild: true });
    expect(parent.fork().fork().mm.tree.all()[0]).toMatchObject({ forkChild: true });
  });

  it('that is wiped, or that nobody touched, starts anew', () => {
    const child = scenario('7.3').nr(0, 1).write(0).madvise(0, 1, 18).nr(2, 1).fork();
    for (const vma of child.mm.tree.all()) expect(vma).toMatchObject({ anonVma: 0, forkChild: false });
  });
});

it('userfaultfd does not follow into the child', () => {
  const flags = unionOf(VM_READ, VM_UFFD_MISSING, VM_UFFD_WP);
  const parent = mmOf([vmaOf(0, 1, { flags, uffd: 3, policy: 'bind:0' })]);
  expect(dupMm(parent).tree.all()).toEqual([{ ...parent.tree.all()[0], flags: VM_READ, uffd: null }]);
});
