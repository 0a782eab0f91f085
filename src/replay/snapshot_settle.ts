import { assert } from '../base/assert';
import { vpnOf } from '../mm/addr';
import type { Mm } from '../mm/mm';
import { anonVmaPrepare } from '../mm/fault';
import { pkeyFlags, pkeyIsAllocated, pkeyOf } from '../mm/pkeys';
import { growDown } from '../mm/stack_growth';
import { setVma, vmaAt } from '../mm/vma_modify';
import {
  hasAny,
  intersect,
  union,
  unionOf,
  VM_ACCESS_FLAGS,
  VM_ACCOUNT,
  VM_EXEC,
  VM_GROWSDOWN,
  VM_NONE,
  VM_PKEY_MASK,
  VM_SHARED,
  VM_SPECIAL,
  VM_WRITE,
  without,
} from '../mm/vm_flags';
import { untouchedOf, vmaResized, type Vma } from '../mm/vma';
import type { MapsEntry } from '../procfs/maps_entry';
import { entryOfVma, shownKey } from './maps_view';

/**
 * What a snapshot tells that no trace can: page faults. The rules leave these open, so taking them over is learning,
 * not a difference. Nothing else is ever taken over here.
 */

/** Has the snapshot seen private pages in this mapping (present or swapped out)? */
function wasWritten(entry: MapsEntry): boolean {
  return ['Anonymous', 'Swap'].some((name) => {
    const field = entry.smaps?.fields.get(name);
    return field?.kind === 'number' && field.value > 0;
  });
}

/** Index of the VMA with exactly this range; -1 if there is none. */
function indexOf(mm: Mm, entry: MapsEntry): number {
  const index = mm.tree.find(entry.start);
  const vma = mm.tree.at(index);
  return vma !== undefined && vma.start === entry.start && vma.end === entry.end ? index : -1;
}

/** Private memory with pages of its own has been written to: it has an anon_vma. */
export function settleFaults(mm: Mm, entries: readonly MapsEntry[]): void {
  for (const entry of entries) {
    const index = wasWritten(entry) ? indexOf(mm, entry) : -1;
    if (index >= 0 && !hasAny(vmaAt(mm, index).flags, VM_SHARED)) anonVmaPrepare(mm, index);
  }
}

/**
 * Before a comparison: memory that was written to before mprotect took its write permission away keeps its commit charge
 * (mprotect_fixup), also the part that has no page itself, as a guard page has none. Where the trace did not show the write,
 * the replay dropped the charge. Returns how many VMAs.
 */
export function settleCharges(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  for (const entry of entries) {
    const index = entry.smaps?.vmFlags?.includes('ac') === true ? indexOf(mm, entry) : -1;
    if (index < 0) continue;
    const vma = vmaAt(mm, index);
    if (vma.anonVma !== 0 || vma.file !== null || hasAny(vma.flags, unionOf(VM_ACCOUNT, VM_WRITE, VM_SHARED)))
      continue;
    if (!wasWritten(entry) && untouchedOf(vma) === 'sure') continue;
    setVma(mm, index, { flags: union(vma.flags, VM_ACCOUNT) });
    // Only an anon_vma keeps the charge.
    anonVmaPrepare(mm, index);
    settled++;
  }
  return settled;
}

/**
 * Before a comparison: a file that was unlinked since it was mapped; few traces show unlink. What is learned holds for every
 * mapping of that open file here. Returns how many VMAs.
 */
export function settleDeletions(mm: Mm, entries: readonly MapsEntry[]): number {
  const gone = new Set<number>();
  for (const entry of entries) {
    const file = entry.deleted ? mm.tree.at(indexOf(mm, entry))?.file : undefined;
    if (file?.path === entry.path && !file.deleted) gone.add(file.id);
  }
  if (gone.size === 0) return 0;
  let settled = 0;
  for (let index = 0; index < mm.tree.count; index++) {
    const { file } = vmaAt(mm, index);
    if (file === null || !gone.has(file.id)) continue;
    setVma(mm, index, { file: { ...file, deleted: true } });
    settled++;
  }
  return settled;
}

/**
 * Before a comparison: which key is that of execute-only memory, where the trace does not show every key being allocated.
 * Returns how many VMAs have another one than was taken.
 */
export function settleExecuteOnlyKey(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  const guessed = mm.scalars.pkeys.executeOnly;
  if (guessed === null || pkeyIsAllocated(mm, guessed) !== undefined) return 0;
  for (const entry of entries) {
    const key = shownKey(entry) ?? 0;
    const index = key === 0 || key === guessed || entry.perms !== '--xp' ? -1 : indexOf(mm, entry);
    const flags = index < 0 ? VM_NONE : vmaAt(mm, index).flags;
    if (pkeyOf(flags) !== guessed || intersect(flags, VM_ACCESS_FLAGS) !== VM_EXEC) continue;
    setVma(mm, index, { flags: union(without(flags, VM_PKEY_MASK), pkeyFlags(key)) });
    mm.scalars = { ...mm.scalars, pkeys: { ...mm.scalars.pkeys, executeOnly: key } };
    settled++;
  }
  return settled;
}

