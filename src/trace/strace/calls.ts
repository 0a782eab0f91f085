import { CLONE_VFORK, CLONE_VM, type NameArg, type Syscall } from '../event';
import type { U64 } from '../../mm/addr';
import type { CallArgs } from './call_args';
import {
  CLONE,
  MADVISE,
  MLOCK,
  MLOCKALL,
  MMAP,
  MPOL,
  MPOL_MF,
  MREMAP,
  PERSONALITY,
  PROT,
  SHMAT,
} from './flag_tables';
import { uffdIoctl } from './uffd_calls';

/** Reads the arguments of one call; undefined where the capture does not hold them. */
type Row = (args: CallArgs) => Syscall | undefined;

/** Exit signal of clone(2), in the low byte of its flags. */
const CSIGNAL = 0xff;
const PR_SET_VMA = 0x53564d41;
const PR_SET_VMA_ANON_NAME = 0;

/** Every call that is decoded, by the name that strace prints; one row a call, arguments as in the kernel's prototype. */
export const CALLS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['mmap', mmap],
  // mmap2 of 32-bit programs: strace has already turned the page offset into bytes.
  ['mmap2', mmap],
  ['munmap', (a) => ({ name: 'munmap', addr: a.u64(0), length: a.u64(1) })],
  ['mprotect', (a) => ({ name: 'mprotect', addr: a.u64(0), length: a.u64(1), prot: a.flags(2, PROT) })],
  [
    'pkey_mprotect',
    (a) => ({
      name: 'pkey_mprotect',
      addr: a.u64(0),
      length: a.u64(1),
      prot: a.flags(2, PROT),
      pkey: a.int(3),
    }),
  ],
  ['mremap', mremap],
  ['madvise', (a) => ({ name: 'madvise', addr: a.u64(0), length: a.u64(1), advice: a.choice(2, MADVISE) })],
  ['process_madvise', processMadvise],
  ['mseal', mseal],
  // How strace before 6.10 prints mseal (462 on every architecture); arguments after the third are garbage.
  ['syscall_0x1ce', mseal],
  ['syscall_462', mseal],
  ['prctl', prctl],
  ['mbind', mbind],
  [
    'set_mempolicy_home_node',
    (a) => ({
      name: 'set_mempolicy_home_node',
      addr: a.u64(0),
      length: a.u64(1),
      node: a.int(2),
      flags: a.u64(3),
    }),
  ],
  ['brk', (a) => ({ name: 'brk', addr: a.u64(0) })],
  ['mlock', (a) => ({ name: 'mlock', addr: a.u64(0), length: a.u64(1) })],
  ['mlock2', (a) => ({ name: 'mlock2', addr: a.u64(0), length: a.u64(1), flags: a.flags(2, MLOCK) })],
  ['munlock', (a) => ({ name: 'munlock', addr: a.u64(0), length: a.u64(1) })],
  ['mlockall', (a) => ({ name: 'mlockall', flags: a.flags(0, MLOCKALL) })],
  ['munlockall', () => ({ name: 'munlockall' })],
  ['shmget', (a) => ({ name: 'shmget', key: a.raw(0), size: a.u64(1), flags: a.raw(2) })],
  ['shmat', (a) => ({ name: 'shmat', id: a.int(0), addr: a.u64(1), flags: a.flags(2, SHMAT) })],
  ['shmdt', (a) => ({ name: 'shmdt', addr: a.u64(0) })],
  ['remap_file_pages', remapFilePages],
  ['fork', (a) => child(a, 'fork', 0)],
  ['vfork', (a) => child(a, 'vfork', CLONE_VM | CLONE_VFORK)],
  ['clone', clone],
  ['clone3', clone3],
  ['syscall_0x1b3', clone3],
  ['syscall_435', clone3],
  ['execve', (a) => ({ name: 'execve', path: a.string(0)?.text })],
  ['execveat', execveat],
  ['exit', () => ({ name: 'exit', group: false })],
  ['exit_group', () => ({ name: 'exit', group: true })],
  ['open', (a) => open(a, 0, a.raw(1))],
  ['openat', (a) => open(a, 1, a.raw(2))],
  ['openat2', (a) => open(a, 1, a.raw(2))],
  ['creat', (a) => open(a, 0, 'O_WRONLY|O_CREAT|O_TRUNC')],
  ['ioctl', uffdIoctl],
  ['close', (a) => ({ name: 'close', fd: a.fd(0) })],
  ['personality', (a) => ({ name: 'personality', persona: a.number(0) ?? a.flags(0, PERSONALITY) })],
]);

/** Calls that change or share an address space: losing one of these falsifies what comes after. */
export const MEMORY_CALLS: ReadonlySet<string> = new Set(
  [...CALLS.keys()].filter((name) => !/^(?:open|creat|close|exit|ioctl)/.test(name)),
);

function mmap(a: CallArgs): Syscall {
  return {
    name: 'mmap',
    addr: a.u64(0),
    length: a.u64(1),
    prot: a.flags(2, PROT),
    flags: a.flags(3, MMAP),
    fd: a.fd(4),
    offset: a.u64(5),
  };
}

