import { constants } from 'node:buffer';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { textOfBytes } from '../base/bytes';
import { err, ok, type Result } from '../base/result';
import {
  parseCmdline,
  parseProcessStat,
  parseProcessStatus,
  statusKilobytes,
  statusUser,
  type ProcessStat,
  type ProcessStatus,
} from '../procfs/process_text';
import { errnoFault, readPages, type PageFault, type ProcText } from './proc_pages';
import { hidepidOf, notPermitted, permissionFacts } from './proc_permission';
import {
  cancelled,
  exited,
  gone,
  kernelThread,
  noProc,
  refusal,
  replaced,
  zombie,
  type ProcRefusal,
} from './proc_refusal';
import type { ReadOptions } from './source_bytes';

/** One process in a list: what is cheap to read of it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  /** At most 15 bytes of its own choice (longer for kernel threads). */
  readonly comm: string;
  /** Arguments; empty for kernel threads and zombies. */
  readonly cmdline: readonly string[];
  /** Real user id; null where it cannot be read. */
  readonly uid: number | null;
  /** One letter: R, S, D, T, t, Z, X, I. */
  readonly state: string;
  readonly kernelThread: boolean;
  readonly threads: number;
  /** Ticks since boot: with the pid it names this process and no later one. */
  readonly startTime: string;
  /** In kB; null for what has no address space. */
  readonly sizeKb: number | null;
  readonly rssKb: number | null;
  readonly swapKb: number | null;
}

export interface ProcessList {
  /** By pid. */
  readonly processes: readonly ProcessInfo[];
  /** Pids that exist and of which nothing can be read (hidepid=1). */
  readonly unreadable: readonly number[];
}

/** What /proc/PID/exe links to. */
export interface ExeLink {
  readonly path: string;
  /** The file has been deleted or replaced since. */
  readonly deleted: boolean;
}

/** How many processes of a list are read at a time. */
const PARALLEL = 8;

/** Reads live processes from a procfs. Nothing is kept between calls. */
export class ProcReader {
  /**
   * @param root where procfs is mounted
   * @param maxBytes the most text that is kept of one file
   */
  constructor(
    private readonly root: string = '/proc',
    private readonly maxBytes: number = constants.MAX_STRING_LENGTH,
  ) {}

  /** /proc/PID/maps. */
  readMaps(pid: number, options: ReadOptions = {}): Promise<Result<ProcText, ProcRefusal>> {
    return this.readMappings(pid, 'maps', options);
  }

  /** /proc/PID/smaps: the kernel walks every page table for it, which may take seconds. */
  readSmaps(pid: number, options: ReadOptions = {}): Promise<Result<ProcText, ProcRefusal>> {
    return this.readMappings(pid, 'smaps', options);
  }

  /** /proc/PID/smaps_rollup (4.14): the sums of smaps in one record, with less text. */
  readSmapsRollup(pid: number, options: ReadOptions = {}): Promise<Result<ProcText, ProcRefusal>> {
    return this.readMappings(pid, 'smaps_rollup', options);
  }

  /** The name that the process shows in lists. */
  async comm(pid: number): Promise<Result<string, ProcRefusal>> {
    const text = await this.readSmall(pid, 'comm');
    return text.ok ? ok(textOfBytes(text.value.replace(/\n$/, ''))) : text;
  }

  /** Its arguments; empty for kernel threads and zombies. */
  async cmdline(pid: number): Promise<Result<readonly string[], ProcRefusal>> {
    const text = await this.readSmall(pid, 'cmdline');
    return text.ok ? ok(parseCmdline(text.value)) : text;
  }

  /** The rows of its status file. */
  async status(pid: number): Promise<Result<ProcessStatus, ProcRefusal>> {
    const text = await this.readSmall(pid, 'status');
    return text.ok ? ok(parseProcessStatus(text.value)) : text;
  }

