import { hexOfVpn } from '../mm/addr';
import type { Mm, VmaChange } from '../mm/mm';
import type { Vma } from '../mm/vma';
import { entryOfVma, lastColumn } from './maps_view';

/**
 * What a refused call changed all the same, in words: permissions, names and flags of what lay before the refusal, and
 * borders that stay where the call had split (mprotect over several VMAs; munmap since 6.12; see kernel-rules).
 */
export function leftBehind(mm: Mm, changes: readonly VmaChange[]): string[] {
  const { before, after } = netChange(changes);
  return before.flatMap((was) => {
    const pieces = after.filter((now) => now.start < was.end && was.start < now.end);
    const changed = pieces.flatMap((now) => attributeWords(mm, was, now));
    if (changed.length > 0) return changed;
    if (pieces.length < 2) return [];
    const borders = pieces.slice(1).map((piece) => hexOfVpn(piece.start));
    return [`${rangeText(was)} stays as it was, but is split at ${borders.join(' and ')}`];
  });
}

/** VMAs that were there before and are not any more, and those that came; what came and went again is neither. */
function netChange(changes: readonly VmaChange[]): { readonly before: Vma[]; readonly after: Vma[] } {
  const before = new Set<Vma>();
  const after = new Set<Vma>();
  for (const { removed, inserted } of changes) {
    for (const vma of removed) if (!after.delete(vma)) before.add(vma);
    for (const vma of inserted) if (!before.delete(vma)) after.add(vma);
  }
  const inOrder = (vmas: Iterable<Vma>): Vma[] => [...vmas].sort((a, b) => a.start - b.start);
  return { before: inOrder(before), after: inOrder(after) };
}

function attributeWords(mm: Mm, was: Vma, now: Vma): string[] {
  const old = entryOfVma(was, mm.scalars, mm.rules);
  const is = entryOfVma(now, mm.scalars, mm.rules);
  const range = rangeText({ start: Math.max(was.start, now.start), end: Math.min(was.end, now.end) });
  const words: string[] = [];
  if (old.perms !== is.perms) words.push(`${range} was ${old.perms} and is ${is.perms} now`);
  if (lastColumn(old) !== lastColumn(is)) words.push(`${range} is ${lastColumn(is) || 'without a name'} now`);
  const had = old.smaps?.vmFlags ?? [];
  const has = is.smaps?.vmFlags ?? [];
  const changed = [
    ...has.filter((flag) => !had.includes(flag)).map((flag) => `+${flag}`),
    ...had.filter((flag) => !has.includes(flag)).map((flag) => `-${flag}`),
  ];
  // Flags that follow from the permissions are told by them.
  if (words.length === 0 && changed.length > 0)
    words.push(`${range} has other flags now: ${changed.join(' ')}`);
  return words;
}

function rangeText({ start, end }: { readonly start: number; readonly end: number }): string {
  return `${hexOfVpn(start)}-${hexOfVpn(end)}`;
}
