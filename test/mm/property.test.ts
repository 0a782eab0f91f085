import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { KERNEL_VERSIONS, type KernelVersion, type RuleOverrides } from '../../src/mm/kernel_rules';
import type { Mm } from '../../src/mm/mm';
import { isSealed } from '../../src/mm/seal';
import { pgoffAt } from '../../src/mm/vma';
import { unionOf, VM_MAYBE_GUARD, VM_SOFTDIRTY, without } from '../../src/mm/vm_flags';
import { HEAP, scripts, type RandomCall, type Script } from './random_calls';
import { BASE, scenario, type Scenario } from './scenario';

/** A failing run prints the seed and the shortest script that still fails. */
const RUNS = { numRuns: 80, seed: 20_240_717 };

const MAX_PROCESSES = 4;

/** What happens around each call of a script. */
interface Watch {
  readonly around: (process: Scenario, call: RandomCall, run: () => void) => void;
  readonly forked?: (parent: Scenario, child: Scenario) => void;
  readonly ended?: (kernel: Scenario) => void;
}

function begin(version: KernelVersion, rules: RuleOverrides = {}): Scenario {
  return scenario(version, { rules }).open(3, 'F').open(4, 'F').heapAt(HEAP);
}

/** Runs a script; the recount of all references runs after every call of it. */
function play({ calls }: Script, first: Scenario, watch: Watch): void {
  let living = [first];
  for (const call of calls) {
    const process = living[call.process % living.length];
    if (process === undefined) break;
    if (call.kind === 'fork') {
      if (living.length === MAX_PROCESSES) continue;
      const child = process.fork();
      watch.forked?.(process, child);
      living.push(child);
    } else if (call.kind === 'exit') {
      if (living.length === 1) continue;
      process.exit();
      living = living.filter((other) => other !== process);
    } else {
      watch.around(process, call, () => {
        call.run(process);
        process.seeResult();
      });
    }
  }
  for (const process of living) process.exit();
  watch.ended?.(first);
}

/** Everything that an address space is. */
function stateOf(mm: Mm): unknown {
  const names = [...mm.system.names.alive()].map(([{ id }, refs]) => [id, refs]).sort();
  return { vmas: [...mm.tree.all()], scalars: mm.scalars, names, next: mm.system.names.mark() };
}

/** Marks that a whole mapping gets for one of its pages. */
const WHOLE = unionOf(VM_SOFTDIRTY, VM_MAYBE_GUARD);

/** What a page is to a program, without what its neighbours make of it. */
function pageText(mm: Mm, page: number): string {
  const vma = mm.tree.lookup(vpn(BASE + page));
  if (vma === undefined) return '-';
  const file = vma.file === null ? '' : `${vma.file.id}+${pgoffAt(vma, vpn(BASE + page))}`;
  return `${without(vma.flags, WHOLE)} ${file} ${JSON.stringify(vma.name?.text)}`;
}

function pageTexts(mm: Mm): string[] {
  return Array.from({ length: 32 }, (_, page) => pageText(mm, page));
}

function touches({ ranges }: RandomCall, page: number): boolean {
  return ranges === 'all' || ranges.some(({ start, end }) => start <= page && page < end);
}

describe.each(KERNEL_VERSIONS)('random calls on %s', (version) => {
  it('keep every invariant, and leave pages outside of their range alone', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        play(script, begin(version), {
          around: ({ mm }, call, run) => {
            const before = pageTexts(mm);
            run();
            pageTexts(mm).forEach((after, page) => {
              if (!touches(call, page))
                expect([call.text, page, after]).toEqual([call.text, page, before[page]]);
            });
          },
        });
      }),
      RUNS,
    );
  });

  it('are taken back exactly, and do the same again', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        play(script, begin(version), {
          around: (process, call, run) => {
            const { mm } = process;
            const before = stateOf(mm);
            const mark = mm.begin();
            run();
            const [result, maps] = [process.last, process.maps()];
            mm.rollback(mark);
            expect(stateOf(mm)).toEqual(before);
            run();
            expect([call.text, process.last, process.maps()]).toEqual([call.text, result, maps]);
          },
        });
      }),
      RUNS,
    );
  });

  it('that are refused leave nothing, or what their rule says', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        play(script, begin(version), {
          around: (process, call, run) => {
            const before = process.maps();
            const pages = pageTexts(process.mm);
            run();
            if (process.refusal === undefined) return;
            const left = leftBehind(process, call);
            const about = [call.text, process.last];
            if (left === 'nothing') expect([...about, process.maps()]).toEqual([...about, before]);
            if (left !== 'anything') expect([...about, pageTexts(process.mm)]).toEqual([...about, pages]);
          },
        });
      }),
      RUNS,
    );
  });

  it('never change the text of a name, and free every name in the end', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const texts = new Map<number, string>();
        play(script, begin(version), {
          around: ({ mm }, _, run) => {
            run();
            for (const { id, text } of mm.system.names.alive().keys()) {
              expect([id, texts.get(id) ?? text]).toEqual([id, text]);
              texts.set(id, text);
            }
          },
          ended: ({ world }) => {
            expect([...world.system.names.alive()]).toEqual([]);
          },
        });
      }),
      RUNS,
    );
  });

  it('fork: the child has the objects of its parent and no others', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        play(script, begin(version), {
          around: (_process, _call, run) => run(),
          forked: (parent, child) => {
            const objects = new Set(parent.mm.tree.all().map(({ name }) => name));
            for (const { start, name } of child.mm.tree.all()) {
              expect(objects).toContain(name);
              expect(name).toBe(parent.mm.tree.lookup(start)?.name);
            }
          },
        });
      }),
      RUNS,
    );
  });
});

