import type { U64 } from '../mm/addr';
import { writeSealBits } from '../mm/memfd_seal';
import { setMemoryMerge } from '../mm/syscalls/prctl_memory_merge';
import type { Syscall, SyscallEvent } from '../trace/event';
import { readFd } from '../trace/strace/fd';
import type { Life, World } from './world';

/** Calls that change no mapping but what later mappings mean. All succeeded. */

/** openat, close, memfd_create, shmget: what descriptors and segments are. */
export function noteFile(world: World, life: Life, { call, result }: SyscallEvent): void {
  const value = result.kind === 'value' ? Number(result.value) : -1;
  switch (call.name) {
    case 'openat':
      life.files.open(
        value,
        call.resolved ?? call.path,
        writableBy(call.flags),
        false,
        call.flags.includes('O_WRONLY') ? false : undefined,
      );
      return;
    case 'close':
      life.files.close(call.fd.fd);
      return;
    case 'shmget':
      if (typeof call.size === 'number')
        world.segments.set(value, { size: call.size, key: keyText(call.key) });
      return;
    case 'other':
      noteOther(life, call.syscall, call.args, value);
      if (call.syscall === 'fcntl') noteSeals(world, life, call.args);
      return;
    default:
      return;
  }
}

function noteOther(life: Life, syscall: string, args: readonly string[], value: number): void {
  const [first = ''] = args;
  if (syscall === 'memfd_create') life.files.open(value, `/memfd:${quoted(first)}`, true, true);
  if (syscall === 'memfd_secret') life.files.open(value, '/secretmem', true, true);
  if (syscall === 'pidfd_open') life.files.open(value, `pid:${first}`, null);
  if (/^dup[23]?$/.test(syscall)) {
    const from = readFd(first, 0, first.length);
    if (from !== undefined) life.files.duplicate(from, value);
  }
}

/** fcntl(F_ADD_SEALS) on a memfd. Only those that mmap asks for are kept. */
function noteSeals(world: World, life: Life, [fd = '', command, seals = '']: readonly string[]): void {
  const from = readFd(fd, 0, fd.length);
  const file = from === undefined || command !== 'F_ADD_SEALS' ? null : life.files.fileOf(from);
  if (file === null) return;
  const { memfdSeals } = world.system;
  memfdSeals.set(file.id, (memfdSeals.get(file.id) ?? 0) | writeSealBits(seals));
}

/** The text of a quoted argument. */
function quoted(argument: string | undefined): string {
  return /^"(.*)"$/.exec(argument ?? '')?.[1] ?? '';
}

/** Does an open with these flags allow shared writable mappings? null where the mode is not printed by name. */
function writableBy(flags: string): boolean | null {
  if (flags.includes('O_RDWR')) return true;
  if (flags.includes('O_RDONLY')) return false;
  return flags.includes('O_WRONLY') ? true : null;
}

/** Key as /SYSV%08x prints it. */
function keyText(key: string): string {
  const digits = /^(?:0x)?([0-9a-fA-F]+)$/.exec(key)?.[1];
  return key.startsWith('0x') && digits !== undefined ? digits.padStart(8, '0') : '00000000';
}

/** prctl calls that new mappings depend on: PR_SET_MEMORY_MERGE and PR_SET_MDWE. */
export function notePrctl(life: Life, call: Syscall): void {
  if (call.name !== 'prctl' || life.mm === null) return;
  const on = isSet(call.args[0]);
  if (call.option === 'PR_SET_MEMORY_MERGE') setMemoryMerge(life.mm, on);
  if (call.option !== 'PR_SET_MDWE') return;
  const own = /NO_INHERIT|^0x3/.test(call.args[0] ?? '');
  life.mm.scalars = { ...life.mm.scalars, mdwe: on, mdweOwn: own };
}

function isSet(argument: string | undefined): boolean {
  const value: U64 | string = argument ?? '0';
  return value !== '0' && value !== 'NULL';
}
