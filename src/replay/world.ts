import { assert } from '../base/assert';
import { AnonVmaNames } from '../mm/anon_vma_name';
import { kernelRules, type KernelFeature, type KernelVersion, type RuleOverrides } from '../mm/kernel_rules';
import type { Overcommit, ProcessLimits } from '../mm/process_limits';
import { Mm, type MmSystem } from '../mm/mm';
import { FRESH_PKEYS } from '../mm/pkey_state';
import { dupMm } from '../mm/syscalls/fork';
import { releaseUffd } from '../mm/syscalls/userfaultfd';
import { FileTable } from './file_table';

/** The kernel's default for vm.max_map_count; a trace does not show it. */
const DEFAULT_MAX_MAP_COUNT = 65530;

/** A process while it is replayed. `mm` is null after it has ended. */
export interface Life {
  readonly id: string;
  readonly pid: number;
  readonly startLine: number;
  readonly parent: Life | undefined;
  endLine: number | undefined;
  mm: Mm | null;
  command: string;
  files: FileTable;
  /** RLIMIT_* and what lifts them, as far as the trace tells. A forked child has its parent's, and exec keeps them. */
  limits: ProcessLimits;
  /** Threads alive, by tid; the process ends with its last. */
  readonly tasks: Set<number>;
  /** Tids of all threads it ever had besides the leader. */
  readonly threads: number[];
  readonly children: Life[];
}

/** A SysV segment: its size in bytes as shmget was asked, and the pages of 4 KiB in its pages if these are huge. */
export interface Segment {
  readonly size: number;
  readonly key: string;
  readonly hugePage?: number;
}

/** All processes of a trace at the replay's current point. */
export class World {
  readonly system: MmSystem;
  /** Every life in order of birth, ended ones too. */
  readonly lives: Life[] = [];
  private readonly byTid = new Map<number, Life>();
  private readonly alive = new Set<Life>();
  private readonly users = new Map<Mm, number>();
  /** SysV segments by id. */
  readonly segments = new Map<number, Segment>();
  /** Address spaces that the current step touched, and processes that got or lost theirs. */
  private readonly touched = new Set<Mm>();
  private readonly moved = new Set<Life>();

  constructor(
    readonly kernel: KernelVersion,
    overrides: RuleOverrides,
    features: ReadonlySet<KernelFeature>,
    maxMapCount = DEFAULT_MAX_MAP_COUNT,
    memory: { readonly overcommit?: Overcommit; readonly commitPages?: number } = {},
  ) {
    this.system = {
      rules: kernelRules(kernel, overrides),
      features,
      names: new AnonVmaNames(),
      memfdSeals: new Map(),
      userfaultfds: new Map(),
      ids: { anonVma: 1, file: 1, mm: 1 },
      maxMapCount,
      overcommit: memory.overcommit ?? 'guess',
      commitPages: memory.commitPages,
      pkeys: { traced: false },
      sealVisits: { prePass: 0, inLoop: 0 },
    };
  }

  /** The process a thread belongs to; undefined for one that was never seen. */
  lifeOf(tid: number): Life | undefined {
    return this.byTid.get(tid);
  }

  /** A process that was there before we looked, or whose birth the trace lacks. */
  discover(tid: number, line: number): Life {
    return this.addLife(tid, line, undefined, this.newMm(), '', new FileTable(this.system));
  }

  /**
   * fork, vfork or clone without CLONE_THREAD. With `sharedMm` (CLONE_VM) both use one address space, with `sharedFiles`
   * (CLONE_FILES) one table of descriptors.
   */
  fork(parent: Life, tid: number, line: number, sharedMm: boolean, sharedFiles = false): Life {
    assert(parent.mm !== null, 'a process that forks has an address space');
    const mm = sharedMm ? parent.mm : dupMm(parent.mm);
    this.touch(mm);
    const files = sharedFiles ? parent.files : parent.files.fork();
    const child = this.addLife(tid, line, parent, mm, parent.command, files);
    child.limits = parent.limits;
    parent.children.push(child);
    return child;
  }

