import type { Mm } from './mm';
import { intersect, VM_ACCESS_FLAGS, VM_EXEC, VM_PKEY_BIT0, VM_PKEY_MASK, type VmFlags } from './vm_flags';

/**
 * Memory protection keys of x86: arch/x86/include/asm/pkeys.h and arch/x86/mm/pkeys.c. Key 0 is everybody's from the
 * beginning. Which others are allocated is known only as far as calls showed it.
 */

const KEYS = 16;

/** vma_pkey */
export function pkeyOf(flags: VmFlags): number {
  return intersect(flags, VM_PKEY_MASK) / VM_PKEY_BIT0;
}

/** The bits of a key, 0 to 15. */
export function pkeyFlags(pkey: number): VmFlags {
  return (pkey * VM_PKEY_BIT0) as VmFlags;
}

/**
 * mm_pkey_is_allocated: may calls name this key? undefined where that is not known. A processor without keys has none, not
 * even key 0; the execute-only key is nobody's to use.
 */
export function pkeyIsAllocated(mm: Mm, pkey: number): boolean | undefined {
  if (!mm.has('pkeys') || pkey < 0 || pkey >= KEYS) return false;
  const { allocated, executeOnly } = mm.scalars.pkeys;
  if ((allocated & (1 << pkey)) !== 0) return pkey !== executeOnly;
  return isFree(mm, pkey) ? false : undefined;
}

/** Is it known that nobody has allocated this key? A trace of memory calls alone (%memory) does not show pkey_alloc. */
function isFree(mm: Mm, pkey: number): boolean {
  const { allocated, free, fresh } = mm.scalars.pkeys;
  const bit = 1 << pkey;
  return (free & bit) !== 0 || (fresh && mm.system.pkeys.traced && (allocated & bit) === 0);
}

/** A call showed whether a key is allocated. */
export function learnPkey(mm: Mm, pkey: number, allocated: boolean): void {
  const { pkeys } = mm.scalars;
  const bit = 1 << pkey;
  mm.scalars = {
    ...mm.scalars,
    pkeys: {
      ...pkeys,
      allocated: allocated ? pkeys.allocated | bit : pkeys.allocated & ~bit,
      free: allocated ? pkeys.free & ~bit : pkeys.free | bit,
      // A key that calls may name is not the one that we took for the execute-only one.
      executeOnly: allocated && pkeys.executeOnly === pkey ? null : pkeys.executeOnly,
    },
  };
}

/**
 * execute_only_pkey: the key of memory that is mapped with PROT_EXEC alone, allocated with the first of it. null where the
 * processor has none or all are taken. Which key is the lowest free one is a guess where the trace does not show them.
 */
export function executeOnlyPkey(mm: Mm): number | null {
  if (!mm.has('pkeys')) return null;
  const { pkeys } = mm.scalars;
  const { allocated, free, executeOnly } = pkeys;
  if (executeOnly !== null) return executeOnly;
  for (let key = 1; key < KEYS; key++) {
    const bit = 1 << key;
    if ((allocated & bit) !== 0) continue;
    const known = isFree(mm, key) ? { allocated: allocated | bit, free: free & ~bit } : {};
    mm.scalars = { ...mm.scalars, pkeys: { ...pkeys, ...known, executeOnly: key } };
    return key;
  }
  return null;
}

/** arch_override_mprotect_pkey: the key that memory with `flags` has after mprotect to `prot` (`pkey` -1) or pkey_mprotect. */
export function pkeyAfterMprotect(mm: Mm, flags: VmFlags, executeOnly: boolean, pkey: number): number {
  if (!mm.has('pkeys')) return 0;
  if (pkey !== -1) return pkey;
  const own = pkeyOf(flags);
  if (executeOnly) return executeOnlyPkey(mm) ?? own;
  const was = intersect(flags, VM_ACCESS_FLAGS) === VM_EXEC && own === mm.scalars.pkeys.executeOnly;
  return was ? 0 : own;
}