/** Before a comparison: memory that grows down may have grown by faults. Returns how many VMAs did. */
export function settleStackGrowth(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  for (const entry of entries) {
    const index = mm.tree.find(entry.start);
    const vma = mm.tree.at(index);
    if (vma === undefined || vma.end !== entry.end || vma.start <= entry.start) continue;
    if (!hasAny(vma.flags, VM_GROWSDOWN)) continue;
    // Under which limits and beside which neighbours it grew is past; only room it must have had.
    if (vma.pgoff < vma.start - entry.start || mm.firstIn(entry.start, vma.start) !== undefined) continue;
    growDown(mm, index, entry.start);
    settled++;
  }
  return settled;
}

/**
 * Before a comparison: whether equal neighbours are one VMA or two can depend on who wrote to which page first. Where
 * the snapshot draws such borders otherwise, and nothing else differs, its borders are taken over:
 *
 *   replay    AAAAAAAA        or   AAAA|AAAA
 *   snapshot  AAAA|AAAA            AAAAAAAA
 *
 * Returns how many borders.
 */
export function settleBorders(mm: Mm, entries: readonly MapsEntry[]): number {
  let settled = 0;
  let b = 0;
  for (let a = 0; a < mm.tree.count && b < entries.length;) {
    const vma = mm.tree.at(a);
    const entry = entries[b];
    if (vma === undefined || entry === undefined) break;
    if (vma.start < entry.start) a++;
    else if (entry.start < vma.start) b++;
    else {
      const run = runOf(mm, a, entries, b);
      if (run !== undefined && bordersAreOpen(mm, run)) {
        mm.replace(
          a,
          run.vmas.length,
          run.entries.map((piece) => pieceOf(mm, run, piece)),
        );
        settled += Math.abs(run.entries.length - run.vmas.length) || 1;
      }
      a += run?.entries.length ?? 1;
      b += run?.entries.length ?? 1;
    }
  }
  return settled;
}

/** The same memory in both, drawn with other borders. */
interface Run {
  readonly vmas: readonly Vma[];
  readonly entries: readonly MapsEntry[];
}

/** From VMA `a` and entry `b`, which begin together, to where both end together; undefined where they agree or never do. */
function runOf(mm: Mm, a: number, entries: readonly MapsEntry[], b: number): Run | undefined {
  const left = [vmaAt(mm, a)];
  const right = entries.slice(b, b + 1);
  for (;;) {
    const end = left[left.length - 1]?.end ?? 0;
    const other = right[right.length - 1]?.end ?? 0;
    if (end === other) break;
    const next = end < other ? mm.tree.at(a + left.length) : entries[b + right.length];
    if (next === undefined || next.start !== Math.min(end, other)) return undefined;
    if (end < other) left.push(next as Vma);
    else right.push(next as MapsEntry);
  }
  return left.length === 1 && right.length === 1 ? undefined : { vmas: left, entries: right };
}

/** Do all pieces look the same and could their memory have been written to? */
function bordersAreOpen(mm: Mm, { vmas, entries }: Run): boolean {
  const [first] = vmas;
  if (first === undefined) return false;
  const looks = entryOfVma(first, mm.scalars, mm.rules);
  const like = (entry: MapsEntry): boolean =>
    entry.perms === looks.perms &&
    entry.path === looks.path &&
    entry.deleted === looks.deleted &&
    (entry.smaps?.vmFlags ?? looks.smaps?.vmFlags)?.join() === looks.smaps?.vmFlags?.join() &&
    vpnOf(entry.offset) - vpnOf(looks.offset) === (first.file === null ? 0 : entry.start - first.start);
  const open = vmas.some((vma) => vma.anonVma !== 0 || untouchedOf(vma) !== 'sure');
  return (
    open &&
    !hasAny(first.flags, union(VM_SHARED, VM_SPECIAL)) &&
    vmas.every((vma) => like(entryOfVma(vma, mm.scalars, mm.rules))) &&
    entries.every(like)
  );
}

/** A piece as the snapshot draws it; pieces that stay apart are under anon_vmas of their own. */
function pieceOf(mm: Mm, { vmas, entries }: Run, piece: MapsEntry): Vma {
  const source = vmas.find((vma) => vma.start <= piece.start && piece.start < vma.end) ?? vmas[0];
  assert(source !== undefined, 'a piece lies in the run');
  const sized = vmaResized(source, piece.start, piece.end);
  return entries.length > vmas.length ? { ...sized, anonVma: mm.newAnonVma() } : sized;
}
