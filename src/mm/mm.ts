import { assert } from '../base/assert';
import type { U64, Vpn } from './addr';
import { TASK_SIZE_PAGES, VPN_END } from './addr';
import type { AnonVmaName, AnonVmaNames } from './anon_vma_name';
import type { KernelFeature, KernelRules } from './kernel_rules';
import type { Overcommit, ProcessLimits } from './process_limits';
import { UNKNOWN_PKEYS, type PkeyState } from './pkey_state';
import { withoutPages, type PageRanges } from './page_ranges';
import { overlaps, type Vma } from './vma';
import { VmaTree } from './vma_tree';
import { VM_NONE, type VmFlags } from './vm_flags';

/** What all address spaces of one simulation share. */
export interface MmSystem {
  readonly rules: KernelRules;
  readonly features: ReadonlySet<KernelFeature>;
  readonly names: AnonVmaNames;
  readonly ids: { anonVma: number; file: number; mm: number };
  /** F_SEAL_* bits of memfds by the id of their open file. */
  readonly memfdSeals: Map<number, number>;
  /** Userfaultfds that somebody has open, by the id of their file. */
  readonly userfaultfds: Map<number, UserfaultfdCtx>;
  /** vm.max_map_count. */
  readonly maxMapCount: number;
  /** vm.overcommit_memory, and pages of memory and swap; undefined where nothing told. */
  readonly overcommit: Overcommit;
  readonly commitPages: number | undefined;
  /** Has the trace shown a pkey_alloc or pkey_free? Without them it may hold memory calls only. */
  readonly pkeys: { traced: boolean };
  /** Seal checks: VMAs that each policy visits, counted whichever is in force. */
  readonly sealVisits: { prePass: number; inLoop: number };
}

/**
 * What a call can depend on unseen: writes to memory (`access`), CAP_IPC_LOCK (`capability`), or which file system a file
 * is on (`filesystem`).
 */
export type Unseen = 'access' | 'capability' | 'filesystem' | 'pkey';

/**
 * `struct userfaultfd_ctx`: what a descriptor of userfaultfd(2) stands for. It works on the memory of the process that
 * opened it, whoever uses the descriptor later.
 */
export interface UserfaultfdCtx {
  /** What the memory it watches has as `uffd`: the id of its open file. */
  readonly id: number;
  readonly mm: Mm;
  /** UFFDIO_API was done; before, every other request is EINVAL. undefined where its opening was not seen. */
  readonly initialized: boolean | undefined;
  readonly features: UffdFeatures;
  /** What UFFDIO_API said that the kernel can do; undefined until it did. */
  readonly offers: UffdOffers | undefined;
  /** `awaited`: made by a fork; whoever reads the event of it gets a descriptor that the trace has not shown yet. */
  readonly descriptor: 'known' | 'awaited';
}

/** What UFFDIO_API asked for, as far as it decides about memory. */
export interface UffdFeatures {
  /** Children are watched too, by contexts of their own. */
  readonly eventFork: boolean;
  /** Memory stays watched when it moves. */
  readonly eventRemap: boolean;
  /** Write protection alone may watch any kind of memory. */
  readonly wpAsync: boolean;
}

/** Modes that a processor, or the way the kernel was built, may be without. */
export interface UffdOffers {
  readonly wp: boolean;
  readonly wpShmem: boolean;
  readonly minorShmem: boolean;
}

/** One replacement in an address space: `removed` were adjacent in the list and gave way to `inserted`. */
export interface VmaChange {
  readonly removed: readonly Vma[];
  readonly inserted: readonly Vma[];
}

/** Fields of mm_struct besides the VMAs that calls change. */
export interface MmScalars {
  /** Start and current end of the heap in bytes; null until the trace or a snapshot tells. */
  readonly startBrk: U64 | null;
  readonly brk: U64 | null;
  /** The heap was seen to be executable: user-mode kernels, READ_IMPLIES_EXEC. */
  readonly heapExecutable: boolean;
  /** The page of the stack pointer at exec. */
  readonly startStack: Vpn | null;
  /** Flags that every new mapping gets (mlockall(MCL_FUTURE)). */
  readonly defFlags: VmFlags;
  /** PR_SET_MEMORY_MERGE and PR_SET_MDWE. */
  readonly ksmAny: boolean;
  readonly mdwe: boolean;
  /** PR_MDWE_NO_INHERIT: what a process forks has no PR_SET_MDWE. */
  readonly mdweOwn: boolean;
  /** Pages with guard markers (MADV_GUARD_INSTALL): any access faults. */
  readonly guards: PageRanges;
  readonly pkeys: PkeyState;
  /** The whole map is known: what is not in it does not exist. False: it may exist unseen. */
  readonly complete: boolean;
}

const NEW_MM: MmScalars = {
  startBrk: null,
  brk: null,
  heapExecutable: false,
  startStack: null,
  defFlags: VM_NONE,
  ksmAny: false,
  mdwe: false,
  mdweOwn: false,
  guards: [],
  pkeys: UNKNOWN_PKEYS,
  complete: false,
};

