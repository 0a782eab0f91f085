import type { KernelVersion, RuleOverrides } from '../mm/kernel_rules';
import type { Overcommit } from '../mm/process_limits';
import type { MapsEntry } from '../procfs/maps_entry';
import type { AnonVmaName } from '../mm/anon_vma_name';
import type { Vma } from '../mm/vma';
import type { Vpn } from '../mm/addr';

/** What a replay needs besides the trace. */
export interface ReplayOptions {
  readonly kernel: KernelVersion;
  /** Features that the traced kernel lacked: `anon-names`, `ksm`, `thp`, `soft-dirty`. */
  readonly without?: readonly string[];
  readonly rules?: RuleOverrides;
  /** vm.max_map_count, less the VMAs that the trace does not show. Without it the kernel's default. */
  readonly maxMapCount?: number;
  /** vm.overcommit_memory; the kernel's default is `guess`. */
  readonly overcommit?: Overcommit;
  /** Pages of memory and swap together: `guess` refuses a request of more. Without it nothing is refused so. */
  readonly commitPages?: number;
  readonly snapshots?: readonly SnapshotInput[];
  /**
   * Recount all references and order after every step (validateMm). Without a word it is done for as long as it costs
   * little: to the end of an ordinary trace, for the beginning of a huge one.
   */
  readonly validate?: boolean;
}

/** The maps or smaps of one process, read by someone at a known place in the trace. */
export interface SnapshotInput {
  /** What a person calls it: normally the file name. */
  readonly label: string;
  readonly pid: number;
  /** It shows the state after everything up to and including this line… */
  readonly line: number;
  /** …or up to a later one until this, where it was read bit by bit while the process went on. */
  readonly untilLine?: number;
  readonly entries: readonly MapsEntry[];
}

/** One life of a pid: pids are reused, so identity is (pid, startLine). */
export interface ProcessLife {
  /** `pid@startLine`, stable. */
  readonly id: string;
  /** Thread-group leader as far as the trace shows. */
  readonly pid: number;
  readonly startLine: number;
  /** Line of its last exit, undefined while it lives at the end of the trace. */
  readonly endLine: number | undefined;
  /** Life that forked it; undefined for a root. */
  readonly parentId: string | undefined;
  readonly childIds: readonly string[];
  /** Base name of the last executed file; that of the parent after a plain fork; '' if unknown. */
  readonly command: string;
  /** Ids of threads (tids other than the leader's) that ran in it. */
  readonly threads: readonly number[];
}

/** One memory call, fork, exec or exit as replayed. Steps are what next and previous move over. */
export interface ReplayStep {
  /** Index in `Replay.steps`. */
  readonly index: number;
  readonly line: number;
  readonly entryLine: number;
  /** The thread that called. */
  readonly pid: number;
  readonly lifeId: string;
  readonly kind: StepKind;
  /** Name of the call (`mprotect`, `prctl`, `clone`…) or `exit`. */
  readonly call: string;
  /** One line of text that a person recognises: the call with sizes and names. */
  readonly title: string;
  /** The same without the name of the call. */
  readonly what: string;
  /** As strace prints it without what follows: `0x7f…`, `0`, `EPERM`, `?`. */
  readonly recorded: string;
  /** The same for what the rules predict; `?` where no rule decides. */
  readonly predicted: string;
  /** Life made by a fork. */
  readonly childId?: string;
  /** What the call did to the map depends on whether memory was written to, which the trace does not show. */
  readonly dependsOnAccess?: true;
  readonly denied?: Denial;
  readonly mismatch?: Mismatch;
}

export type StepKind =
  | 'map'
  | 'unmap'
  | 'protect'
  | 'move'
  | 'advise'
  | 'seal'
  | 'name'
  | 'brk'
  | 'lock'
  | 'fork'
  | 'thread'
  | 'exec'
  | 'exit'
  | 'snapshot';

/** Why a memory call was refused. */
export interface Denial {
  readonly errno: string;
  /** One sentence with the rule in words. */
  readonly reason: string;
  /** The VMA that refused, where one did. */
  readonly vma?: { readonly start: Vpn; readonly end: Vpn; readonly name: string };
  /** Line of the mseal that sealed it, where a seal refused and the trace has it. */
  readonly sealedAtLine?: number;
  /** What the refused call changed all the same, a sentence each; absent where it changed nothing. */
  readonly leftBehind?: readonly string[];
}

