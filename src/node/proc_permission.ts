import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  hasCapSysPtrace,
  parseHidepid,
  parseProcessStatus,
  statusUser,
  type ProcessStatus,
  type ProcessUser,
} from '../procfs/process_text';
import { refusal, type ProcRefusal } from './proc_refusal';

/**
 * What decides whether /proc/PID/maps may be read (ptrace_may_access with PTRACE_MODE_READ_FSCREDS in
 * kernel/ptrace.c), as far as we can see it. Null and undefined: not known.
 */
export interface PermissionFacts {
  readonly own: ProcessUser | undefined;
  readonly ownCapSysPtrace: boolean;
  readonly target: ProcessUser | undefined;
  /** False when the kernel protects the process: it changed its credentials, or asked for it. Null for root's. */
  readonly targetDumpable: boolean | null;
  /** kernel.yama.ptrace_scope, where Yama is built in. */
  readonly ptraceScope: string | null;
  /** The option with which /proc is mounted. */
  readonly hidepid: string | null;
}

/** Collects the facts about a process; whatever cannot be read is left unknown. */
export async function permissionFacts(root: string, pid: number): Promise<PermissionFacts> {
  const own = await statusOf(join(root, 'self', 'status'));
  const status = await statusOf(join(root, String(pid), 'status'));
  const target = statusUser(status);
  const owner = await ownerOf(join(root, String(pid)));
  return {
    own: statusUser(own),
    ownCapSysPtrace: hasCapSysPtrace(own),
    target,
    targetDumpable: target === undefined || owner === null ? null : isDumpable(owner, target),
    ptraceScope: (await textOf(join(root, 'sys', 'kernel', 'yama', 'ptrace_scope')))?.trim() ?? null,
    hidepid: await hidepidOf(root),
  };
}

/** The option `hidepid` of the procfs at `root`; null without one. */
export async function hidepidOf(root: string): Promise<string | null> {
  return parseHidepid((await textOf(join(root, 'self', 'mountinfo'))) ?? '', root);
}

/** The refusal of a process that may not be read, with what would help. */
export function notPermitted(pid: number, facts: PermissionFacts): ProcRefusal {
  const help: string[] = [];
  const { own, target } = facts;
  const otherUser = own !== undefined && target !== undefined && own.effective !== target.real;
  if (otherUser)
    help.push(`run as the same user (it belongs to user ${target.real}, this is user ${own.effective})`);
  if (facts.targetDumpable === false) {
    help.push(
      'the process is not dumpable (it changed its user, or asked for protection): being the same user is not enough',
    );
  }
  if (facts.ownCapSysPtrace) {
    help.push('this process has CAP_SYS_PTRACE: a security module, or another user namespace, refuses');
  } else {
    help.push('give this process the capability CAP_SYS_PTRACE, for example by running it with sudo');
  }
  if (facts.hidepid !== null) {
    help.push(
      `/proc is mounted with hidepid=${facts.hidepid}: join the group of its gid= option, or mount it without`,
    );
  }
  if (facts.ptraceScope !== null && facts.ptraceScope !== '0') {
    help.push(
      `kernel.yama.ptrace_scope is ${facts.ptraceScope}: it limits attaching (recording a running process), not reading maps`,
    );
  }
  return refusal('not-permitted', pid, `not permitted to read the mappings of process ${pid}`, help);
}

/** The kernel gives the files of a process that is not dumpable to root: for root's own that tells nothing. */
function isDumpable(owner: number, target: ProcessUser): boolean | null {
  return target.effective === 0 ? null : owner === target.effective;
}

async function statusOf(path: string): Promise<ProcessStatus> {
  return parseProcessStatus((await textOf(path)) ?? '');
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    return null;
  }
}

async function ownerOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).uid;
  } catch {
    return null;
  }
}