/** `struct mm_struct`: an address space. */
export class Mm {
  readonly id: number;
  readonly tree: VmaTree;
  /** Replacements since {@link takeChanges}, oldest first. */
  private journal: VmaChange[] = [];
  scalars: MmScalars;
  /** Limits of the process whose call is made; who calls sets them. */
  limits: ProcessLimits = {};
  private readonly decided = new Set<Unseen>();
  /** Counts replacements, so that one who compared can tell whether anything has changed since. */
  version = 0;
  /** Nobody uses it any more. */
  dead = false;

  constructor(
    readonly system: MmSystem,
    vmas: readonly Vma[] = [],
    scalars: MmScalars = NEW_MM,
  ) {
    this.id = system.ids.mm++;
    this.tree = new VmaTree();
    this.scalars = scalars;
    this.replace(0, 0, vmas);
  }

  get rules(): KernelRules {
    return this.system.rules;
  }

  get mapCount(): number {
    return this.tree.count;
  }

  has(feature: KernelFeature): boolean {
    return this.system.features.has(feature);
  }

  /**
   * The only function that changes the tree: VMAs `index`..`index + removed` give way to `inserted`. A name
   * reference belongs to one VMA, so taking and dropping references happens here and nowhere else.
   */
  replace(index: number, removed: number, inserted: readonly Vma[]): void {
    if (removed === 0 && inserted.length === 0) return;
    this.assertFits(index, removed, inserted);
    const names = this.system.names;
    for (const vma of inserted) if (vma.name !== null) names.get(vma.name);
    this.version++;
    const gone = this.tree.splice(index, removed, inserted);
    for (const vma of gone) if (vma.name !== null) names.put(vma.name);
    this.journal.push({ removed: gone, inserted });
    if (this.scalars.guards.length > 0) this.dropGuards(gone, inserted);
  }

  /** Marks the start of a call, which {@link rollback} can take back. */
  begin(): MmMark {
    return { scalars: this.scalars, names: this.system.names.mark(), changes: this.journal.length };
  }

  /** Says that what the current call does depends on something that nothing has shown. */
  noteDecides(what: Unseen): void {
    this.decided.add(what);
  }

  /** Did anything since the last call of this depend on it? */
  takeDecided(what: Unseen): boolean {
    return this.decided.delete(what);
  }

  /** What was replaced since `mark`. */
  changesSince(mark: MmMark): readonly VmaChange[] {
    return this.journal.slice(mark.changes);
  }

  /** What was replaced since the last call of this, for whoever keeps the history. */
  takeChanges(): readonly VmaChange[] {
    const changes = this.journal;
    this.journal = [];
    return changes;
  }

  /** Takes back everything since `mark`. */
  rollback(mark: MmMark): void {
    for (const change of this.journal.slice(mark.changes).reverse()) {
      const first = change.inserted[0] ?? change.removed[0];
      assert(first !== undefined, 'a change replaces something');
      this.replace(this.tree.find(first.start), change.inserted.length, change.removed);
    }
    this.journal.length = mark.changes;
    this.scalars = mark.scalars;
    this.system.names.rewind(mark.names);
  }

  /** Drops all VMAs: exec, or the last user's exit. */
  clear(): void {
    this.dead = true;
    this.replace(0, this.tree.count, []);
  }

  /** First VMA that overlaps [start, end). */
  firstIn(start: Vpn, end: Vpn): Vma | undefined {
    const vma = this.tree.at(this.tree.find(start));
    return vma !== undefined && overlaps(vma, start, end) ? vma : undefined;
  }

  /** All VMAs that overlap [start, end), address order. */
  vmasIn(start: Vpn, end: Vpn): Vma[] {
    const found: Vma[] = [];
    for (let index = this.tree.find(start); ; index++) {
      const vma = this.tree.at(index);
      if (vma === undefined || vma.start >= end) return found;
      found.push(vma);
    }
  }

  /** A fresh anon_vma identity. */
  newAnonVma(): number {
    return this.system.ids.anonVma++;
  }

  /** Gives `name` to one more VMA; see AnonVmaNames.reuse. */
  nameForHolder(name: AnonVmaName | null): AnonVmaName | null {
    return name === null ? null : this.system.names.reuse(name);
  }

  /** Markers go with the page tables of what is not mapped any more. */
  private dropGuards(gone: readonly Vma[], inserted: readonly Vma[]): void {
    let lost: PageRanges = gone;
    for (const vma of inserted) lost = withoutPages(lost, vma.start, vma.end);
    let guards = this.scalars.guards;
    for (const range of lost) guards = withoutPages(guards, range.start, range.end);
    if (guards !== this.scalars.guards) this.scalars = { ...this.scalars, guards };
  }

  private assertFits(index: number, removed: number, inserted: readonly Vma[]): void {
    let floor: number = this.tree.at(index - 1)?.end ?? 0;
    for (const vma of inserted) {
      assert(vma.start >= floor && vma.start < vma.end, 'VMAs are ordered, apart and not empty');
      floor = vma.end;
    }
    assert(floor <= VPN_END, 'no VMA reaches past the last address');
    const next = this.tree.at(index + removed);
    assert(next === undefined || floor <= next.start, 'a VMA ends before the next one starts');
  }
}

export interface MmMark {
  readonly scalars: MmScalars;
  readonly names: number;
  readonly changes: number;
}

/** Is [start, start + pages) inside the user address space? */
export function inTaskSize(start: Vpn, pages: number): boolean {
  return pages <= TASK_SIZE_PAGES && start <= TASK_SIZE_PAGES - pages;
}
