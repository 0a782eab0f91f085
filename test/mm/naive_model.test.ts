import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { MADV_DOFORK, MADV_DONTFORK } from '../../src/mm/advice';
import { KERNEL_VERSIONS, type KernelVersion } from '../../src/mm/kernel_rules';
import { isSealed } from '../../src/mm/seal';
import { hasAny, VM_DONTCOPY, VM_READ, VM_WRITE } from '../../src/mm/vm_flags';
import { BASE, scenario, type Prot, type Scenario } from './scenario';

/**
 * The same calls on the simplest model there is: an array of pages, each on its own. It knows no mapping, no border and
 * no neighbour; what the simulation says of a page must be the same.
 */

const PAGES = 16;
const RUNS = { numRuns: 150, seed: 20_261_201 };

interface Page {
  readonly prot: 'none' | 'r' | 'rw';
  readonly name: string | null;
  readonly sealed: boolean;
  readonly dontfork: boolean;
}

type NaiveCall =
  | { readonly call: 'map'; readonly prot: Page['prot'] }
  | { readonly call: 'unmap' | 'seal' | 'write' }
  | { readonly call: 'protect'; readonly prot: Page['prot'] }
  | { readonly call: 'name'; readonly name: string | null }
  | { readonly call: 'dontfork' | 'dofork' };

type Placed = NaiveCall & { readonly start: number; readonly pages: number };

class NaivePages {
  pages: (Page | undefined)[];

  constructor(
    private readonly version: KernelVersion,
    pages: readonly (Page | undefined)[] = Array.from({ length: PAGES }, () => undefined),
  ) {
    this.pages = [...pages];
  }

  fork(): NaivePages {
    return new NaivePages(
      this.version,
      this.pages.map((page) => (page?.dontfork === true ? undefined : page)),
    );
  }

  /** Does the call page after page; returns what the program gets. */
  run(call: Placed): string {
    const { start, pages } = call;
    const range = this.pages.slice(start, start + pages);
    const sealed = range.some((page) => page?.sealed === true);
    const prePass = this.version === '6.10' || this.version === '6.11';
    switch (call.call) {
      case 'map':
        if (sealed) return 'EPERM';
        return this.set(start, range, () => ({
          prot: call.prot,
          name: null,
          sealed: false,
          dontfork: false,
        }));
      case 'unmap':
        return sealed ? 'EPERM' : this.set(start, range, () => undefined);
      case 'seal':
        if (this.version === '6.1') return 'ENOSYS';
        if (range.includes(undefined)) return 'ENOMEM';
        return this.set(start, range, (page) => page && { ...page, sealed: true });
      case 'protect':
        if (range[0] === undefined) return 'ENOMEM';
        if (prePass && sealed) return 'EPERM';
        return this.each(start, range, 'stop', (page) =>
          page.sealed ? 'EPERM' : { ...page, prot: call.prot },
        );
      case 'name':
        return this.each(start, range, 'pass', (page) => ({ ...page, name: call.name }));
      case 'dontfork':
      case 'dofork': {
        const dontfork = call.call === 'dontfork';
        const refused = (page: Page): boolean => dontfork && page.sealed && page.prot !== 'rw';
        if (prePass && range.some((page) => page !== undefined && refused(page))) return 'EPERM';
        return this.each(start, range, 'pass', (page) => (refused(page) ? 'EPERM' : { ...page, dontfork }));
      }
      case 'write':
        return '0';
    }
  }

  private set(
    start: number,
    range: readonly (Page | undefined)[],
    become: (page: Page | undefined) => Page | undefined,
  ): string {
    range.forEach((page, at) => (this.pages[start + at] = become(page)));
    return '0';
  }

  /** Page after page; a hole is told in the end, and stops it or not. */
  private each(
    start: number,
    range: readonly (Page | undefined)[],
    holes: 'stop' | 'pass',
    become: (page: Page) => Page | string,
  ): string {
    let result = '0';
    for (const [at, page] of range.entries()) {
      const next = page === undefined ? undefined : become(page);
      if (typeof next === 'string') return next;
      if (next !== undefined) this.pages[start + at] = next;
      else if (holes === 'stop') return 'ENOMEM';
      else result = 'ENOMEM';
    }
    return result;
  }
}

