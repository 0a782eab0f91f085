import type { U64 } from '../mm/addr';
import type { ParseProblem } from '../base/parse_problem';

/**
 * What every importer turns captured text into. An event is one thing that the capture says happened, with
 * arguments as printed: no event is dropped because it failed, and nothing is filled in that was not there.
 */
export type TraceEvent = SyscallEvent | SignalEvent | ExitEvent | SupersededEvent;

interface EventBase {
  /**
   * 1-based line at which the event was complete: for a split call the line of its result. A call that the
   * capture never completes has its first line here, and an unknown result.
   */
  readonly line: number;
  /** Thread id as the capture names it (the kernel's tid in the tracer's namespace). */
  readonly pid: number;
  /**
   * Time as printed, undefined without one. For a split call that of its first line. A relative one (-r and
   * no absolute time) begins with `+`.
   */
  readonly time?: string;
}

export interface SyscallEvent extends EventBase {
  readonly kind: 'syscall';
  /** 1-based line where the call began; differs from `line` for a split call. */
  readonly entryLine: number;
  readonly call: Syscall;
  readonly result: SyscallResult;
  /** Seconds spent in the call as printed by -T, undefined without it. */
  readonly duration?: string;
  /** Thread that began the call, where the capture completes it under another number: execve by a thread. */
  readonly entryPid?: number;
}

/** A signal that a thread received, with the fault address where there is one. */
export interface SignalEvent extends EventBase {
  readonly kind: 'signal';
  readonly signal: string;
  readonly faultAddr?: U64;
  /** si_code as printed, e.g. SEGV_ACCERR. */
  readonly code?: string;
}

/** `+++ exited with N +++`, `+++ killed by SIG +++` */
export interface ExitEvent extends EventBase {
  readonly kind: 'exit';
  readonly how: string;
}

/** `+++ superseded by execve in pid N +++`: the leader's number goes on in the thread that called execve. */
export interface SupersededEvent extends EventBase {
  readonly kind: 'superseded';
  readonly by: number;
}

export type SyscallResult =
  /** Success; `value` as printed. */
  | { readonly kind: 'value'; readonly value: U64; readonly injected: boolean }
  /** `-1 ENAME (…)`; an error printed only by number keeps `errno` as that number in text. */
  | { readonly kind: 'errno'; readonly errno: string; readonly injected: boolean }
  /** `?`, `? ERESTARTSYS …`, a call cut off by the end of the log, detached: effect unknown. */
  | { readonly kind: 'unknown'; readonly text: string };

/** A file descriptor argument. `path` (text, see base/bytes) and the rest only with -y. */
export interface FdArg {
  readonly fd: number;
  readonly path?: string;
  readonly deleted?: boolean;
  /** Text of a device note (`char 1:5`) with -yy. */
  readonly device?: string;
}

/** The name argument of PR_SET_VMA_ANON_NAME. */
export type NameArg =
  /** NULL: the call takes the name away. */
  | { readonly kind: 'null' }
  /** `text` is a prefix only when `truncated` (a small -s). */
  | { readonly kind: 'text'; readonly text: string; readonly truncated: boolean }
  /**
   * The capture has the pointer only: names at different pointers are taken as different. `unreadable` where it prints
   * texts, and none could be read there.
   */
  | { readonly kind: 'pointer'; readonly pointer: U64; readonly unreadable?: true };

