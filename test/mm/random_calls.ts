import fc from 'fast-check';
import * as madv from '../../src/mm/advice';
import { MAP_ANONYMOUS, MAP_FIXED, MAP_GROWSDOWN, MAP_PRIVATE, MAP_SHARED } from '../../src/mm/syscalls/mmap';
import { MREMAP_DONTUNMAP, MREMAP_MAYMOVE } from '../../src/mm/syscalls/mremap';
import { hasAny, VM_WRITE } from '../../src/mm/vm_flags';
import { vpn } from '../../src/mm/addr';
import { BASE, type Prot, type Scenario } from './scenario';

/** Random sequences of calls in an arena of few pages, so that they meet each other all the time. */

const PAGES = 12;
/** Where the heap begins: its end and the arena's meet. */
export const HEAP = 9;

/** Pages [start, end) of the arena. */
export interface Pages {
  readonly start: number;
  readonly end: number;
}

export interface RandomCall {
  /** Which of the processes calls, counted around those that live. */
  readonly process: number;
  /** How a person would write it. */
  readonly text: string;
  /** Where it works; `all` for a call on the whole address space. */
  readonly ranges: readonly Pages[] | 'all';
  readonly kind: 'change' | 'seal' | 'fork' | 'exit' | 'fault';
  readonly run: (process: Scenario) => void;
}

const page = fc.nat({ max: PAGES - 1 });
const length = fc.integer({ min: 1, max: 6 });
const prot = fc.constantFrom<Prot>('none', 'r', 'rw', 'rw', 'rwx', 'rx');
const advice = fc.constantFrom(...Object.values(madv));
const nameText = fc.constantFrom('a', 'a', 'b', '', null, 'bad]');

type Draft = Omit<RandomCall, 'process'>;

/** A call on one range. */
function on(
  name: string,
  more: fc.Arbitrary<unknown[]>,
  run: (process: Scenario, start: number, pages: number, args: unknown[]) => void,
  kind: RandomCall['kind'] = 'change',
): fc.Arbitrary<Draft> {
  return fc.tuple(page, length, more).map(([start, pages, args]) => ({
    text: `${name}(${[start, pages, ...args].map((arg) => JSON.stringify(arg)).join(', ')})`,
    ranges: [{ start, end: start + pages }],
    kind,
    run: (process) => {
      run(process, start, pages, args);
    },
  }));
}

const none = fc.constant<unknown[]>([]);

const maps: fc.Arbitrary<Draft> = fc.oneof(
  on('nr', fc.tuple(prot), (p, at, n, [access]) => p.nr(at, n, access as Prot)),
  on('a', fc.tuple(prot), (p, at, n, [access]) => p.a(at, n, access as Prot)),
  on('shared', fc.tuple(prot), (p, at, n, [access]) => p.shared(at, n, access as Prot)),
  on('file', fc.tuple(fc.constantFrom(3, 4), page), (p, at, n, [fd, offset]) =>
    p.file(at, n, 'r', fd as number, offset as number),
  ),
  on('fileShared', fc.tuple(fc.constantFrom(3, 4), page), (p, at, n, [fd, offset]) =>
    p.file(at, n, 'r', fd as number, offset as number, MAP_SHARED),
  ),
  on('growsDown', none, (p, at, n) =>
    p.map(at, n, 'rw', MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN),
  ),
  on('hint', none, (p, at, n) => p.map(at, n, 'rw', MAP_PRIVATE | MAP_ANONYMOUS)),
  on('shmat', none, (p, at, n) => p.shmat(at, n)),
);

