/** One limit in bytes; Infinity for RLIM_INFINITY. */
export interface Rlimit {
  readonly cur: number;
  readonly max: number;
}

/** Limits of a process that matter to memory, as far as they were seen. */
export interface ProcessLimits {
  readonly as?: Rlimit;
  readonly data?: Rlimit;
  readonly memlock?: Rlimit;
  readonly stack?: Rlimit;
  /** CAP_IPC_LOCK, which lifts RLIMIT_MEMLOCK; absent until a call showed it. */
  readonly ipcLock?: boolean;
}

/** vm.overcommit_memory: 0, 1 and 2. */
export type Overcommit = 'guess' | 'always' | 'never';