/** The same call on the simulation, and what the program gets. */
function runOn(process: Scenario, call: Placed): string {
  make(process, call);
  process.seeResult();
  return /^E|^0$/.test(process.last) ? process.last : '0';
}

function make(process: Scenario, call: Placed): Scenario {
  const { start, pages } = call;
  switch (call.call) {
    case 'map':
      return process.nr(start, pages, call.prot satisfies Prot);
    case 'unmap':
      return process.munmap(start, pages);
    case 'seal':
      return process.mseal(start, pages);
    case 'protect':
      return process.mprotect(start, pages, call.prot);
    case 'name':
      return process.name(start, pages, call.name);
    case 'dontfork':
      return process.madvise(start, pages, MADV_DONTFORK);
    case 'dofork':
      return process.madvise(start, pages, MADV_DOFORK);
    case 'write': {
      // Whether memory was written to decides which mappings join, and nothing of a page.
      const vma = process.mm.tree.lookup(vpn(BASE + start));
      process.last = '0';
      return vma !== undefined && hasAny(vma.flags, VM_WRITE) ? process.write(start) : process;
    }
  }
}

function pagesOf({ mm }: Scenario): (Page | undefined)[] {
  return Array.from({ length: PAGES }, (_, page) => {
    const vma = mm.tree.lookup(vpn(BASE + page));
    if (vma === undefined) return undefined;
    const readable = hasAny(vma.flags, VM_READ) ? 'r' : 'none';
    return {
      prot: hasAny(vma.flags, VM_WRITE) ? 'rw' : readable,
      name: vma.name?.text ?? null,
      sealed: isSealed(vma),
      dontfork: hasAny(vma.flags, VM_DONTCOPY),
    } as const;
  });
}

const prot = fc.constantFrom('none', 'r', 'rw');
const kinds: fc.Arbitrary<NaiveCall> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ call: fc.constant('map'), prot }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constantFrom('unmap', 'write') }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('seal') }) },
  { weight: 4, arbitrary: fc.record({ call: fc.constant('protect'), prot }) },
  { weight: 3, arbitrary: fc.record({ call: fc.constant('name'), name: fc.constantFrom('a', 'b', null) }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constantFrom('dontfork', 'dofork') }) },
);
const calls: fc.Arbitrary<Placed[]> = fc.array(
  fc
    .tuple(kinds, fc.nat(PAGES - 1), fc.integer({ min: 1, max: 6 }))
    .map(([kind, start, pages]) => ({ ...kind, start, pages: Math.min(pages, PAGES - start) })),
  { maxLength: 40 },
);

/** References of every name object alive, by id. */
function referencesOf(process: Scenario): [number, number][] {
  return [...process.mm.system.names.alive()].map(([{ id }, refs]): [number, number] => [id, refs]);
}

describe.each(KERNEL_VERSIONS)('pages on %s, each on its own', (version) => {
  it('are as an array of pages has them, after every call and its result', () => {
    fc.assert(
      fc.property(calls, (script) => {
        const process = scenario(version);
        const naive = new NaivePages(version);
        for (const call of script) {
          expect([call, runOn(process, call)]).toEqual([call, naive.run(call)]);
          expect([call, pagesOf(process)]).toEqual([call, naive.pages]);
          const mapped = naive.pages.filter((page) => page !== undefined).length;
          const counted = [...process.mm.tree.all()].reduce((sum, vma) => sum + vma.end - vma.start, 0);
          expect(counted).toBe(mapped);
        }
      }),
      RUNS,
    );
  });

  it('fork copies what it may; the exit of the child brings every count back', () => {
    fc.assert(
      fc.property(calls, calls, (before, after) => {
        const parent = scenario(version);
        const naive = new NaivePages(version);
        for (const call of before) {
          runOn(parent, call);
          naive.run(call);
        }
        const references = referencesOf(parent);
        const child = parent.fork();
        const naiveChild = naive.fork();
        expect(pagesOf(child)).toEqual(naiveChild.pages);
        for (const call of after) expect([call, runOn(child, call)]).toEqual([call, naiveChild.run(call)]);
        expect(pagesOf(child)).toEqual(naiveChild.pages);
        child.exit();
        expect(referencesOf(parent)).toEqual(references);
        expect(pagesOf(parent)).toEqual(naive.pages);
      }),
      RUNS,
    );
  });
});
