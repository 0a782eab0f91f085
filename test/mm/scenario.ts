import { assert } from '../../src/base/assert';
import { bytesOfVpn, vpn, vpnOf, type U64, type Vpn } from '../../src/mm/addr';
import { anonVmaPrepare } from '../../src/mm/fault';
import {
  KERNEL_FEATURES,
  type KernelFeature,
  type KernelVersion,
  type RuleOverrides,
} from '../../src/mm/kernel_rules';
import type { Overcommit, ProcessLimits } from '../../src/mm/process_limits';
import type { Mm } from '../../src/mm/mm';
import { DONE, type Prediction, type Refusal } from '../../src/mm/refusal';
import {
  MAP_ANONYMOUS,
  MAP_FIXED,
  MAP_NORESERVE,
  MAP_PRIVATE,
  MAP_SHARED,
  PROT_EXEC,
  PROT_READ,
  PROT_WRITE,
} from '../../src/mm/syscalls/mmap';
import { MREMAP_DONTUNMAP, MREMAP_FIXED, MREMAP_MAYMOVE } from '../../src/mm/syscalls/mremap';
import { expandStack } from '../../src/mm/stack_growth';
import { validateMm } from '../../src/mm/validate_mm';
import type { Vma } from '../../src/mm/vma';
import { setVma } from '../../src/mm/vma_modify';
import {
  hasAny,
  intersect,
  union,
  unionOf,
  VM_EXEC,
  VM_MAYEXEC,
  VM_MAYREAD,
  VM_MAYWRITE,
  VM_NONE,
  VM_READ,
  VM_SHARED,
  VM_SOFTDIRTY,
  VM_WRITE,
  without,
} from '../../src/mm/vm_flags';
import { dispatch } from '../../src/replay/dispatch';
import { entryOfVma, mnemonicsOf } from '../../src/replay/maps_view';
import { World, type Life } from '../../src/replay/world';
import type { NameArg, Syscall } from '../../src/trace/event';

/**
 * A small language for tests of the simulation. Pages count from a base; calls chain; what came of them reads
 *
 *     ENOMEM [0-2 r ac][3-4 rw ac lo "name"]
 *
 * permissions first, then the flags that smaps would print in the order of that kernel, but for mr mw me (a missing
 * one shows as `!mw`) and sd. A file shows as PATH+OFFSET, an offset that is a page of the arena as PATH@PAGE.
 */

/** Page of the arena's page 0. */
export const BASE = 0x1000000;

/** As PROT_* or as letters. */
export type Prot = 'none' | 'r' | 'w' | 'x' | 'rw' | 'rx' | 'wx' | 'rwx';

const SILENT = ['rd', 'wr', 'ex', 'mr', 'mw', 'me', 'sd'];

function protOf(prot: Prot): number {
  return (
    (prot.includes('r') ? PROT_READ : 0) |
    (prot.includes('w') ? PROT_WRITE : 0) |
    (prot.includes('x') ? PROT_EXEC : 0)
  );
}

/** Byte address of a page of the arena. */
export function at(page: number): U64 {
  return bytesOfVpn(BASE + page);
}

/** Length of pages in bytes. */
function bytes(pages: number): U64 {
  return bytesOfVpn(pages);
}

export interface ScenarioOptions {
  /** Features the kernel lacks. */
  readonly lacks?: readonly KernelFeature[];
  readonly rules?: RuleOverrides;
}

/** A kernel with one process whose arena is empty. */
export function scenario(version: KernelVersion, { lacks = [], rules = {} }: ScenarioOptions = {}): Scenario {
  const features = new Set(KERNEL_FEATURES.filter((feature) => !lacks.includes(feature)));
  const world = new World(version, rules, features);
  return new Scenario(world, world.discover(1, 1));
}

/** One call as it was made: the value that it returned, or why it was refused. */
export interface MadeCall {
  readonly pid: number;
  readonly call: Syscall;
  readonly prediction: Prediction;
}

/** One process of a simulated kernel, and what happened to it. */
export class Scenario {
  /** Result of the last call: an errno, `?` for an address that the kernel chooses, else its value. */
  last = '0';
  /** Of the last call, where it was refused. */
  refusal: Refusal | undefined;
  private unseen = false;
  private readonly noted: string[] = [];

  constructor(
    readonly world: World,
    readonly life: Life,
    /** All calls of all processes of this kernel, in order. */
    readonly made: MadeCall[] = [],
  ) {}