const moves: fc.Arbitrary<Draft> = fc
  .tuple(page, fc.nat({ max: 6 }), length, page, fc.constantFrom('grow', 'stay', 'move', 'move', 'dontunmap'))
  .map(([from, oldPages, newPages, to, how]): Draft => {
    const old = { start: from, end: from + Math.max(oldPages, newPages) };
    switch (how) {
      case 'grow':
      case 'stay': {
        const flags = how === 'grow' ? MREMAP_MAYMOVE : 0;
        return {
          text: `${how}(${from}, ${oldPages}, ${newPages})`,
          ranges: [old],
          kind: 'change',
          run: (p) => p.grow(from, oldPages, newPages, flags),
        };
      }
      case 'move':
        return {
          text: `move(${from}, ${oldPages}, ${newPages}, ${to})`,
          ranges: [old, { start: to, end: to + newPages }],
          kind: 'change',
          run: (p) => p.move(from, oldPages, newPages, to),
        };
      default:
        return {
          text: `dontunmap(${from}, ${newPages}, ${to})`,
          // Older kernels take the locks of the whole mapping away.
          ranges: 'all',
          kind: 'change',
          run: (p) => p.move(from, newPages, newPages, to, MREMAP_DONTUNMAP),
        };
    }
  });

const others: fc.Arbitrary<Draft> = fc.oneof(
  on('munmap', none, (p, at, n) => p.munmap(at, n)),
  on('mprotect', fc.tuple(prot), (p, at, n, [access]) => p.mprotect(at, n, access as Prot)),
  on('mprotect', fc.tuple(prot), (p, at, n, [access]) => p.mprotect(at, n, access as Prot)),
  on('madvise', fc.tuple(advice), (p, at, n, [what]) => p.madvise(at, n, what as number)),
  on('name', fc.tuple(nameText), (p, at, n, [text]) => p.name(at, n, text as string | null)),
  on('mlock', none, (p, at, n) => p.mlock(at, n)),
  on('mlock2', none, (p, at, n) => p.mlock2(at, n, 1)),
  on('munlock', none, (p, at, n) => p.munlock(at, n)),
  on('shmdt', none, (p, at) => p.shmdt(at)).map((call) => ({ ...call, ranges: 'all' as const })),
  fc.constantFrom(1, 2, 3, 7).map((flags): Draft => ({
    text: `mlockall(${flags})`,
    ranges: 'all',
    kind: 'change',
    run: (p) => p.mlockall(flags),
  })),
  fc.integer({ min: HEAP - 1, max: PAGES + 3 }).map((to): Draft => ({
    text: `brk(${to})`,
    ranges: [{ start: HEAP, end: PAGES + 3 }],
    kind: 'change',
    run: (p) => p.brk(to),
  })),
);

const seals = on('mseal', none, (p, at, n) => p.mseal(at, n), 'seal');

const faults = on(
  'write',
  none,
  (p, at) => {
    const vma = p.mm.tree.lookup(vpn(BASE + at));
    if (vma !== undefined && hasAny(vma.flags, VM_WRITE)) p.write(at);
  },
  'fault',
);

const life: fc.Arbitrary<Draft> = fc.constantFrom<Draft>(
  { text: 'fork()', ranges: [], kind: 'fork', run: () => undefined },
  { text: 'fork()', ranges: [], kind: 'fork', run: () => undefined },
  { text: 'exit()', ranges: 'all', kind: 'exit', run: () => undefined },
);

const anyDraft = fc.oneof(
  { arbitrary: maps, weight: 6 },
  { arbitrary: others, weight: 9 },
  { arbitrary: moves, weight: 4 },
  { arbitrary: seals, weight: 2 },
  { arbitrary: faults, weight: 3 },
  { arbitrary: life, weight: 1 },
);

/** A script as fast-check prints it when it fails: one call a line. */
export class Script {
  constructor(readonly calls: readonly RandomCall[]) {}

  [fc.toStringMethod](): string {
    return ['', ...this.calls.map(({ process, text }) => `  ${process}: ${text}`), ''].join('\n');
  }
}

export const scripts: fc.Arbitrary<Script> = fc
  .array(
    fc.tuple(fc.nat({ max: 3 }), anyDraft).map(([process, draft]): RandomCall => ({ process, ...draft })),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  .map((calls) => new Script(calls));
