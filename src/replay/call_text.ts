import { bytesOfText } from '../base/bytes';
import { hexOfU64, type U64 } from '../mm/addr';
import type { Prediction } from '../mm/refusal';
import type { Syscall, SyscallResult } from '../trace/event';
import type { StepKind } from './replay_types';

/** Results and calls as text: in strace's way, since that is what people compare with. */

/** Calls that return an address. */
function returnsAddress(call: Syscall): boolean {
  return call.name === 'mmap' || call.name === 'mremap' || call.name === 'brk' || call.name === 'shmat';
}

function valueText(call: Syscall, value: U64): string {
  return returnsAddress(call) ? `0x${hexOfU64(value)}` : value.toString();
}

export function recordedText(call: Syscall, result: SyscallResult): string {
  if (result.kind === 'value') return valueText(call, result.value);
  return result.kind === 'errno' ? result.errno : '?';
}

/** `?` where no rule decides. */
export function predictedText(call: Syscall, prediction: Prediction | undefined): string {
  if (prediction === undefined) return '?';
  if (!prediction.ok) return prediction.error.errno;
  const { value } = prediction;
  return value === 'anywhere' || value === 'pages-decide' ? '?' : valueText(call, value);
}

/** Name of the call as people write it. */
export function callName(call: Syscall): string {
  if (call.name === 'prctl_set_vma') return 'prctl';
  if (call.name.startsWith('uffd_')) return 'ioctl';
  if (call.name === 'clone') return call.via;
  if (call.name === 'exit') return call.group ? 'exit_group' : 'exit';
  return call.name === 'other' ? call.syscall : call.name;
}

/** Length of a name in the bytes that the kernel counts. */
export function byteLength(text: string): number {
  return bytesOfText(text).length;
}

const KINDS: Partial<Record<Syscall['name'], StepKind>> = {
  mmap: 'map',
  shmat: 'map',
  remap_file_pages: 'map',
  munmap: 'unmap',
  shmdt: 'unmap',
  mprotect: 'protect',
  pkey_mprotect: 'protect',
  mremap: 'move',
  madvise: 'advise',
  process_madvise: 'advise',
  mbind: 'advise',
  set_mempolicy_home_node: 'advise',
  uffd_register: 'advise',
  uffd_unregister: 'advise',
  mseal: 'seal',
  prctl_set_vma: 'name',
  brk: 'brk',
  mlock: 'lock',
  mlock2: 'lock',
  munlock: 'lock',
  mlockall: 'lock',
  munlockall: 'lock',
};

/** The kind of a memory call; undefined for a call that does not concern memory. */
export function memoryKind(call: Syscall): StepKind | undefined {
  return KINDS[call.name];
}