  get mm(): Mm {
    assert(this.life.mm !== null, 'the process lives');
    return this.life.mm;
  }

  // Memory

  /** Private anonymous memory at a fixed place, without reservation: commit accounting (`ac`) stays out of the way. */
  nr(page: number, pages: number, prot: Prot = 'rw', more = 0): this {
    return this.map(page, pages, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | more);
  }

  /** Private anonymous memory at a fixed place. */
  a(page: number, pages: number, prot: Prot = 'rw', more = 0): this {
    return this.map(page, pages, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | more);
  }

  /** Shared anonymous memory at a fixed place. */
  shared(page: number, pages: number, prot: Prot = 'rw'): this {
    return this.map(page, pages, prot, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);
  }

  /** A file at a fixed place; `offset` in pages. */
  file(page: number, pages: number, prot: Prot, fd: number, offset: number, type = MAP_PRIVATE): this {
    return this.map(page, pages, prot, type | MAP_FIXED, { fd, offset });
  }

  /** mmap as it stands. `placed`: the page that the kernel chose. */
  map(
    page: number,
    pages: number,
    prot: Prot,
    flags: number,
    { fd = -1, offset = 0, placed }: { fd?: number; offset?: number; placed?: number } = {},
  ): this {
    return this.call(
      {
        name: 'mmap',
        addr: at(page),
        length: bytes(pages),
        prot: protOf(prot),
        flags,
        fd: { fd },
        offset: bytes(offset),
      },
      placed,
    );
  }

  munmap(page: number, pages: number): this {
    return this.call({ name: 'munmap', addr: at(page), length: bytes(pages) });
  }

  mprotect(page: number, pages: number, prot: Prot, more = 0): this {
    return this.call({ name: 'mprotect', addr: at(page), length: bytes(pages), prot: protOf(prot) | more });
  }

  /** mremap to where the kernel likes; `placed` is the page it chose. */
  grow(page: number, oldPages: number, newPages: number, flags = MREMAP_MAYMOVE, placed?: number): this {
    return this.call(
      {
        name: 'mremap',
        oldAddr: at(page),
        oldLength: bytes(oldPages),
        newLength: bytes(newPages),
        flags,
        newAddr: undefined,
      },
      placed,
    );
  }

  /** mremap(MREMAP_FIXED) from page to page. */
  move(page: number, oldPages: number, newPages: number, to: number, more = 0): this {
    return this.call({
      name: 'mremap',
      oldAddr: at(page),
      oldLength: bytes(oldPages),
      newLength: bytes(newPages),
      flags: MREMAP_MAYMOVE | MREMAP_FIXED | more,
      newAddr: at(to),
    });
  }

  /** mremap(MREMAP_FIXED|MREMAP_DONTUNMAP) */
  dontunmap(page: number, pages: number, to: number): this {
    return this.move(page, pages, pages, to, MREMAP_DONTUNMAP);
  }

  madvise(page: number, pages: number, advice: number): this {
    return this.call({ name: 'madvise', addr: at(page), length: bytes(pages), advice });
  }

  /** mbind; null is the default policy. */
  mbind(page: number, pages: number, mode: number | null, nodes = 1n, flags = 0): this {
    const policy = mode === null ? { mode: 0, nodes: 0n } : { mode, nodes };
    return this.call({ name: 'mbind', addr: at(page), length: bytes(pages), ...policy, flags });
  }

  homeNode(page: number, pages: number, node: number, flags = 0): this {
    return this.call({ name: 'set_mempolicy_home_node', addr: at(page), length: bytes(pages), node, flags });
  }

  mseal(page: number, pages: number): this {
    return this.call({ name: 'mseal', addr: at(page), length: bytes(pages), flags: 0 });
  }

  /** PR_SET_VMA_ANON_NAME; null takes the name away. */
  name(page: number, pages: number, text: string | null): this {
    const vmaName: NameArg = text === null ? { kind: 'null' } : { kind: 'text', text, truncated: false };
    return this.call({ name: 'prctl_set_vma', option: 0, addr: at(page), length: bytes(pages), vmaName });
  }

  mlock(page: number, pages: number): this {
    return this.call({ name: 'mlock', addr: at(page), length: bytes(pages) });
  }

  mlock2(page: number, pages: number, flags: number): this {
    return this.call({ name: 'mlock2', addr: at(page), length: bytes(pages), flags });
  }

