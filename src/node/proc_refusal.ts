/** Why something of a live process could not be read. */
export interface ProcRefusal {
  readonly kind: ProcRefusalKind;
  /** The process asked for; null when the question was about all of them. */
  readonly pid: number | null;
  /** What is wrong: one sentence without a full stop. */
  readonly text: string;
  /** What the person can do, the likeliest first; empty where there is nothing. */
  readonly help: readonly string[];
}

export type ProcRefusalKind =
  /** There is no such process. */
  | 'gone'
  /** It ended while it was read. */
  | 'exited'
  /** It executed another program while it was read: read again. */
  | 'replaced'
  | 'not-permitted'
  /** It runs in the kernel and has no address space. */
  | 'kernel-thread'
  /** It has ended and waits for its parent; its address space is gone. */
  | 'zombie'
  /** Not Linux, or no /proc is mounted. */
  | 'no-proc'
  /** More text than can be held. */
  | 'too-large'
  | 'cancelled'
  /** Anything else that the kernel answered. */
  | 'failed';

export function refusal(
  kind: ProcRefusalKind,
  pid: number | null,
  text: string,
  help: readonly string[] = [],
): ProcRefusal {
  return { kind, pid, text, help };
}

export function cancelled(pid: number | null): ProcRefusal {
  return refusal('cancelled', pid, 'cancelled');
}

export function gone(pid: number, help: readonly string[] = []): ProcRefusal {
  return refusal('gone', pid, `process ${pid} does not exist (any more)`, help);
}

export function exited(pid: number): ProcRefusal {
  return refusal('exited', pid, `process ${pid} ended while it was read`);
}

export function replaced(pid: number): ProcRefusal {
  return refusal('replaced', pid, `process ${pid} executed another program while it was read`, [
    'read it again',
  ]);
}

export function kernelThread(pid: number): ProcRefusal {
  return refusal(
    'kernel-thread',
    pid,
    `process ${pid} is a kernel thread: it has no address space of its own`,
  );
}

export function zombie(pid: number): ProcRefusal {
  return refusal(
    'zombie',
    pid,
    `process ${pid} is a zombie: it has ended, only its parent has not asked for its status`,
  );
}

export function noProc(root: string): ProcRefusal {
  return refusal('no-proc', null, `there is no procfs at ${root}: live processes can be read on Linux only`, [
    'open a saved maps or smaps file, or a trace',
  ]);
}