/** Arguments in bytes, flags as numbers with unknown bits kept. Names are those of the kernel's prototypes. */
export type Syscall =
  | {
      readonly name: 'mmap';
      readonly addr: U64;
      readonly length: U64;
      readonly prot: number;
      readonly flags: number;
      readonly fd: FdArg;
      readonly offset: U64;
    }
  | { readonly name: 'munmap'; readonly addr: U64; readonly length: U64 }
  | { readonly name: 'mprotect'; readonly addr: U64; readonly length: U64; readonly prot: number }
  | {
      readonly name: 'pkey_mprotect';
      readonly addr: U64;
      readonly length: U64;
      readonly prot: number;
      readonly pkey: number;
    }
  | {
      readonly name: 'mremap';
      readonly oldAddr: U64;
      readonly oldLength: U64;
      readonly newLength: U64;
      readonly flags: number;
      readonly newAddr: U64 | undefined;
    }
  | { readonly name: 'madvise'; readonly addr: U64; readonly length: U64; readonly advice: number }
  | {
      readonly name: 'process_madvise';
      readonly pidfd: FdArg;
      readonly ranges: readonly { readonly addr: U64; readonly length: U64 }[];
      readonly advice: number;
      readonly flags: number;
    }
  | { readonly name: 'mseal'; readonly addr: U64; readonly length: U64; readonly flags: U64 }
  | {
      readonly name: 'prctl_set_vma';
      readonly option: U64;
      readonly addr: U64;
      readonly length: U64;
      readonly vmaName: NameArg;
    }
  /** Any other prctl: `option` and the arguments after it as printed. */
  | { readonly name: 'prctl'; readonly option: string; readonly args: readonly string[] }
  | { readonly name: 'brk'; readonly addr: U64 }
  /** `mode`: MPOL_* with MPOL_F_* in one number; `nodes`: one bit a node. */
  | {
      readonly name: 'mbind';
      readonly addr: U64;
      readonly length: U64;
      readonly mode: number;
      readonly nodes: bigint;
      readonly flags: number;
    }
  | {
      readonly name: 'set_mempolicy_home_node';
      readonly addr: U64;
      readonly length: U64;
      readonly node: number;
      readonly flags: U64;
    }
  | { readonly name: 'mlock'; readonly addr: U64; readonly length: U64 }
  | { readonly name: 'mlock2'; readonly addr: U64; readonly length: U64; readonly flags: number }
  | { readonly name: 'munlock'; readonly addr: U64; readonly length: U64 }
  | { readonly name: 'mlockall'; readonly flags: number }
  | { readonly name: 'munlockall' }
  | { readonly name: 'shmget'; readonly key: string; readonly size: U64; readonly flags: string }
  | { readonly name: 'shmat'; readonly id: number; readonly addr: U64; readonly flags: number }
  | { readonly name: 'shmdt'; readonly addr: U64 }
  | {
      readonly name: 'remap_file_pages';
      readonly addr: U64;
      readonly size: U64;
      readonly prot: number;
      readonly pgoff: U64;
      readonly flags: number;
    }
  /** fork, vfork, clone and clone3; `flags` are the CLONE_* bits (fork 0, vfork CLONE_VM|CLONE_VFORK), undefined where the capture hides them. */
  | {
      readonly name: 'clone';
      readonly via: 'fork' | 'vfork' | 'clone' | 'clone3';
      readonly flags: number | undefined;
      readonly childInTracerNs?: number;
    }
  | { readonly name: 'execve'; readonly path: string | undefined }
  /** exit ends a thread, exit_group all threads. */
  | { readonly name: 'exit'; readonly group: boolean }
  /** open, openat, openat2 and creat. `resolved` is the path that -y prints at the result. */
  | { readonly name: 'openat'; readonly path: string; readonly flags: string; readonly resolved?: string }
  | { readonly name: 'close'; readonly fd: FdArg }
  | { readonly name: 'personality'; readonly persona: U64 }
  /** ioctl(UFFDIO_API): UFFD_FEATURE_* bits that were asked for and, where it succeeded, those that the kernel has. */
  | {
      readonly name: 'uffd_api';
      readonly fd: FdArg;
      readonly features: number;
      readonly offered: number | undefined;
    }
  /** ioctl(UFFDIO_REGISTER); `mode`: UFFDIO_REGISTER_MODE_* bits. */
  | {
      readonly name: 'uffd_register';
      readonly fd: FdArg;
      readonly addr: U64;
      readonly length: U64;
      readonly mode: number;
    }
  | { readonly name: 'uffd_unregister'; readonly fd: FdArg; readonly addr: U64; readonly length: U64 }
  /** ioctl(UFFDIO_COPY, _ZEROPAGE or _CONTINUE): pages put where they were missing. */
  | { readonly name: 'uffd_fill'; readonly fd: FdArg; readonly addr: U64; readonly length: U64 }
  /** Anything else, and a call above whose arguments the capture does not show; as printed, split at top level. */
  | { readonly name: 'other'; readonly syscall: string; readonly args: readonly string[] };

/** A capture read to its end. */
export interface Trace {
  /** Which importer read it, e.g. `strace`. */
  readonly format: string;
  /** In the order in which the capture completes them. */
  readonly events: readonly TraceEvent[];
  readonly problems: readonly ParseProblem[];
  /** Lines in the source. */
  readonly lineCount: number;
  /** What this capture cannot tell, each once, with the option that would have brought it. */
  readonly lacks: readonly { readonly code: string; readonly text: string }[];
}

export const CLONE_VM = 0x100;
export const CLONE_FILES = 0x400;
export const CLONE_VFORK = 0x4000;
export const CLONE_THREAD = 0x10000;
