import { printable } from '../base/bytes';
import { hexOfU64, type U64 } from '../mm/addr';
import type { Syscall, SyscallEvent } from '../trace/event';
import { callName } from './call_text';
import type { ReplayStep, SnapshotCheck } from './replay_types';

/** A step in words: with the name of the call, and without. */
export type StepWords = Pick<ReplayStep, 'title' | 'what'>;

/** One line a step, that a person recognises: the call with its range, size and name. */
export function wordsOf({ call }: SyscallEvent): StepWords {
  const what = argumentsOf(call).join(', ');
  return { title: `${callTitle(call)}(${what})`, what };
}

/** ioctl says nothing without its request. */
function callTitle(call: Syscall): string {
  if (call.name === 'uffd_register') return 'UFFDIO_REGISTER';
  return call.name === 'uffd_unregister' ? 'UFFDIO_UNREGISTER' : callName(call);
}

function argumentsOf(call: Syscall): string[] {
  switch (call.name) {
    case 'mmap':
      return [
        address(call.addr),
        size(call.length),
        ...(call.fd.path === undefined ? [] : [printable(call.fd.path)]),
      ];
    case 'mremap':
      return [
        address(call.oldAddr),
        `${size(call.oldLength)} to ${size(call.newLength)}`,
        ...(call.newAddr === undefined ? [] : [address(call.newAddr)]),
      ];
    case 'prctl_set_vma':
      return ['PR_SET_VMA_ANON_NAME', address(call.addr), size(call.length), nameText(call)];
    case 'brk':
      return [address(call.addr)];
    case 'munmap':
    case 'mprotect':
    case 'pkey_mprotect':
    case 'madvise':
    case 'mseal':
    case 'mlock':
    case 'mlock2':
    case 'mbind':
    case 'set_mempolicy_home_node':
    case 'munlock':
    case 'uffd_register':
    case 'uffd_unregister':
      return [address(call.addr), size(call.length)];
    case 'shmat':
      return [`segment ${call.id}`];
    case 'shmdt':
      return [address(call.addr)];
    default:
      return [];
  }
}

function nameText(call: Syscall & { readonly name: 'prctl_set_vma' }): string {
  const name = call.vmaName;
  switch (name.kind) {
    case 'null':
      return 'NULL';
    case 'text':
      return name.truncated ? `"${printable(name.text)}"…` : `"${printable(name.text)}"`;
    case 'pointer':
      return `name at ${address(name.pointer)}, text not in the trace`;
  }
}

function address(value: U64): string {
  return value === 0 ? 'NULL' : hexOfU64(value);
}

const UNITS = ['B', 'kB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Exact in the largest binary unit that divides it. */
function size(bytes: U64): string {
  let value = BigInt(bytes);
  let unit = 0;
  while (value > 0n && value % 1024n === 0n && unit < UNITS.length - 1) {
    value /= 1024n;
    unit++;
  }
  return `${value} ${UNITS[unit] ?? ''}`;
}

export function cloneWords(call: Syscall & { readonly name: 'clone' }, child: number | undefined): StepWords {
  const what = child === undefined ? '' : `makes ${child}`;
  return { title: `${call.via}() ${what}`.trimEnd(), what };
}

export function execWords(path: string | undefined): StepWords {
  const what = path === undefined ? '' : `"${printable(path)}"`;
  return { title: `execve(${what})`, what };
}

export function exitWords(how: string, ended: boolean): StepWords {
  const what = ended ? printable(how) : `of a thread: ${printable(how)}`;
  return { title: ended ? `exit: ${what}` : `exit ${what}`, what };
}

export function snapshotWords(check: SnapshotCheck): StepWords {
  const what = `${printable(check.label)}: ${outcomeWords(check)}`;
  return { title: `snapshot ${what}`, what };
}

function outcomeWords(check: SnapshotCheck): string {
  switch (check.outcome) {
    case 'seed':
      return `taken as the state (${check.vmaCount} VMAs)`;
    case 'equal':
      return `${equalWords(check)} (${check.vmaCount} VMAs)`;
    case 'differs':
      return `${check.differences} differences, taken over`;
  }
}

/** How a snapshot that did not differ is equal. */
export function equalWords({ inPieces }: SnapshotCheck): string {
  return inPieces === true ? 'equal in pieces' : 'equal';
}
