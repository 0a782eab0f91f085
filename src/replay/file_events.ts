import type { U64 } from '../mm/addr';
import { DEFAULT_HUGE_PAGE, hugePageOfLog } from '../mm/hugetlb';
import type { FileOps } from '../mm/vma';
import { writeSealBits } from '../mm/memfd_seal';
import { setMemoryMerge } from '../mm/syscalls/prctl_memory_merge';
import type { VmFile } from '../mm/vma';
import type { Syscall, SyscallEvent } from '../trace/event';
import { readFd } from '../trace/strace/fd';
import { USERFAULTFD_PATH } from './file_table';
import { openUffd, uffdOf } from './userfaultfds';
import { withoutSelf } from './clear_refs';
import { unmappableMadeBy } from './unmappable_files';
import { notePkeys } from './key_events';
import type { Life, Segment, World } from './world';

/** Calls that change no mapping but what later mappings mean. All succeeded. */

/** openat, close, memfd_create, shmget: what descriptors and segments are. */
export function noteFile(world: World, life: Life, { call, result }: SyscallEvent): void {
  const value = result.kind === 'value' ? Number(result.value) : -1;
  switch (call.name) {
    case 'openat':
      life.files.open(
        value,
        withoutSelf(call.resolved ?? call.path, life.pid),
        writableBy(call.flags),
        false,
        call.flags.includes('O_WRONLY') ? false : undefined,
        opsOfOpen(call.flags),
      );
      life.files.closeOnExec(value, call.flags.includes('O_CLOEXEC'));
      return;
    case 'close':
      if (call.fd.path === USERFAULTFD_PATH) uffdOf(world, life, call.fd);
      closed(world, life.files.close(call.fd.fd));
      return;
    case 'shmget':
      if (typeof call.size === 'number') world.segments.set(value, segmentOf(world, value, call.size, call));
      return;
    case 'other':
      noteOther(world, life, call.syscall, call.args, value);
      for (const made of unmappableMadeBy(call.syscall, call.args, value)) {
        life.files.open(made.fd, made.path, made.writable, false, made.readable);
        life.files.closeOnExec(made.fd, made.closeOnExec);
      }
      notePkeys(world, life, call.syscall, call.args, value);
      if (call.syscall === 'fcntl') noteFcntl(world, life, call.args, value);
      return;
    default:
      return;
  }
}

function noteOther(world: World, life: Life, syscall: string, args: readonly string[], value: number): void {
  const [first = '', second = '', third = ''] = args;
  if (syscall === 'memfd_create') {
    const path = `/memfd:${quoted(first)}`;
    const hugePage = hugePageIn(second, 'MFD');
    if (hugePage === undefined) life.files.open(value, path, true, true);
    else life.files.openHuge(value, path, true, true, hugePage);
    life.files.closeOnExec(value, second.includes('MFD_CLOEXEC'));
  }
  if (syscall === 'memfd_secret') life.files.open(value, '/secretmem', true, true);
  if (syscall === 'pidfd_open') life.files.open(value, `pid:${first}`, null);
  if (syscall === 'userfaultfd') openUffd(world, life, value, first.includes('O_CLOEXEC'));
  if (/^dup[23]?$/.test(syscall)) duplicate(world, life, first, value, third.includes('O_CLOEXEC'));
  if (syscall === 'close_range') closeRange(world, life, Number(first), Number(second), third);
}

/** `to` becomes a second descriptor of `from`; what it was before is closed. */
function duplicate(world: World, life: Life, from: string, to: number, closeOnExec: boolean): void {
  const fd = readFd(from, 0, from.length);
  if (fd === undefined || fd.fd === to) return;
  closed(world, life.files.duplicate(fd, to));
  life.files.closeOnExec(to, closeOnExec);
}

/** close_range(first, last, flags): with CLOSE_RANGE_CLOEXEC they are marked only, with _UNSHARE the table is our own first. */
function closeRange(world: World, life: Life, first: number, last: number, flags: string): void {
  if (flags.includes('UNSHARE')) life.files = life.files.fork();
  for (const fd of life.files.within(first, last)) {
    if (flags.includes('CLOEXEC')) life.files.closeOnExec(fd, true);
    else closed(world, life.files.close(fd));
  }
}

function closed(world: World, file: VmFile | undefined): void {
  if (file !== undefined && world.system.userfaultfds.has(file.id)) world.releaseUnheld();
}

/** fcntl: copies of descriptors, FD_CLOEXEC, and F_ADD_SEALS on a memfd, of which those are kept that mmap asks for. */
function noteFcntl(
  world: World,
  life: Life,
  [fd = '', command = '', argument = '']: readonly string[],
  value: number,
): void {
  if (command.startsWith('F_DUPFD')) duplicate(world, life, fd, value, command.endsWith('_CLOEXEC'));
  const from = readFd(fd, 0, fd.length);
  if (from === undefined) return;
  if (command === 'F_SETFD') life.files.closeOnExec(from.fd, argument.includes('FD_CLOEXEC'));
  const file = command === 'F_ADD_SEALS' ? life.files.fileOf(from) : null;
  if (file === null) return;
  const { memfdSeals } = world.system;
  memfdSeals.set(file.id, (memfdSeals.get(file.id) ?? 0) | writeSealBits(argument));
}

/** `SHM_HUGETLB|21<<SHM_HUGE_SHIFT`, or the same of a memfd: pages of 4 KiB in its pages; undefined for ordinary ones. */
function hugePageIn(flags: string, prefix: 'MFD' | 'SHM'): number | undefined {
  if (!flags.split('|').includes(`${prefix}_HUGETLB`)) return undefined;
  const log = Number(new RegExp(`(?:^|\\|)(\\d+)<<${prefix}_HUGE_SHIFT`).exec(flags)?.[1] ?? 0);
  return hugePageOfLog(log) ?? DEFAULT_HUGE_PAGE;
}

/** A segment that exists is what it was made as, whatever a later shmget asks. */
function segmentOf(
  world: World,
  id: number,
  size: number,
  { key, flags }: Syscall & { readonly name: 'shmget' },
): Segment {
  const hugePage = hugePageIn(flags, 'SHM') ?? world.segments.get(id)?.hugePage;
  return { size, key: keyText(key), ...(hugePage === undefined ? {} : { hugePage }) };
}

/** The text of a quoted argument. */
function quoted(argument: string | undefined): string {
  return /^"(.*)"$/.exec(argument ?? '')?.[1] ?? '';
}

/** What the flags of an open tell of the file, whatever its path. */
function opsOfOpen(flags: string): FileOps | undefined {
  if (flags.includes('O_PATH')) return 'path-only';
  return flags.includes('O_DIRECTORY') ? 'unmappable' : undefined;
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
