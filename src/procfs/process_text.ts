import { textOfBytes } from '../base/bytes';

/** What /proc/PID/stat says of a process (do_task_stat in fs/proc/array.c); only what is used here. */
export interface ProcessStat {
  readonly pid: number;
  readonly comm: string;
  /** One letter: R running, S sleeping, D disk sleep, T stopped, t traced, Z zombie, X dead, I idle. */
  readonly state: string;
  readonly ppid: number;
  readonly kernelThread: boolean;
  readonly threads: number;
  /** Ticks since boot. A pid is used again, the pair of both is not. */
  readonly startTime: string;
  /**
   * Where its code begins and its stack began: another pair after execve, as addresses are random. Both `0`
   * where the reader may not know.
   */
  readonly startCode: string;
  readonly startStack: string;
}

const PF_KTHREAD = 0x00200000;

/**
 * Parses /proc/PID/stat. The command may hold blanks, newlines and parentheses: it ends at the last `)`.
 * Undefined for a text that is not a stat.
 *
 * @param bytes latin1 byte string
 */
export function parseProcessStat(bytes: string): ProcessStat | undefined {
  const open = bytes.indexOf('(');
  const close = bytes.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  // Field 3 of proc(5) is rest[0].
  const rest = bytes
    .slice(close + 1)
    .trim()
    .split(' ');
  const field = (number: number) => rest[number - 3] ?? '';
  const pid = Number.parseInt(bytes.slice(0, open), 10);
  const ppid = Number.parseInt(field(4), 10);
  const flags = Number.parseInt(field(9), 10);
  if (Number.isNaN(pid) || Number.isNaN(ppid) || Number.isNaN(flags) || field(22) === '') return undefined;
  return {
    pid,
    comm: textOfBytes(bytes.slice(open + 1, close)),
    state: field(3),
    ppid,
    kernelThread: (flags & PF_KTHREAD) !== 0,
    threads: Number.parseInt(field(20), 10),
    startTime: field(22),
    startCode: field(26),
    startStack: field(28),
  };
}

/** The rows of /proc/PID/status (proc_pid_status in fs/proc/array.c), as text, by name without the colon. */
export type ProcessStatus = ReadonlyMap<string, string>;

/** @param bytes latin1 byte string */
export function parseProcessStatus(bytes: string): ProcessStatus {
  const rows = new Map<string, string>();
  for (const line of bytes.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) rows.set(line.slice(0, colon), textOfBytes(line.slice(colon + 1).trim()));
  }
  return rows;
}

/** A row like `VmRSS: 1672 kB` in kB; null where it is absent, as in kernel threads and zombies. */
export function statusKilobytes(status: ProcessStatus, name: string): number | null {
  const match = /^(\d+) kB$/.exec(status.get(name) ?? '');
  return match === null ? null : Number(match[1]);
}

/** Which user a process belongs to. */
export interface ProcessUser {
  readonly real: number;
  readonly effective: number;
}

/** The row `Uid:` (real, effective, saved, file system); undefined where it is absent. */
export function statusUser(status: ProcessStatus): ProcessUser | undefined {
  const match = /^(\d+)\s+(\d+)/.exec(status.get('Uid') ?? '');
  return match === null ? undefined : { real: Number(match[1]), effective: Number(match[2]) };
}

const CAP_SYS_PTRACE = 19n;

/** Does `CapEff` hold CAP_SYS_PTRACE? */
export function hasCapSysPtrace(status: ProcessStatus): boolean {
  const digits = status.get('CapEff') ?? '';
  return /^[0-9a-f]{1,16}$/.test(digits) && ((BigInt(`0x${digits}`) >> CAP_SYS_PTRACE) & 1n) === 1n;
}

/**
 * The arguments in /proc/PID/cmdline, which are NUL-terminated. A program that wrote a title over them leaves
 * one text, perhaps padded with NULs. Empty for kernel threads and zombies.
 *
 * @param bytes latin1 byte string
 */
export function parseCmdline(bytes: string): readonly string[] {
  let end = bytes.length;
  while (end > 0 && bytes.charCodeAt(end - 1) === 0) end--;
  // `sh -c ''` ends in an empty argument: one NUL is the end of the last argument, two are an empty one.
  if (end === 0) return [];
  const args = bytes.slice(0, end).split('\0').map(textOfBytes);
  return bytes.length - end === 2 ? [...args, ''] : args;
}

/**
 * The `hidepid` option with which procfs is mounted at `mountPoint`, as printed (`2`, `invisible`); null
 * without one, or where that is no procfs.
 *
 * @param bytes /proc/self/mountinfo, latin1 byte string
 */
export function parseHidepid(bytes: string, mountPoint: string): string | null {
  let hidepid: string | null = null;
  for (const line of bytes.split('\n')) {
    const [mount = '', filesystem = ''] = line.split(' - ', 2);
    if (mount.split(' ')[4] !== mountPoint) continue;
    const [type, , options = ''] = filesystem.split(' ');
    if (type !== 'proc') continue;
    // A later mount at the same place hides an earlier one.
    hidepid = /(?:^|,)hidepid=([^,]+)/.exec(options)?.[1] ?? null;
  }
  return hidepid === '0' || hidepid === 'off' ? null : hidepid;
}