/** What a refused call may leave: nothing, borders only, or anything (calls that go on until they fail). */
function leftBehind(
  { last, world }: Scenario,
  { text, kind }: RandomCall,
): 'nothing' | 'borders' | 'anything' {
  const name = text.slice(0, text.indexOf('('));
  const { sealCheck, mremapMovesManyVmas } = world.system.rules;
  // Wrong arguments, and a seal found by walking the range first.
  if (last === 'EPERM' && sealCheck === 'pre-pass') return 'nothing';
  if (kind === 'seal') return 'nothing';
  switch (name) {
    case 'munmap':
    case 'nr':
    case 'a':
    case 'shared':
    case 'file':
    case 'fileShared':
    case 'growsDown':
    case 'shmat':
      return last === 'EPERM' ? 'borders' : 'nothing';
    case 'hint':
    case 'shmdt':
      return 'nothing';
    case 'grow':
    case 'stay':
      return last === 'EPERM' ? 'borders' : 'nothing';
    case 'move':
    case 'dontunmap':
      // Until 6.16 the destination is gone by the time that private memory cannot be duplicated (an old length of 0).
      if (last === 'EINVAL' && !mremapMovesManyVmas && !/^move\(\d+, 0,/.test(text)) return 'nothing';
      return 'anything';
    case 'name':
      return last === 'EINVAL' ? 'nothing' : 'anything';
    default:
      return 'anything';
  }
}

describe('seals', () => {
  it('where a call meets none, it does the same whether they are looked for first or on the way', () => {
    fc.assert(
      fc.property(scripts, fc.constantFrom(...KERNEL_VERSIONS), (script, version) => {
        const kernels = [
          begin(version, { sealCheck: 'pre-pass' }),
          begin(version, { sealCheck: 'in-loop' }),
        ] as const;
        const others = new Map<Scenario, Scenario>([[kernels[0], kernels[1]]]);
        play(script, kernels[0], {
          around: (process, call, run) => {
            const other = others.get(process);
            if (other === undefined || (call.kind !== 'seal' && meetsSeal(process, call))) return;
            run();
            call.run(other);
            other.seeResult();
            expect([call.text, other.last, other.maps()]).toEqual([call.text, process.last, process.maps()]);
          },
          forked: (parent, child) => {
            const other = others.get(parent)?.fork();
            if (other !== undefined) others.set(child, other);
          },
        });
      }),
      RUNS,
    );
  });

  it('keep their pages mapped and their access as it is, whatever is called', () => {
    fc.assert(
      fc.property(scripts, fc.constantFrom<KernelVersion>('6.12', '6.18', '7.3'), (script, version) => {
        play(script, begin(version), {
          around: ({ mm }, _, run) => {
            const before = sealedPages(mm);
            run();
            const after = new Map(sealedPages(mm));
            for (const [page, access] of before) expect([page, after.get(page)]).toEqual([page, access]);
          },
        });
      }),
      RUNS,
    );
  });
});

function meetsSeal({ mm }: Scenario, call: RandomCall): boolean {
  return mm.tree.all().some((vma) => {
    if (!isSealed(vma)) return false;
    for (let page = vma.start - BASE; page < vma.end - BASE; page++) if (touches(call, page)) return true;
    return false;
  });
}

/** Pages of seals with their permissions and what is behind them. */
function sealedPages(mm: Mm): [number, string][] {
  return mm.tree.all().flatMap((vma) => {
    if (!isSealed(vma)) return [];
    const pages = Array.from({ length: vma.end - vma.start }, (_, index) => vpn(vma.start + index));
    return pages.map((page): [number, string] => [
      page,
      `${vma.flags % 16} ${vma.file === null ? 'anonymous' : `${vma.file.id}+${pgoffAt(vma, page)}`}`,
    ]);
  });
}
