import { assert } from '../base/assert';
import type { Mm, UffdFeatures, UffdOffers, UserfaultfdCtx } from '../mm/mm';
import { uffdFilled } from '../mm/syscalls/userfaultfd';
import { NO_UFFD_FEATURES } from '../mm/userfaultfd_ctx';
import type { FdArg, Syscall, SyscallEvent } from '../trace/event';
import { USERFAULTFD_PATH } from './file_table';
import type { Life, World } from './world';

/** Userfaultfds of a trace: which context a descriptor is, and when the last descriptor of one is closed. */

const EVENT_FORK = 0x2;
const EVENT_REMAP = 0x4;
const WP_ASYNC = 0x8000;
const PAGEFAULT_FLAG_WP = 0x1;
const MINOR_SHMEM = 0x400;
const WP_HUGETLBFS_SHMEM = 0x1000;

/** A successful userfaultfd(2): it watches the memory of its caller. */
export function openUffd(world: World, life: Life, fd: number, closeOnExec: boolean): void {
  if (life.mm === null) return;
  const file = life.files.open(fd, USERFAULTFD_PATH, null);
  life.files.closeOnExec(fd, closeOnExec);
  world.system.userfaultfds.set(file.id, newUffd(file.id, life.mm, false));
}

/**
 * The context behind a descriptor that a request of userfaultfd was made on. One that was opened unseen is that of a fork
 * whose descriptor was awaited, else one of the caller's own.
 */
export function uffdOf(world: World, life: Life, fd: FdArg): UserfaultfdCtx {
  const { userfaultfds } = world.system;
  const file = life.files.fileOf(fd);
  const known = file === null ? undefined : userfaultfds.get(file.id);
  if (known !== undefined) return known;
  const awaited = [...userfaultfds.values()].find(({ descriptor }) => descriptor === 'awaited');
  if (awaited !== undefined) {
    const held = { ...awaited, descriptor: 'known' as const };
    userfaultfds.set(held.id, held);
    life.files.hold(fd.fd, USERFAULTFD_PATH, held.id);
    return held;
  }
  assert(life.mm !== null, 'who makes a request is alive');
  const made = newUffd(file?.id ?? world.system.ids.file++, life.mm, undefined);
  if (file !== null) userfaultfds.set(made.id, made);
  return made;
}

function newUffd(id: number, mm: Mm, initialized: boolean | undefined): UserfaultfdCtx {
  return { id, mm, initialized, features: NO_UFFD_FEATURES, offers: undefined, descriptor: 'known' };
}

/** Whose memory a call is about: that of the userfaultfd it is made on, else the caller's own. */
export function memoryOf(world: World, life: Life, call: Syscall): Mm | null {
  if (call.name !== 'uffd_register' && call.name !== 'uffd_unregister') return life.mm;
  return uffdOf(world, life, call.fd).mm;
}

/** Requests that change no mapping: UFFDIO_API tells what the context is, pages put that private memory was touched. */
export function noteUffd(world: World, life: Life, { call, result }: SyscallEvent): void {
  const done = result.kind === 'value';
  if (life.mm === null) return;
  if (call.name === 'uffd_api' && done) {
    const ctx = uffdOf(world, life, call.fd);
    const { offered } = call;
    const offers = offered === undefined ? undefined : offersOf(offered);
    const features = featuresOf(call.features);
    world.system.userfaultfds.set(ctx.id, { ...ctx, initialized: true, features, offers });
  }
  // EEXIST: a page is there already, which shows after the VMA got its anon_vma.
  if (call.name === 'uffd_fill' && (done || (result.kind === 'errno' && result.errno === 'EEXIST'))) {
    const ctx = uffdOf(world, life, call.fd);
    uffdFilled(ctx, call.addr);
    world.touch(ctx.mm);
  }
}

function featuresOf(bits: number): UffdFeatures {
  return {
    eventFork: (bits & EVENT_FORK) !== 0,
    eventRemap: (bits & EVENT_REMAP) !== 0,
    wpAsync: (bits & WP_ASYNC) !== 0,
  };
}

function offersOf(bits: number): UffdOffers {
  return {
    wp: (bits & PAGEFAULT_FLAG_WP) !== 0,
    wpShmem: (bits & WP_HUGETLBFS_SHMEM) !== 0,
    minorShmem: (bits & MINOR_SHMEM) !== 0,
  };
}
