import { ok } from '../base/result';
import { bytesOfVpn, pageAligned, pageAlignUp, vpnAdd, vpnOf, type U64 } from '../mm/addr';
import { refuse, type Prediction } from '../mm/refusal';
import { sysBrk } from '../mm/syscalls/brk';
import { sysMadvise } from '../mm/syscalls/madvise';
import { sysMlock, sysMlock2, sysMlockall, sysMunlock, sysMunlockall } from '../mm/syscalls/mlock';
import {
  MAP_ANONYMOUS,
  MAP_FIXED,
  MAP_SHARED,
  PROT_EXEC,
  PROT_READ,
  PROT_WRITE,
  sysMmap,
} from '../mm/syscalls/mmap';
import { sysMprotect } from '../mm/syscalls/mprotect';
import { sysMremap } from '../mm/syscalls/mremap';
import { sysMseal } from '../mm/syscalls/mseal';
import { sysMunmap, unmapRange } from '../mm/syscalls/munmap';
import { sysSetAnonName, type WantedName } from '../mm/syscalls/prctl_set_vma';
import type { Mm } from '../mm/mm';
import { hasAny, VM_EXEC, VM_READ, VM_SHARED, VM_WRITE } from '../mm/vm_flags';
import type { NameArg, Syscall } from '../trace/event';
import { byteLength } from './call_text';
import type { Life, World } from './world';

/** SHM_RDONLY, SHM_REMAP and SHM_EXEC of shmat. */
const SHM_RDONLY = 0x1000;
const SHM_REMAP = 0x4000;
const SHM_EXEC = 0x8000;

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
      return detach(mm, call.addr);
    case 'remap_file_pages':
      return remapFilePages(mm, call);
    case 'process_madvise':
    case 'prctl':
    case 'shmget':
    case 'clone':
    case 'execve':
    case 'exit':
    case 'openat':
    case 'close':
    case 'personality':
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
      return { certainty: 'pointer', text: '' };
  }
}

/** do_shmat: the whole segment, each attach a file of its own. An unknown segment is taken as one page. */
function attach(
  world: World,
  life: Life,
  mm: Mm,
  call: Syscall & { readonly name: 'shmat' },
  placedAt: U64 | undefined,
): Prediction {
  const segment = world.segments.get(call.id);
  const readOnly = (call.flags & SHM_RDONLY) !== 0;
  const prot = PROT_READ | (readOnly ? 0 : PROT_WRITE) | ((call.flags & SHM_EXEC) !== 0 ? PROT_EXEC : 0);
  const key = segment?.key ?? '00000000';
  const file = {
    ...life.files.make(`/SYSV${key}`, true, !readOnly, 'sysv'),
    inode: String(call.id),
    dev: '00:01',
  };
  const fixed = call.addr !== 0 && pageAligned(call.addr);
  const length = segment?.size ?? 4096;
  if (fixed && (call.flags & SHM_REMAP) === 0) {
    const there = mm.firstIn(vpnOf(call.addr), vpnAdd(vpnOf(call.addr), pageAlignUp(length)));
    if (there !== undefined)
      return refuse('EINVAL', 'something is mapped there and SHM_REMAP is not set', there);
  }
  const flags = MAP_SHARED | (fixed ? MAP_FIXED : 0);
  return sysMmap(mm, { addr: fixed ? call.addr : 0, length, prot, flags, file, offset: 0, placedAt });
}

/** ksys_shmdt: every VMA of the segment whose place fits the attach address; seals are passed over in silence. */
function detach(mm: Mm, addr: U64): Prediction {
  const first = mm.tree.lookup(vpnOf(addr));
  if (first?.file?.ops !== 'sysv' || first.start - first.pgoff !== vpnOf(addr)) {
    return refuse('EINVAL', 'no SysV segment is attached there');
  }
  const file = first.file;
  const pieces = mm.tree.all().filter((vma) => vma.file === file && vma.start - vma.pgoff === vpnOf(addr));
  for (const vma of pieces) unmapRange(mm, vma.start, vma.end);
  return ok(0);
}

/** remap_file_pages is an mmap(MAP_FIXED|MAP_SHARED) of the same file with the old protection. */
function remapFilePages(mm: Mm, call: Syscall & { readonly name: 'remap_file_pages' }): Prediction {
  const start = vpnOf(call.addr);
  const vma = mm.tree.lookup(start);
  if (
    call.prot !== 0 ||
    call.size === 0 ||
    vma === undefined ||
    vma.file === null ||
    !hasAny(vma.flags, VM_SHARED)
  ) {
    return refuse('EINVAL', 'remap_file_pages needs one shared file mapping and protection 0', vma ?? null);
  }
  const prot =
    (hasAny(vma.flags, VM_READ) ? PROT_READ : 0) |
    (hasAny(vma.flags, VM_WRITE) ? PROT_WRITE : 0) |
    (hasAny(vma.flags, VM_EXEC) ? PROT_EXEC : 0);
  const mapped = sysMmap(mm, {
    addr: bytesOfVpn(start),
    length: call.size,
    prot,
    flags: MAP_SHARED | MAP_FIXED,
    file: vma.file,
    offset: bytesOfVpn(Number(call.pgoff)),
    placedAt: undefined,
  });
  return mapped.ok ? ok(0) : mapped;
}
