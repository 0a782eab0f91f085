import { printable } from '../base/bytes';
import { hexOfU64, type U64 } from '../mm/addr';
import type { Syscall, SyscallEvent } from '../trace/event';
import { callName } from './call_text';
import type { SnapshotCheck } from './replay_types';

/** One line a step, that a person recognises: the call with its range, size and name. */
export function titleOf({ call }: SyscallEvent): string {
  return `${callName(call)}(${argumentsOf(call).join(', ')})`;
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
    case 'munlock':
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

export function cloneTitle(call: Syscall & { readonly name: 'clone' }, child: number | undefined): string {
  return child === undefined ? `${call.via}()` : `${call.via}() makes ${child}`;
}

export function execTitle(path: string | undefined): string {
  return path === undefined ? 'execve()' : `execve("${printable(path)}")`;
}

export function exitTitle(how: string, ended: boolean): string {
  return ended ? `exit: ${printable(how)}` : `thread exit: ${printable(how)}`;
}

export function snapshotTitle(check: SnapshotCheck): string {
  const label = printable(check.label);
  switch (check.outcome) {
    case 'seed':
      return `snapshot ${label}: taken as the state (${check.vmaCount} VMAs)`;
    case 'equal':
      return `snapshot ${label}: equal (${check.vmaCount} VMAs)`;
    case 'differs':
      return `snapshot ${label}: ${check.differences} differences, taken over`;
  }
}