function mremap(a: CallArgs): Syscall {
  return {
    name: 'mremap',
    oldAddr: a.u64(0),
    oldLength: a.u64(1),
    newLength: a.u64(2),
    flags: a.flags(3, MREMAP),
    newAddr: a.count > 4 ? a.u64(4) : undefined,
  };
}

function processMadvise(a: CallArgs): Syscall {
  return {
    name: 'process_madvise',
    pidfd: a.fd(0),
    ranges: a.ranges(1),
    advice: a.choice(3, MADVISE),
    flags: a.int(4),
  };
}

/**
 * `mbind(addr, len, MPOL_BIND|…, [0x…, …], maxnode, flags)`: the mask in words of 64 bits, lowest first; strace prints a
 * word of zeros without 0x. The kernel takes maxnode - 1 bits of it (get_nodes), of which strace shows none for 1.
 */
function mbind(a: CallArgs): Syscall | undefined {
  const printed = a.raw(3);
  const maxnode = a.u64(4);
  const words = /\[([^\]]*)\]$/.exec(printed)?.[1]?.split(', ') ?? [];
  const readable = words.every((word) => /^(?:0x[0-9a-f]{1,16}|0+)$/.test(word));
  const none = maxnode === 1 || /(?:^|=)(?:NULL|0)$/.test(printed);
  // A pointer only: which nodes it names is not in the capture.
  if ((words.length === 0 && !none) || !readable) return undefined;
  const bits = none ? 0 : Math.max(0, Math.min(Number(maxnode) - 1, 64 * words.length));
  return {
    name: 'mbind',
    addr: a.u64(0),
    length: a.u64(1),
    mode: a.flags(2, MPOL),
    nodes: BigInt.asUintN(
      bits,
      words.reduce((mask, word, at) => mask | (BigInt(word) << BigInt(64 * at)), 0n),
    ),
    flags: a.flags(5, MPOL_MF),
  };
}

function mseal(a: CallArgs): Syscall {
  return { name: 'mseal', addr: a.u64(0), length: a.u64(1), flags: a.u64(2) };
}

function remapFilePages(a: CallArgs): Syscall {
  return {
    name: 'remap_file_pages',
    addr: a.u64(0),
    size: a.u64(1),
    prot: a.flags(2, PROT),
    pgoff: a.u64(3),
    flags: a.flags(4, MMAP),
  };
}

/** `prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, addr, size, name)`, also with the first two undecoded. */
function prctl(a: CallArgs): Syscall | undefined {
  if (a.count === 0) return undefined;
  if (isConstant(a, 0, 'PR_SET_VMA', PR_SET_VMA)) {
    return {
      name: 'prctl_set_vma',
      option: isConstant(a, 1, 'PR_SET_VMA_ANON_NAME', PR_SET_VMA_ANON_NAME)
        ? PR_SET_VMA_ANON_NAME
        : a.u64(1),
      addr: a.u64(2),
      length: a.u64(3),
      vmaName: nameArg(a, 4),
    };
  }
  return { name: 'prctl', option: a.raw(0), args: a.rawFrom(1) };
}

function nameArg(a: CallArgs, index: number): NameArg {
  const string = a.string(index);
  if (string !== undefined) return { kind: 'text', text: string.text, truncated: string.truncated };
  const pointer: U64 = a.u64(index);
  if (pointer === 0) return { kind: 'null' };
  // Whoever prints the option by name prints the text too, unless it cannot be read.
  const decoded = /(?:^|=|: )PR_SET_VMA_ANON_NAME$/.test(a.raw(1));
  return decoded ? { kind: 'pointer', pointer, unreadable: true } : { kind: 'pointer', pointer };
}

function isConstant(a: CallArgs, index: number, name: string, value: number): boolean {
  const raw = a.raw(index);
  return raw === name || raw.endsWith(`=${name}`) || raw.endsWith(`: ${name}`) || a.number(index) === value;
}

function clone(a: CallArgs): Syscall {
  // -e raw prints the registers: flags first on every architecture but s390 and cris.
  const named = a.namedFlags('flags=', CLONE);
  const flags = named ?? (a.number(0) === undefined ? undefined : a.flags(0, CLONE));
  return child(a, 'clone', flags === undefined ? undefined : flags - (flags % (CSIGNAL + 1)));
}

function clone3(a: CallArgs): Syscall {
  return child(a, 'clone3', a.fieldFlags(0, 'flags=', CLONE));
}

function child(a: CallArgs, via: 'fork' | 'vfork' | 'clone' | 'clone3', flags: number | undefined): Syscall {
  const { tracerPid } = a.result;
  return { name: 'clone', via, flags, ...(tracerPid === undefined ? {} : { childInTracerNs: tracerPid }) };
}

/** With AT_EMPTY_PATH the file is that of the descriptor. */
function execveat(a: CallArgs): Syscall {
  const path = a.string(1)?.text;
  return { name: 'execve', path: path === '' ? a.fd(0).path : path };
}

function open(a: CallArgs, pathIndex: number, flags: string): Syscall | undefined {
  const path = a.string(pathIndex);
  if (path === undefined || path.truncated) return undefined;
  const resolved = a.result.path;
  return { name: 'openat', path: path.text, flags, ...(resolved === undefined ? {} : { resolved }) };
}
