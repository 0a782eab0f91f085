import { sealReportingOf, sealReportingOfRelease, type SealReporting } from '../../analysis/seals';
import { err, ok, type Result } from '../../base/result';
import { ProcReader, type ProcessInfo } from '../../node/proc_reader';
import type { ProcRefusal } from '../../node/proc_refusal';
import type { SourceError } from '../../node/source_error';
import { loadMaps } from '../../node/sources';
import type { U64 } from '../../mm/addr';
import type { ProcessFacts, ProcessSums } from '../../present/process_tree';
import { parseMaps } from '../../procfs/maps';
import type { MapsEntry, SmapsFields } from '../../procfs/maps_entry';
import { hasCapSysPtrace, statusUser } from '../../procfs/process_text';
import type { ProcSource } from './proc_source';
import type { AddressSpace } from './target';

/** Who reads: decides which processes are own, and which can be read at all. */
export interface Reader {
  readonly uid: number | null;
  /** Holds CAP_SYS_PTRACE, so that other users' processes can be read. */
  readonly mayReadAll: boolean;
}

/** The processes of this machine's /proc. */
export function liveProcSource(reader = new ProcReader(), platform: string = process.platform): ProcSource {
  const whoReads = async (): Promise<Reader> => {
    const status = await reader.status(process.pid);
    if (!status.ok) return { uid: null, mayReadAll: false };
    return { uid: statusUser(status.value)?.real ?? null, mayReadAll: hasCapSysPtrace(status.value) };
  };
  return {
    available: platform === 'linux',
    list: async (signal) => {
      const list = await reader.listProcesses({ signal });
      if (!list.ok) return err(sourceErrorOf(list.error));
      const who = await whoReads();
      const facts = list.value.processes.map((info) => processFacts(info, who));
      return ok([...facts, ...list.value.unreadable.map(hiddenProcess)].sort((a, b) => a.pid - b.pid));
    },
    facts: async (pid) => {
      const info = await reader.processInfo(pid);
      return info.ok ? processFacts(info.value, await whoReads()) : undefined;
    },
    sums: async (pid) => {
      const text = await reader.readSmapsRollup(pid);
      const rollup = text.ok ? parseMaps(text.value.text).rollup : null;
      return rollup === null ? undefined : sumsOf(rollup.smaps);
    },
    read: readProcess,
  };
}

/** What the list says of a process, in the words of the views. */
export function processFacts(info: ProcessInfo, who: Reader): ProcessFacts {
  const own = who.uid !== null && info.uid === who.uid;
  const kind = info.kernelThread ? 'kernel-thread' : 'ZX'.includes(info.state) ? 'zombie' : 'user';
  const facts: ProcessFacts = {
    pid: info.pid,
    ppid: info.ppid,
    command: info.comm,
    commandLine: info.cmdline.join(' '),
    own,
    kind,
    rss: info.rssKb,
    swap: info.swapKb,
    threads: info.threads,
    startTime: info.startTime,
  };
  if (kind !== 'user' || own || who.mayReadAll) return facts;
  return { ...facts, unreadable: { text: 'not permitted', help: OTHER_USER } };
}

const OTHER_USER =
  'run the machine’s side of VS Code as the same user, or give it the capability CAP_SYS_PTRACE (for example as root)';

/** A process of which the kernel tells nothing but that it is there. */
function hiddenProcess(pid: number): ProcessFacts {
  return {
    pid,
    ppid: 0,
    command: '',
    commandLine: '',
    own: false,
    kind: 'user',
    rss: null,
    swap: null,
    threads: null,
    startTime: '',
    unreadable: { text: 'hidden', help: 'mount /proc without hidepid, or join the group of its gid= option' },
  };
}

function sumsOf(smaps: SmapsFields): ProcessSums {
  const amount = (field: string): U64 | null => {
    const value = smaps.fields.get(field);
    return value?.kind === 'number' && value.unit === 'kB' ? value.value : null;
  };
  return { pss: amount('Pss'), swapPss: amount('SwapPss') };
}

async function readProcess(pid: number, signal: AbortSignal): Promise<Result<AddressSpace, SourceError>> {
  const loaded = await loadMaps({ kind: 'process', pid }, { signal });
  if (!loaded.ok) return loaded;
  const { document, problems, remark, live } = loaded.value;
  return ok({
    entries: document.entries,
    sealing: sealingOf(document.entries, live?.release ?? ''),
    problems,
    notes: remark === undefined ? [] : [remark],
    changed: new Set(),
  });
}

/** The running kernel's release says whether seals are shown; where it cannot be read the text may. */
function sealingOf(entries: readonly MapsEntry[], release: string): SealReporting {
  const known = sealReportingOfRelease(release);
  return known === 'unknown' ? sealReportingOf(entries) : known;
}

function sourceErrorOf(refusal: ProcRefusal): SourceError {
  const code =
    refusal.kind === 'no-proc' ? 'unsupported' : refusal.kind === 'cancelled' ? 'cancelled' : 'unreadable';
  const error = { code, subject: '/proc', text: refusal.text } as const;
  return refusal.help.length === 0 ? error : { ...error, help: refusal.help.join('; or ') };
}