  munlock(page: number, pages: number): this {
    return this.call({ name: 'munlock', addr: at(page), length: bytes(pages) });
  }

  mlockall(flags: number): this {
    return this.call({ name: 'mlockall', flags });
  }

  /** The break goes to the start of `page`. */
  brk(page: number): this {
    return this.call({ name: 'brk', addr: at(page) });
  }

  /** Attaches a new SysV segment of `pages`. */
  shmat(page: number, pages: number, flags = 0): this {
    const id = this.world.segments.size;
    this.world.segments.set(id, { size: pages * 4096, key: '00000000' });
    return this.call({ name: 'shmat', id, addr: at(page), flags });
  }

  shmdt(page: number): this {
    return this.call({ name: 'shmdt', addr: at(page) });
  }

  /** Any call. `placed` is the page that the kernel chose. */
  call(call: Syscall, placed?: number): this {
    assert(!this.unseen, `a refused call (${this.last}) must be looked at before the next one`);
    const where = placed === undefined ? undefined : at(placed);
    const prediction = dispatch(this.world, this.life, this.mm, call, where, { line: 1, pid: this.life.pid });
    assert(prediction !== undefined, 'the call is modelled');
    this.last = resultText(prediction);
    this.refusal = prediction.ok ? undefined : prediction.error;
    this.unseen = !prediction.ok;
    this.made.push({ pid: this.life.pid, call, prediction });
    this.validate();
    return this;
  }

  // What calls do not do

  /** Page faults by writing. */
  write(...pages: readonly number[]): this {
    for (const page of pages) {
      const vma = this.mm.tree.lookup(pageOf(page));
      assert(vma !== undefined && hasAny(vma.flags, VM_WRITE), 'a write needs writable memory');
      if (!hasAny(vma.flags, VM_SHARED)) anonVmaPrepare(this.mm, this.mm.tree.find(pageOf(page)));
    }
    this.validate();
    return this;
  }

  /** A write at `page`, which may be below memory that grows down: `ok` or SIGSEGV is noted. */
  fault(page: number): this {
    this.mm.limits = this.life.limits;
    const grown = expandStack(this.mm, pageOf(page));
    const vma = this.mm.tree.lookup(pageOf(page));
    const allowed = grown.ok && vma !== undefined && hasAny(vma.flags, VM_WRITE);
    if (allowed) this.write(page);
    this.last = allowed ? '0' : 'SIGSEGV';
    this.refusal = grown.ok ? undefined : { ...grown.error };
    this.validate();
    return this;
  }

  /** Limits of this process. */
  limits(limits: ProcessLimits): this {
    this.life.limits = { ...this.life.limits, ...limits };
    return this;
  }

  /** vm.overcommit_memory, and how many pages of memory and swap there are. */
  memory(overcommit: Overcommit, commitPages?: number): this {
    Object.assign(this.world.system, { overcommit, commitPages });
    return this;
  }

  /** What writing 4 to /proc/PID/clear_refs does to the flags. */
  clearSoftDirty(): this {
    this.mm.tree.all().forEach((vma, index) => {
      setVma(this.mm, index, { flags: without(vma.flags, VM_SOFTDIRTY) });
    });
    return this;
  }

  /** PR_SET_MEMORY_MERGE: every new private map is for KSM. */
  memoryMerge(): this {
    this.mm.scalars = { ...this.mm.scalars, ksmAny: true };
    return this;
  }

  /** PR_SET_MDWE: nothing may be writable and executable. */
  denyWriteExec(): this {
    this.mm.scalars = { ...this.mm.scalars, mdwe: true };
    return this;
  }

  /** An empty heap that starts at `page`. */
  heapAt(page: number): this {
    this.mm.scalars = { ...this.mm.scalars, startBrk: at(page), brk: at(page) };
    return this;
  }

  /** A mapping that the kernel makes at exec. */
  special(page: number, pages: number, name: string): this {
    const start = pageOf(page);
    const flags = unionOf(VM_READ, VM_EXEC, VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC);
    const vma: Vma = {
      start,
      end: pageOf(page + pages),
      flags,
      pgoff: 0,
      anonPgoff: start,
      file: null,
      special: name,
      name: null,
      anonVma: 0,
      forkChild: false,
      uffd: null,
      policy: null,
      inferred: false,
      untouched: 'sure',
    };
    this.mm.replace(this.mm.tree.find(start), 0, [vma]);
    return this;
  }

