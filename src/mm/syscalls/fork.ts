import { Mm } from '../mm';
import { withoutPages } from '../page_ranges';
import { forkedUffd } from '../userfaultfd_ctx';
import { untouchedOf, type Vma } from '../vma';
import {
  hasAny,
  VM_DONTCOPY,
  VM_LOCKED_MASK,
  VM_UFFD_FLAGS,
  VM_WIPEONFORK,
  unionOf,
  without,
} from '../vm_flags';

/**
 * fork: dup_mmap in kernel/fork.c (mm/mmap.c since 6.17). The child's VMAs take references on the parent's name
 * objects; nothing is copied.
 */
export function dupMm(parent: Mm): Mm {
  const child = new Mm(parent.system);
  const vmas: Vma[] = [];
  const uffds = new Map<number, number>();
  let guards = parent.scalars.guards;
  for (const vma of parent.tree.all()) {
    if (!hasAny(vma.flags, VM_DONTCOPY))
      vmas.push(forkedVma(parent, vma, forkedUffd(child, vma.uffd, uffds)));
    // Guard markers are copied with the page tables, which wiped memory does not take along.
    if (hasAny(vma.flags, unionOf(VM_DONTCOPY, VM_WIPEONFORK)))
      guards = withoutPages(guards, vma.start, vma.end);
  }
  child.replace(0, 0, vmas);
  child.scalars = {
    ...parent.scalars,
    guards,
    defFlags: without(parent.scalars.defFlags, VM_LOCKED_MASK),
    mdwe: parent.scalars.mdwe && !parent.scalars.mdweOwn,
    mdweOwn: false,
  };
  return child;
}

function forkedVma(parent: Mm, vma: Vma, uffd: number | null): Vma {
  const flags = without(vma.flags, uffd === null ? unionOf(VM_LOCKED_MASK, VM_UFFD_FLAGS) : VM_LOCKED_MASK);
  const name = parent.nameForHolder(vma.name);
  // Wiped memory starts untouched in the child; other touched memory gets an anon_vma of the child's own, linked
  // to the parent's: its chain is longer than one from now on.
  const touched = vma.anonVma !== 0 && !hasAny(vma.flags, VM_WIPEONFORK);
  const anonVma = touched ? parent.newAnonVma() : 0;
  // Memory that may have been written to by now would be inherited in the same way.
  const sure = untouchedOf(vma) === 'sure' || hasAny(vma.flags, VM_WIPEONFORK);
  return {
    ...vma,
    flags,
    name,
    anonVma,
    forkChild: touched,
    untouched: sure ? 'sure' : 'before-fork',
    uffd,
  };
}