  /** The program it executes. A kernel thread and a zombie have none. */
  async exe(pid: number): Promise<Result<ExeLink, ProcRefusal>> {
    try {
      const bytes = await readlink(this.path(pid, 'exe'), 'latin1');
      const deleted = bytes.endsWith(' (deleted)');
      return ok({ path: textOfBytes(deleted ? bytes.slice(0, -' (deleted)'.length) : bytes), deleted });
    } catch (thrown) {
      const fault = errnoFault(thrown);
      const before = await this.statOf(pid);
      if (!before.ok) return before;
      const without = withoutMappings(before.value);
      return err(without ?? (await this.refusalOf(pid, fault)));
    }
  }

  /** Release of the running kernel (`6.18.44`), null where it cannot be read. */
  async kernelRelease(): Promise<string | null> {
    try {
      return (await readFile(join(this.root, 'sys', 'kernel', 'osrelease'), 'latin1')).trim();
    } catch {
      return null;
    }
  }

  /** What is cheap to read of one process. */
  async processInfo(pid: number): Promise<Result<ProcessInfo, ProcRefusal>> {
    const stat = await this.statOf(pid);
    if (!stat.ok) return stat;
    const status = await this.status(pid);
    if (!status.ok) return status;
    const hasMappings = withoutMappings(stat.value) === null;
    const cmdline = hasMappings ? await this.cmdline(pid) : ok([]);
    if (!cmdline.ok) return cmdline;
    const { ppid, comm, state, kernelThread, threads, startTime } = stat.value;
    return ok({
      pid,
      ppid,
      comm,
      cmdline: cmdline.value,
      uid: statusUser(status.value)?.real ?? null,
      state,
      kernelThread,
      threads,
      startTime,
      sizeKb: statusKilobytes(status.value, 'VmSize'),
      rssKb: statusKilobytes(status.value, 'VmRSS'),
      swapKb: statusKilobytes(status.value, 'VmSwap'),
    });
  }

