import type { U64 } from '../mm/addr';
import type { Mm } from '../mm/mm';
import { hugeAlignUp } from '../mm/hugetlb';
import { refuse, type Prediction } from '../mm/refusal';
import { sysBrk } from '../mm/syscalls/brk';
import { sysMbind, sysSetMempolicyHomeNode } from '../mm/syscalls/mbind';
import { sysMadvise } from '../mm/syscalls/madvise';
import { sysMlock, sysMlock2, sysMlockall, sysMunlock, sysMunlockall } from '../mm/syscalls/mlock';
import { MAP_ANONYMOUS, sysMmap } from '../mm/syscalls/mmap';
import { sysMprotect } from '../mm/syscalls/mprotect';
import { sysMremap } from '../mm/syscalls/mremap';
import { sysMseal } from '../mm/syscalls/mseal';
import { sysMunmap } from '../mm/syscalls/munmap';
import { sysSetAnonName, type WantedName } from '../mm/syscalls/prctl_set_vma';
import { checkProcessMadvise, sysProcessMadvise } from '../mm/syscalls/process_madvise';
import { sysRemapFilePages } from '../mm/syscalls/remap_file_pages';
import { segmentFile, SHM_RDONLY, sysShmat, sysShmdt } from '../mm/syscalls/shm';
import { sysUffdRegister, sysUffdUnregister } from '../mm/syscalls/userfaultfd';
import type { FdArg, NameArg, Syscall } from '../trace/event';
import { byteLength } from './call_text';
import { withHugePages } from './file_table';
import { uffdOf } from './userfaultfds';
import type { Life, World } from './world';

/**
 * Runs a call on the process's address space and returns what the rules predict; undefined for a call that no rule
 * models. `placedAt` is the address of the record, for a place that the kernel chose.
 */
export function dispatch(
  world: World,
  life: Life,
  mm: Mm,
  call: Syscall,
  placedAt: U64 | undefined,
  at: { readonly line: number; readonly pid: number },
): Prediction | undefined {
  mm.limits = life.limits;
  switch (call.name) {
    case 'mmap': {
      const file = (call.flags & MAP_ANONYMOUS) !== 0 ? null : life.files.fileOf(call.fd);
      return sysMmap(mm, { ...call, file, placedAt });
    }
    case 'munmap':
      return sysMunmap(mm, call.addr, call.length);
    case 'mprotect':
      return sysMprotect(mm, call.addr, call.length, call.prot);
    case 'pkey_mprotect':
      return sysMprotect(mm, call.addr, call.length, call.prot, call.pkey);
    case 'mremap':
      return sysMremap(mm, { ...call, newAddr: call.newAddr ?? 0, placedAt });
    case 'madvise':
      return sysMadvise(mm, call.addr, call.length, call.advice);
    case 'mseal':
      return sysMseal(mm, call.addr, call.length, call.flags);
    case 'prctl_set_vma':
      return sysSetAnonName(mm, call.option, call.addr, call.length, wantedName(call.vmaName), at);
    case 'brk':
      return sysBrk(mm, call.addr);
    case 'mlock':
      return sysMlock(mm, call.addr, call.length);
    case 'mbind':
      return sysMbind(mm, call);
    case 'set_mempolicy_home_node':
      return sysSetMempolicyHomeNode(mm, call.addr, call.length, call.node, call.flags);
    case 'uffd_register':
      return sysUffdRegister(uffdOf(world, life, call.fd), call.addr, call.length, call.mode);
    case 'uffd_unregister':
      return sysUffdUnregister(uffdOf(world, life, call.fd), call.addr, call.length);
    case 'mlock2':
      return sysMlock2(mm, call.addr, call.length, call.flags);
    case 'munlock':
      return sysMunlock(mm, call.addr, call.length);
    case 'mlockall':
      return sysMlockall(mm, call.flags);
    case 'munlockall':
      return sysMunlockall(mm);
    case 'shmat':
      return attach(world, life, mm, call, placedAt);
    case 'shmdt':
      return sysShmdt(mm, call.addr);
    case 'remap_file_pages':
      return sysRemapFilePages(mm, call);
    case 'process_madvise':
      return processMadvise(world, life, call);
    case 'prctl':
    case 'shmget':
    case 'clone':
    case 'execve':
    case 'exit':
    case 'openat':
    case 'close':
    case 'personality':
    case 'uffd_api':
    case 'uffd_fill':
    case 'other':
      return undefined;
  }
}

function wantedName(name: NameArg): WantedName {
  switch (name.kind) {
    case 'null':
      return null;
    case 'text':
      if (name.truncated) return { certainty: 'prefix', text: name.text };
      return { certainty: 'exact', text: name.text, byteLength: byteLength(name.text) };
    case 'pointer':
      return name.unreadable === true ? { certainty: 'unreadable' } : { certainty: 'pointer', text: '' };
  }
}

/** Each attach has an open file of its own. An unknown segment is taken as one page. */
function attach(
  world: World,
  life: Life,
  mm: Mm,
  call: Syscall & { readonly name: 'shmat' },
  placedAt: U64 | undefined,
): Prediction {
  const segment = world.segments.get(call.id);
  const asked = segment?.size ?? 4096;
  const hugePage = segment?.hugePage;
  const size = hugePage === undefined ? asked : hugeAlignUp(asked, hugePage);
  const ordinary = life.files.make(`/SYSV${segment?.key ?? '00000000'}`, true, null, 'sysv');
  const made = hugePage === undefined ? ordinary : withHugePages(ordinary, hugePage);
  const file = segmentFile(made, size, (call.flags & SHM_RDONLY) !== 0);
  return sysShmat(mm, {
    id: call.id,
    addr: call.addr,
    flags: call.flags,
    file: { ...file, inode: String(call.id), dev: '00:01' },
    size,
    placedAt,
  });
}

/** PIDFD_SELF_THREAD and PIDFD_SELF_THREAD_GROUP (since 6.14; numbered otherwise before 6.16). */
const PIDFD_SELF: ReadonlySet<number> = new Set([-10000, -10001, -20000]);

/** Whose memory a pidfd names: by its note (-yy), or by the pidfd_open that made it. undefined where neither tells. */
function pidfdTarget(world: World, life: Life, pidfd: FdArg): Life | undefined {
  if (PIDFD_SELF.has(pidfd.fd)) return life;
  const pid = /^pid:(\d+)$/.exec(life.files.fileOf(pidfd)?.path ?? '')?.[1];
  return pid === undefined ? undefined : world.lifeOf(Number(pid));
}

/** The kernels that know PIDFD_SELF are those that take any advice for the caller itself. */
function isNoPidfd(world: World, life: Life, pidfd: FdArg): boolean {
  if (PIDFD_SELF.has(pidfd.fd)) return !world.system.rules.processMadviseSelfAny;
  const path = life.files.fileOf(pidfd)?.path;
  return path === undefined || /^(?:\/|pipe:|socket:|anon_inode:(?!\[pidfd\]))/.test(path);
}

function processMadvise(
  world: World,
  life: Life,
  call: Syscall & { readonly name: 'process_madvise' },
): Prediction | undefined {
  const checked = checkProcessMadvise(call.ranges, call.flags);
  if (!checked.ok) return checked;
  if (isNoPidfd(world, life, call.pidfd)) return refuse('EBADF', 'the descriptor is no pidfd');
  const target = pidfdTarget(world, life, call.pidfd);
  if (target === undefined) return undefined;
  if (target.mm === null) return refuse('ESRCH', 'the process has ended');
  return sysProcessMadvise(target.mm, call.ranges, call.advice, call.flags, target.mm === life.mm);
}
