import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { MREMAP_MAYMOVE } from '../../src/mm/syscalls/mremap';
import { splitVma } from '../../src/mm/vma_modify';
import type { NameArg } from '../../src/trace/event';
import { at, BASE, scenario, type Scenario } from './scenario';

/** VMAs with the number of their name object and its count: `[0-2 #1×3][2-3]`. */
function objects({ mm, world }: Scenario): string {
  const { names } = world.system;
  return mm.tree
    .all()
    .map(({ start, end, name }) => {
      const pages = `${start - BASE}-${end - BASE}`;
      return name === null ? `[${pages}]` : `[${pages} #${name.id}×${names.refs(name)}]`;
    })
    .join('');
}

/** Numbers of the objects that are alive, with their counts. */
function alive(kernel: Scenario): string {
  return [...kernel.world.system.names.alive()]
    .map(([{ id, text }, refs]) => `#${id} ${text}×${refs}`)
    .sort()
    .join(', ');
}

describe('a naming call', () => {
  it('makes one object for all the mappings that it names', () => {
    const kernel = scenario('7.3').nr(0, 1).nr(1, 1, 'r').nr(2, 1).name(0, 3, 'x');
    expect(objects(kernel)).toBe('[0-1 #1×3][1-2 #1×3][2-3 #1×3]');
  });

  it('makes a new one each time; equal texts join, and the one that is there stays', () => {
    const kernel = scenario('7.3').nr(0, 4).name(0, 1, 'x').name(1, 1, 'x');
    // The second object had no taker: it was gone when its call returned.
    expect(objects(kernel)).toBe('[0-2 #1×1][2-4]');
    expect(objects(kernel.name(3, 1, 'x'))).toBe('[0-2 #1×1][2-3][3-4 #3×1]');
    expect(objects(kernel.name(2, 1, 'x'))).toBe('[0-4 #1×1]');
    expect(alive(kernel)).toBe('#1 x×1');
  });

  it('leaves a mapping that has the text already its object', () => {
    const kernel = scenario('7.3').nr(0, 1).nr(1, 1, 'r').name(0, 1, 'x').name(0, 2, 'x');
    expect(objects(kernel)).toBe('[0-1 #1×1][1-2 #2×1]');
  });

  it('takes the mapping behind in, whose object stays', () => {
    const kernel = scenario('7.3').nr(0, 2).name(1, 1, 'x').name(0, 1, 'x');
    expect(objects(kernel)).toBe('[0-2 #1×1]');
  });

  it('with another text drops the old object', () => {
    const kernel = scenario('7.3').nr(0, 3).name(0, 3, 'x').name(1, 1, 'y');
    expect(objects(kernel)).toBe('[0-1 #1×2][1-2 #2×1][2-3 #1×2]');
    expect(objects(kernel.name(0, 3, 'z'))).toBe('[0-3 #3×1]');
    expect(alive(kernel)).toBe('#3 z×1');
  });

  it('without a text drops the object', () => {
    const kernel = scenario('7.3').nr(0, 2).name(0, 2, 'x').name(0, 1, null);
    expect(objects(kernel)).toBe('[0-1][1-2 #1×1]');
    expect(alive(kernel.name(0, 2, null))).toBe('');
  });

  it('that is refused part of the way keeps what it gave', () => {
    const kernel = scenario('7.3').open(3, 'F').nr(0, 1).file(1, 1, 'r', 3, 0).nr(2, 1).name(0, 3, 'x');
    expect(kernel.last).toBe('EBADF');
    expect(objects(kernel)).toBe('[0-1 #1×1][1-2][2-3]');
  });

  it('that finds nothing leaves no object', () => {
    const kernel = scenario('7.3').name(0, 3, 'x').see();
    expect(alive(kernel)).toBe('');
  });
});

describe('a text that the capture cuts short', () => {
  const prefix: NameArg = { kind: 'text', text: 'long na', truncated: true };
  const call = { name: 'prctl_set_vma', option: 0, length: 4096, vmaName: prefix } as const;

  it('is not taken for another that begins alike', () => {
    const kernel = scenario('7.3')
      .nr(0, 2)
      .call({ ...call, addr: at(0) })
      .call({ ...call, addr: at(1) });
    expect(objects(kernel)).toBe('[0-1 #1×1][1-2 #2×1]');
  });

  it('one call may still join its pieces', () => {
    const kernel = scenario('7.3')
      .nr(0, 2)
      .call({ ...call, addr: at(0), length: 8192 });
    expect(objects(kernel.mprotect(0, 1, 'r').mprotect(0, 1, 'rw'))).toBe('[0-2 #1×1]');
  });
});

