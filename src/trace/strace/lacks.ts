import { unreachable } from '../../base/assert';
import type { NameArg, TraceEvent } from '../event';

/** What the importer knows besides the events. */
export interface CaptureFacts {
  /** Pid given to unprefixed lines because nothing told it. */
  readonly madeUpPid: number | undefined;
  /** Known calls that strace printed by number. */
  readonly numberedCalls: number;
}

export interface Lack {
  readonly code: string;
  readonly text: string;
}

/** Calls that the usual filters (%memory, %process) leave out and every dynamically linked program makes. */
const UNFILTERED: ReadonlySet<string> = new Set(['arch_prctl', 'set_tid_address', 'set_robust_list', 'rseq']);

/** So many calls without one that failed do not happen in a program's start and run. */
const LONG = 200;

/** What is counted over all events to tell what the capture lacks. */
interface Tally {
  calls: number;
  failed: number;
  names: number;
  cutNames: number;
  pointerNames: number;
  prctls: number;
  mappedFiles: number;
  filePaths: number;
  hiddenClones: number;
  memoryCalls: number;
  uffds: number;
  uffdRequests: number;
  unfiltered: boolean;
  loaded: boolean;
  readonly children: Set<number>;
  readonly seen: Set<number>;
  /** The task of the first line, if that line is not the execve that starts a program. */
  attached: number | undefined;
}

/** What this capture cannot tell, each once, with the option of strace that would have brought it. */
export function findLacks(events: readonly TraceEvent[], facts: CaptureFacts): readonly Lack[] {
  const tally: Tally = {
    calls: 0,
    failed: 0,
    names: 0,
    cutNames: 0,
    pointerNames: 0,
    prctls: 0,
    mappedFiles: 0,
    filePaths: 0,
    hiddenClones: 0,
    memoryCalls: 0,
    uffds: 0,
    uffdRequests: 0,
    unfiltered: false,
    loaded: false,
    children: new Set(),
    seen: new Set(),
    attached: undefined,
  };
  for (const event of events) count(event, tally);
  return [...nameLacks(tally), ...taskLacks(tally, facts), ...otherLacks(tally, facts)];
}

function count(event: TraceEvent, tally: Tally): void {
  if (tally.seen.size === 0 && !(event.kind === 'syscall' && event.call.name === 'execve'))
    tally.attached = event.pid;
  tally.seen.add(event.pid);
  if (event.kind !== 'syscall') return;
  const { call, result } = event;
  if (event.entryPid !== undefined) tally.seen.add(event.entryPid);
  const worked = result.kind === 'value';
  tally.calls++;
  if (result.kind === 'errno') tally.failed++;
  switch (call.name) {
    case 'mmap':
      tally.memoryCalls++;
      if (call.fd.fd >= 0) tally.mappedFiles++;
      if (call.fd.path !== undefined) tally.filePaths++;
      return;
    case 'prctl_set_vma':
      tally.prctls++;
      countName(call.vmaName, tally);
      return;
    case 'prctl':
      tally.prctls++;
      return;
    case 'clone':
      if (worked) tally.children.add(call.childInTracerNs ?? Number(result.value));
      if (worked && call.flags === undefined) tally.hiddenClones++;
      return;
    case 'openat':
      if (call.path === '/etc/ld.so.cache') tally.loaded = true;
      return;
    case 'other':
      if (UNFILTERED.has(call.syscall)) tally.unfiltered = true;
      if (call.syscall === 'userfaultfd' && worked) tally.uffds++;
      return;
    case 'execve':
    case 'exit':
    case 'close':
    case 'personality':
    case 'uffd_fill':
      return;
    case 'uffd_api':
      tally.uffdRequests++;
      return;
    case 'munmap':
    case 'mprotect':
    case 'pkey_mprotect':
    case 'mremap':
    case 'madvise':
    case 'process_madvise':
    case 'mseal':
    case 'brk':
    case 'mlock':
    case 'mlock2':
    case 'munlock':
    case 'mlockall':
    case 'munlockall':
    case 'shmget':
    case 'shmat':
    case 'shmdt':
    case 'remap_file_pages':
    case 'mbind':
    case 'set_mempolicy_home_node':
    case 'uffd_register':
    case 'uffd_unregister':
      tally.memoryCalls++;
      return;
    default:
      unreachable(call);
  }
}

function countName(name: NameArg, tally: Tally): void {
  if (name.kind === 'text') tally.names++;
  if (name.kind === 'text' && name.truncated) tally.cutNames++;
  if (name.kind === 'pointer') tally.pointerNames++;
}

function nameLacks(tally: Tally): Lack[] {
  const lacks: Lack[] = [];
  if (tally.memoryCalls > 0 && tally.prctls === 0 && !tally.unfiltered) {
    lacks.push({
      code: 'no-prctl',
      text: 'No prctl line: either the program gave no names (PR_SET_VMA), or -e trace= left prctl out, and then they are missing.',
    });
  }
  if (tally.cutNames > 0) {
    lacks.push({
      code: 'names-cut',
      text: `${tally.cutNames} of ${tally.names} names are cut short: use -s 80 or more.`,
    });
  }
  if (tally.pointerNames > 0) {
    lacks.push({
      code: 'names-as-pointers',
      text: `${tally.pointerNames} names are pointers only: strace 5.17 or newer prints them, without -e raw.`,
    });
  }
  return lacks;
}

function taskLacks(tally: Tally, facts: CaptureFacts): Lack[] {
  const lacks: Lack[] = [];
  if (tally.children.size > 0 && [...tally.children].every((pid) => !tally.seen.has(pid))) {
    lacks.push({
      code: 'no-children',
      text: 'Tasks were made, but none of them has a line: use -f to follow them (with -ff they are in other files).',
    });
  }
  if (facts.madeUpPid !== undefined) {
    lacks.push({
      code: 'no-pids',
      text: `No line tells the pid; ${facts.madeUpPid} stands for it: use -f with -o.`,
    });
  }
  if (tally.attached !== undefined) {
    lacks.push({
      code: 'no-start',
      text: `Task ${tally.attached} was running before the capture began: what it had mapped is not known without a snapshot of its maps.`,
    });
  }
  if (tally.hiddenClones > 0) {
    lacks.push({
      code: 'no-clone-flags',
      text: 'Whether a new task shares its maker’s memory is hidden (clone3 arguments are a pointer): do not use -e raw.',
    });
  }
  return lacks;
}

function otherLacks(tally: Tally, facts: CaptureFacts): Lack[] {
  const lacks: Lack[] = [];
  if (tally.mappedFiles > 0 && tally.filePaths === 0) {
    lacks.push({ code: 'no-fd-paths', text: 'Mapped files have no paths: use -y.' });
  }
  if (tally.uffds > 0 && tally.uffdRequests === 0) {
    lacks.push({
      code: 'no-ioctl',
      text: 'A userfaultfd was opened, but no request on it is here: which memory it watches is missing. Add ioctl to -e trace=.',
    });
  }
  if (facts.numberedCalls > 0) {
    lacks.push({
      code: 'numbered-calls',
      text: 'This strace prints mseal by number (syscall_0x1ce), and with a -e trace= list it may leave it out: strace 6.10 or newer knows it.',
    });
  }
  if (tally.unfiltered && tally.loaded && tally.calls >= LONG && tally.failed === 0) {
    lacks.push({
      code: 'no-failed-calls',
      text: 'No call of this long capture failed, as with -z: failed calls may have changed memory and are missing.',
    });
  }
  return lacks;
}