/** What the trace lacks, where that can make the difference. */
export type MismatchCode =
  /** Memory that the trace does not show. */
  | 'unseen-memory'
  /** Whether memory had been written to. */
  | 'unseen-fault'
  /** strace made the result up. */
  | 'injected'
  /** No rule can be asked: what the call works on is not shown. */
  | 'unknown-call'
  /** The call has no result: the process died in it, or the log ends. */
  | 'unfinished'
  /** A limit of the process or the system. */
  | 'limit-unknown'
  /** A driver, a file system, a security module or a seccomp filter had a say. */
  | 'driver-or-lsm'
  /** Lines of several threads do not tell who came first. */
  | 'order'
  /** A thread without lines did something. */
  | 'untraced-thread'
  /** A line is missing or damaged. */
  | 'lost-line'
  /** None of these: the rules may be wrong. */
  | 'unexplained';

/** The prediction and the record differ; the replay followed the record. */
export interface Mismatch {
  readonly code: MismatchCode;
  readonly text: string;
}

/** A later snapshot held against the simulation. */
export interface SnapshotCheck {
  readonly label: string;
  readonly pid: number;
  readonly line: number;
  /** `seed` was taken over as the truth; `equal` and `differs` were compared. */
  readonly outcome: 'seed' | 'equal' | 'differs';
  /**
   * No state at one moment equals it, since it was read while the process went on; but each of its mappings was there at
   * some moment of the reading, and what was there all the time is in it.
   */
  readonly inPieces?: true;
  /** VMAs compared (or taken over). */
  readonly vmaCount: number;
  /** First difference: both sides as maps lines, '' where a side has no VMA there. */
  readonly firstDifference?: { readonly replayed: string; readonly snapshot: string; readonly what: string };
  readonly differences: number;
  /** VMAs of which the snapshot told what the trace could not: that their pages had been written to, or stack growth. */
  readonly settled: number;
}

export interface NameHolder {
  readonly lifeId: string;
  readonly pid: number;
  readonly start: Vpn;
  readonly end: Vpn;
}

/** A name object alive at an instant. `refs` always equals `holders.length`. */
export interface NameObject {
  readonly object: AnonVmaName;
  readonly refs: number;
  readonly holders: readonly NameHolder[];
}

/** The world after all steps up to one. Immutable; computing one costs at most a checkpoint's steps. */
export interface Instant {
  /** Step index, -1 before the first. */
  readonly index: number;
  readonly line: number;
  /** Lives that have an address space now, in order of birth. */
  readonly lives: readonly ProcessLife[];
  /** VMAs of a life, address order; empty for one that has ended or not begun. */
  vmas(lifeId: string): readonly Vma[];
  /** The same as /proc/PID/smaps would show it (headers and VmFlags only). */
  entries(lifeId: string): readonly MapsEntry[];
  /** False until a snapshot or the trace itself has told the whole map: what is missing is unknown, not absent. */
  complete(lifeId: string): boolean;
  names(): readonly NameObject[];
}

export interface ForkSharing {
  readonly step: number;
  readonly parentId: string;
  readonly childId: string;
  /** Objects the child holds right after the fork, with its own and all references. */
  readonly shared: readonly {
    readonly object: AnonVmaName;
    readonly childRefs: number;
    readonly refs: number;
  }[];
  /** References taken under `refcount`; allocations and bytes that `copy` (strdup) would have made. */
  readonly cost: { readonly references: number; readonly copies: number; readonly copyBytes: number };
}

/** A trace replayed to its end. */
export interface Replay {
  readonly kernel: KernelVersion;
  readonly steps: readonly ReplayStep[];
  readonly lives: readonly ProcessLife[];
  readonly forks: readonly ForkSharing[];
  readonly checks: readonly SnapshotCheck[];
  /**
   * Seal checks over the whole trace under each policy. A pre-pass walks its VMAs on top of the work that then visits them
   * again; the in-loop check asks VMAs that the work has in hand anyway, so that its number is no extra cost.
   */
  readonly sealCost: { readonly prePassVisits: number; readonly inLoopVisits: number };
  /** The instant after step `index` (-1: before all). */
  at(index: number): Instant;
  /** Index of the last step whose line is <= line; -1 if none. */
  stepAtLine(line: number): number;
}