  /**
   * All processes that can be seen. One that ends meanwhile is left out.
   *
   * @param options progress is told in processes, not in bytes
   */
  async listProcesses(options: ReadOptions = {}): Promise<Result<ProcessList, ProcRefusal>> {
    const pids = await this.pids();
    if (!pids.ok) return pids;
    const processes: ProcessInfo[] = [];
    const unreadable: number[] = [];
    let next = 0;
    let done = 0;
    const worker = async () => {
      for (let pid = pids.value[next++]; pid !== undefined; pid = pids.value[next++]) {
        if (options.signal?.aborted === true) return;
        const info = await this.processInfo(pid);
        if (info.ok) processes.push(info.value);
        else if (info.error.kind === 'not-permitted') unreadable.push(pid);
        options.progress?.(++done);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    if (options.signal?.aborted === true) return err(cancelled(null));
    processes.sort((a, b) => a.pid - b.pid);
    unreadable.sort((a, b) => a - b);
    return ok({ processes, unreadable });
  }

  private async pids(): Promise<Result<readonly number[], ProcRefusal>> {
    if (!(await this.isProcfs())) return err(noProc(this.root));
    const names = await readdir(this.root);
    return ok(names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number));
  }

  private async isProcfs(): Promise<boolean> {
    return stat(join(this.root, 'self', 'stat')).then(
      () => true,
      () => false,
    );
  }

  /**
   * Reads a file of mappings. Its descriptor goes on showing the address space that was there when it was
   * opened, and simply ends when that is gone: whether the process was the same all the time is seen by its
   * stat before and after.
   */
  private async readMappings(
    pid: number,
    file: string,
    options: ReadOptions,
  ): Promise<Result<ProcText, ProcRefusal>> {
    const before = await this.statOf(pid);
    if (!before.ok) return before;
    const thread = before.value.state === 'Z' ? await this.liveThread(pid) : null;
    const without = withoutMappings(before.value);
    if (without !== null && thread === null) return err(without);
    const path = thread === null ? this.path(pid, file) : this.path(pid, 'task', String(thread), file);
    const text = await readPages(path, options, this.maxBytes);
    if (!text.ok && (text.error.kind !== 'errno' || !isGone(text.error.errno))) {
      return err(await this.refusalOf(pid, text.error));
    }
    const after = await this.statOf(pid);
    if (!after.ok) return err(after.error.kind === 'gone' ? exited(pid) : after.error);
    const change = changeBetween(before.value, after.value);
    if (change !== null) return err(change);
    if (!text.ok && text.error.kind === 'errno' && text.error.errno === 'ENOENT') {
      return err(refusal('failed', pid, `this kernel has no /proc/PID/${file}`));
    }
    if (!text.ok) return err(exited(pid));
    // Alive, the same, and no text: its address space went away before its state did.
    return text.value.text === '' ? err(exited(pid)) : text;
  }

  /**
   * A thread that still runs when the first one, whose pid the process has, is a zombie: the address space
   * is then seen through it. Null when there is none.
   */
  private async liveThread(pid: number): Promise<number | null> {
    const names = await readdir(this.path(pid, 'task')).catch(() => []);
    for (const name of names) {
      const text = await readPages(this.path(pid, 'task', name, 'stat'));
      const state = text.ok ? parseProcessStat(text.value.text)?.state : undefined;
      if (state !== undefined && !'ZX'.includes(state)) return Number(name);
    }
    return null;
  }

  private async statOf(pid: number): Promise<Result<ProcessStat, ProcRefusal>> {
    const text = await this.readSmall(pid, 'stat');
    if (!text.ok) return text;
    const stat = parseProcessStat(text.value);
    return stat === undefined
      ? err(refusal('failed', pid, `the stat of process ${pid} cannot be understood`))
      : ok(stat);
  }

  private async readSmall(pid: number, file: string): Promise<Result<string, ProcRefusal>> {
    const text = await readPages(this.path(pid, file));
    return text.ok ? ok(text.value.text) : err(await this.refusalOf(pid, text.error));
  }

  private async refusalOf(pid: number, fault: PageFault): Promise<ProcRefusal> {
    if (fault.kind === 'cancelled') return cancelled(pid);
    if (fault.kind === 'too-large') {
      return refusal(
        'too-large',
        pid,
        `the mappings of process ${pid} take more than ${fault.limit} bytes of text`,
      );
    }
    if (isGone(fault.errno)) return this.goneOrNoProc(pid);
    if (fault.errno === 'EACCES' || fault.errno === 'EPERM') {
      return notPermitted(pid, await permissionFacts(this.root, pid));
    }
    return refusal('failed', pid, `process ${pid} cannot be read: ${fault.message}`);
  }

  private async goneOrNoProc(pid: number): Promise<ProcRefusal> {
    if (!(await this.isProcfs())) return noProc(this.root);
    const hidepid = await hidepidOf(this.root);
    if (hidepid === null || hidepid === '1' || hidepid === 'noaccess') return gone(pid);
    return gone(pid, [`or it is hidden: ${this.root} is mounted with hidepid=${hidepid}`]);
  }

  private path(pid: number, ...names: readonly string[]): string {
    return join(this.root, String(pid), ...names);
  }
}

/** Why a process has no address space; null when it has one. */
function withoutMappings(stat: ProcessStat): ProcRefusal | null {
  if (stat.kernelThread) return kernelThread(stat.pid);
  if (stat.state === 'Z' || stat.state === 'X') return zombie(stat.pid);
  return null;
}

/** What became of a process between two looks; null when it is the same. */
function changeBetween(before: ProcessStat, after: ProcessStat): ProcRefusal | null {
  if (after.startTime !== before.startTime) return exited(before.pid);
  if (before.state !== 'Z' && withoutMappings(after) !== null) return exited(before.pid);
  const same = after.startCode === before.startCode && after.startStack === before.startStack;
  return same ? null : replaced(before.pid);
}

function isGone(errno: string): boolean {
  return errno === 'ENOENT' || errno === 'ESRCH' || errno === 'ENOTDIR';
}