describe('the count', () => {
  it('rises with a split and falls with a merge', () => {
    const kernel = scenario('7.3').nr(0, 4).name(0, 4, 'x').mprotect(1, 1, 'r');
    expect(objects(kernel)).toBe('[0-1 #1×3][1-2 #1×3][2-4 #1×3]');
    expect(objects(kernel.mprotect(1, 1, 'rw'))).toBe('[0-4 #1×1]');
  });

  it('falls with munmap, rises with a hole', () => {
    const kernel = scenario('7.3').nr(0, 3).name(0, 3, 'x').munmap(1, 1);
    expect(objects(kernel)).toBe('[0-1 #1×2][2-3 #1×2]');
    expect(objects(kernel.munmap(0, 1))).toBe('[2-3 #1×1]');
    expect(alive(kernel.munmap(2, 1))).toBe('');
  });

  it('stays with a move, rises with MREMAP_DONTUNMAP', () => {
    const kernel = scenario('7.3').nr(0, 1).name(0, 1, 'x').move(0, 1, 1, 20);
    expect(objects(kernel)).toBe('[20-21 #1×1]');
    expect(objects(kernel.dontunmap(20, 1, 40))).toBe('[20-21 #1×2][40-41 #1×2]');
  });

  it('of a move next to an equal text: the one that is there stays', () => {
    const kernel = scenario('7.3').nr(0, 1).name(0, 1, 'x').nr(20, 1).name(20, 1, 'x').move(20, 1, 1, 1);
    expect(objects(kernel)).toBe('[0-2 #1×1]');
    expect(alive(kernel)).toBe('#1 x×1');
  });

  it('does not change when a mapping grows', () => {
    const kernel = scenario('7.3').nr(0, 1).name(0, 1, 'x').grow(0, 1, 3, MREMAP_MAYMOVE);
    expect(objects(kernel)).toBe('[0-3 #1×1]');
  });

  it('falls with a fixed map over it', () => {
    const kernel = scenario('7.3').nr(0, 1).name(0, 1, 'x').nr(0, 1);
    expect(objects(kernel)).toBe('[0-1]');
    expect(alive(kernel)).toBe('');
  });

  it('at its limit: the upper half of a split gets a copy', () => {
    const kernel = scenario('7.3').nr(0, 4).name(0, 4, 'x');
    const { names } = kernel.world.system;
    const [vma] = kernel.mm.tree.all();
    (names.alive() as Map<unknown, number>).set(vma?.name, 0x7fffffff);
    // Below the helper, whose recount would find one holder.
    expect(splitVma(kernel.mm, 0, vpn(BASE + 1)).ok).toBe(true);
    expect(objects(kernel)).toBe('[0-1 #1×2147483647][1-4 #2×1]');
    expect(kernel.mm.tree.all().map(({ name }) => name?.text)).toEqual(['x', 'x']);
  });
});

describe('fork', () => {
  it('shares every object with the child, and its exit gives all back', () => {
    const parent = scenario('7.3').nr(0, 4).name(0, 4, 'x').mprotect(1, 1, 'r').nr(8, 1).name(8, 1, 'y');
    const child = parent.fork();
    expect(objects(parent)).toBe('[0-1 #1×6][1-2 #1×6][2-4 #1×6][8-9 #2×2]');
    expect(objects(child)).toBe(objects(parent));
    child.exit();
    expect(objects(parent)).toBe('[0-1 #1×3][1-2 #1×3][2-4 #1×3][8-9 #2×1]');
    expect(alive(parent.exit())).toBe('');
  });

  it('what is not copied takes no reference', () => {
    const parent = scenario('7.3').nr(0, 1).name(0, 1, 'x').madvise(0, 1, 10);
    const child = parent.fork();
    expect(objects(child)).toBe('');
    expect(objects(parent)).toBe('[0-1 #1×1]');
  });

  it('a child that renames has another object; the parent has one holder less of its own', () => {
    const parent = scenario('7.3').nr(0, 2).name(0, 2, 'x');
    const child = parent.fork().name(0, 2, 'child');
    expect(objects(parent)).toBe('[0-2 #1×1]');
    expect(objects(child)).toBe('[0-2 #2×1]');
  });

  it('a child that outlives its parent keeps the object', () => {
    const parent = scenario('7.3').nr(0, 2).name(0, 2, 'x');
    const child = parent.fork();
    const grandchild = child.fork();
    expect(objects(grandchild)).toBe('[0-2 #1×3]');
    parent.exit();
    child.exit();
    expect(objects(grandchild)).toBe('[0-2 #1×1]');
  });
});