  /** Opens a file; a second open of the same path is another file. */
  open(fd: number, path: string, writable = true, deleted = false): this {
    this.life.files.open(fd, path, writable, deleted);
    return this;
  }

  /** vm.max_map_count of this kernel. */
  limit(count: number): this {
    Object.assign(this.world.system, { maxMapCount: count });
    return this;
  }

  fork(): Scenario {
    const pid = this.world.lives.length + 1;
    const child = new Scenario(this.world, this.world.fork(this.life, pid, pid, false), this.made);
    this.made.push({
      pid: this.life.pid,
      call: { name: 'clone', via: 'fork', flags: 0 },
      prediction: { ok: true, value: pid },
    });
    this.validate();
    return child;
  }

  exit(): this {
    this.made.push({ pid: this.life.pid, call: { name: 'exit', group: true }, prediction: DONE });
    this.world.exitGroup(this.life, 99);
    this.validate();
    return this;
  }

  // What came of it

  /** Notes the result and the maps as they are now; {@link text} begins with what was noted. */
  see(): this {
    this.noted.push(this.now());
    this.unseen = false;
    return this;
  }

  /** Notes the result of the last call alone. */
  seeResult(): this {
    this.noted.push(this.last);
    this.unseen = false;
    return this;
  }

  /** All that was noted and the present, separated by ` ; `. */
  text(): string {
    return [...this.noted, this.now()].join(' ; ');
  }

  /** What was noted, without the present. */
  log(): string {
    return this.noted.join(' ; ');
  }

  /** The errno of the last call if it was refused, then the maps. */
  now(): string {
    return this.refusal === undefined ? this.maps() : `${this.last} ${this.maps()}`;
  }

  /** VMAs as text. `extra` says more of each. */
  maps(extra?: (vma: Vma, mm: Mm) => string): string {
    const { mm } = this;
    return mm.tree
      .all()
      .map((vma) => {
        const more = extra?.(vma, mm) ?? '';
        return `[${vmaText(mm, vma)}${more === '' ? '' : ` ${more}`}]`;
      })
      .join('');
  }

  /** VMAs by the label that /proc/PID/maps gives them. */
  labels(): string {
    const { mm } = this;
    return mm.tree
      .all()
      .map((vma) => `[${pagesText(vma)} ${entryOfVma(vma, mm.scalars, mm.rules).path}]`)
      .join('');
  }

  private validate(): void {
    validateMm(this.world.mms(), this.world.system.names);
  }
}

/** For {@link Scenario.maps}: says `sd` where a VMA is soft-dirty. */
export function softDirty(vma: Vma): string {
  return hasAny(vma.flags, VM_SOFTDIRTY) ? 'sd' : '';
}

function pageOf(page: number): Vpn {
  return vpn(BASE + page);
}

function resultText(prediction: Prediction): string {
  if (!prediction.ok) return prediction.error.errno;
  if (prediction.value === 'anywhere' || prediction.value === 'pages-decide') return '?';
  const page = vpnOf(prediction.value) - BASE;
  return page >= 0 ? `@${page}` : String(prediction.value);
}

function pagesText(vma: Vma): string {
  return `${vma.start - BASE}-${vma.end - BASE}`;
}

function vmaText(mm: Mm, vma: Vma): string {
  const access = intersect(vma.flags, unionOf(VM_READ, VM_WRITE, VM_EXEC));
  const letters =
    (hasAny(access, VM_READ) ? 'r' : '') +
    (hasAny(access, VM_WRITE) ? 'w' : '') +
    (hasAny(access, VM_EXEC) ? 'x' : '');
  const may = without(unionOf(VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC), vma.flags);
  return [
    pagesText(vma),
    letters === '' ? 'none' : letters,
    ...mnemonicsOf(vma.flags, mm.rules).filter((mnemonic) => !SILENT.includes(mnemonic)),
    ...mnemonicsOf(union(may, VM_NONE), mm.rules).map((mnemonic) => `!${mnemonic}`),
    ...(vma.file === null ? [] : [`${vma.file.path}${offsetText(vma.pgoff)}`]),
    ...(vma.special === null ? [] : [vma.special]),
    ...(vma.name === null ? [] : [`"${vma.name.text}"`]),
  ].join(' ');
}

function offsetText(pgoff: number): string {
  return pgoff >= BASE ? `@${pgoff - BASE}` : `+${pgoff}`;
}
