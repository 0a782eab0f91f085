/** Says of each candidate whether it still fails. One call tests many, since starting a kernel takes its time. */
export type Trial<T> = (candidates: readonly (readonly T[])[]) => readonly boolean[];

/**
 * The shortest list found that still fails, by leaving out parts: halves first, single entries last, again until
 * nothing more can go. `items` itself must fail.
 */
export function shrinkList<T>(items: readonly T[], trial: Trial<T>): readonly T[] {
  let best = items;
  for (let size = Math.ceil(best.length / 2); size >= 1;) {
    const shorter = leaveOut(best, size, trial);
    if (shorter.length < best.length) best = shorter;
    else if (size === 1) break;
    else size = Math.ceil(size / 2);
    size = Math.min(size, Math.max(1, Math.ceil(best.length / 2)));
  }
  return best;
}

/** Tries each part of `size` entries, then as many of those that can go alone as can go together. */
function leaveOut<T>(items: readonly T[], size: number, trial: Trial<T>): readonly T[] {
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_, part) => part * size);
  const without = (gone: ReadonlySet<number>): readonly T[] =>
    items.filter((_, index) => !gone.has(Math.floor(index / size) * size));
  const alone = trial(starts.map((start) => without(new Set([start]))));
  const removable = starts.filter((_, part) => alone[part] === true);
  const groups = [1, 0.5, 0.25, 0.125]
    .map((share) => removable.slice(0, Math.ceil(removable.length * share)))
    .filter((group) => group.length > 0);
  if (groups.length === 0) return items;
  const candidates = groups.map((group) => without(new Set(group)));
  const fails = trial(candidates);
  // The smallest group need not fail when it has several parts; one part alone does.
  return candidates.find((_, index) => fails[index] === true) ?? without(new Set(removable.slice(0, 1)));
}

/**
 * Takes each entry's simpler forms over, one after another, as long as the list still fails. `simpler` lists the forms
 * of one entry, each to be tried alone.
 */
export function simplifyList<T>(
  items: readonly T[],
  simpler: (item: T) => readonly T[],
  trial: Trial<T>,
): readonly T[] {
  let best = items;
  for (;;) {
    const candidates = best.flatMap((item, index) => simpler(item).map((form) => best.with(index, form)));
    if (candidates.length === 0) return best;
    const fails = trial(candidates);
    const next = candidates.find((_, index) => fails[index] === true);
    if (next === undefined) return best;
    best = next;
  }
}

/** Simpler forms of a call: without one of its flags, or on one page. */
export function simplerCalls(line: string): readonly string[] {
  const forms: string[] = [];
  for (const flag of line.matchAll(/\|[A-Z_0-9]+|[A-Z_0-9]+\|/g)) {
    forms.push(line.slice(0, flag.index) + line.slice(flag.index + flag[0].length));
  }
  const long = /(?<=^\d+ \w+\([^,]*, )(?!4096\b)\d+(?=[,)])/.exec(line);
  if (long !== null) forms.push(line.replace(long[0], '4096'));
  return forms;
}