  /** A tid is born again: whoever had it before is gone, though the trace lacks its end. */
  endLost(tid: number, line: number): void {
    const old = this.byTid.get(tid);
    if (old === undefined || !old.tasks.has(tid)) return;
    if (tid === old.pid) this.exitGroup(old, line);
    else this.exitThread(old, tid, line);
  }

  addThread(life: Life, tid: number): void {
    life.tasks.add(tid);
    if (tid !== life.pid) life.threads.push(tid);
    this.byTid.set(tid, life);
  }

  /** exec: a new, unknown address space, which keeps what prctl asked for; other threads are gone. */
  exec(life: Life, command: string): void {
    const before = life.mm?.scalars;
    this.release(life);
    const mm = this.newMm();
    if (before !== undefined) {
      mm.scalars = { ...mm.scalars, ksmAny: before.ksmAny, mdwe: before.mdwe && !before.mdweOwn };
    }
    mm.scalars = { ...mm.scalars, pkeys: FRESH_PKEYS };
    life.mm = mm;
    life.files = life.files.afterExec();
    this.moved.add(life);
    this.users.set(mm, 1);
    life.command = command;
    for (const tid of [...life.tasks]) if (tid !== life.pid) this.endTask(life, tid);
    life.tasks.add(life.pid);
    this.byTid.set(life.pid, life);
    this.releaseUnheld();
  }

  /** One thread ends; the process with its last. Returns true if the process ended. */
  exitThread(life: Life, tid: number, line: number): boolean {
    this.endTask(life, tid);
    if (life.tasks.size > 0) return false;
    this.endLife(life, line);
    return true;
  }

  exitGroup(life: Life, line: number): void {
    for (const tid of [...life.tasks]) this.endTask(life, tid);
    this.endLife(life, line);
  }

  /** Descriptors were closed: userfaultfds that nobody holds any more are released. */
  releaseUnheld(): void {
    const { userfaultfds } = this.system;
    for (const ctx of [...userfaultfds.values()]) {
      if (ctx.descriptor === 'awaited' || [...this.alive].some(({ files }) => files.holds(ctx.id))) continue;
      userfaultfds.delete(ctx.id);
      if (ctx.mm.dead) continue;
      this.touch(ctx.mm);
      releaseUffd(ctx);
    }
  }

  /** Address spaces in use. */
  mms(): Iterable<Mm> {
    return this.users.keys();
  }

  touch(mm: Mm): void {
    this.touched.add(mm);
  }

  /** What was touched since the last call, for the timeline. */
  takeTouched(): Mm[] {
    const mms = [...this.touched];
    this.touched.clear();
    return mms;
  }

  /** Processes whose address space is another one than at the last call, with that of now. */
  takeMoved(): (readonly [string, number | null])[] {
    const moved = [...this.moved].map((life) => [life.id, life.mm?.id ?? null] as const);
    this.moved.clear();
    return moved;
  }

  private newMm(): Mm {
    const mm = new Mm(this.system);
    this.touch(mm);
    return mm;
  }

  private addLife(
    tid: number,
    line: number,
    parent: Life | undefined,
    mm: Mm,
    command: string,
    files: FileTable,
  ): Life {
    const life: Life = {
      id: `${tid}@${line}`,
      pid: tid,
      startLine: line,
      parent,
      endLine: undefined,
      mm,
      command,
      files,
      limits: {},
      tasks: new Set([tid]),
      threads: [],
      children: [],
    };
    this.lives.push(life);
    this.alive.add(life);
    this.moved.add(life);
    this.byTid.set(tid, life);
    this.users.set(mm, (this.users.get(mm) ?? 0) + 1);
    return life;
  }

  private endTask(life: Life, tid: number): void {
    life.tasks.delete(tid);
  }

  private endLife(life: Life, line: number): void {
    if (life.mm === null) return;
    life.endLine = line;
    this.release(life);
    this.alive.delete(life);
    this.releaseUnheld();
  }

  /** The address space dies with its last user. */
  private release(life: Life): void {
    const mm = life.mm;
    if (mm === null) return;
    life.mm = null;
    this.moved.add(life);
    const users = (this.users.get(mm) ?? 1) - 1;
    if (users > 0) {
      this.users.set(mm, users);
      return;
    }
    this.users.delete(mm);
    this.touch(mm);
    mm.clear();
  }
}
