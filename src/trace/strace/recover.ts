import { OPEN_PAREN, isWord } from './chars';
import { MEMORY_CALLS } from './calls';

/** More tries than a line with real output before a call needs; keeps the work per line linear. */
const MAX_TRIES = 4;
const LONGEST_NAME = Math.max(...[...MEMORY_CALLS].map((name) => name.length));

/**
 * Places in a line where a memory call may begin although something stands before it: output of the program
 * without a line end (`progress 50munmap(0x7f…, 4096) = 0`).
 */
export function callsInside(text: string, start: number, end: number): readonly number[] {
  const places: number[] = [];
  for (let p = start; p < end && places.length < MAX_TRIES; p++) {
    if (text.charCodeAt(p) !== OPEN_PAREN) continue;
    const begin = knownNameBefore(text, start, p);
    if (begin > start) places.push(begin);
  }
  return places;
}

/** Start of the longest name of a memory call that ends at `end`, -1 if there is none. */
function knownNameBefore(text: string, start: number, end: number): number {
  let from = end;
  while (from > start && end - from < LONGEST_NAME && isWord(text.charCodeAt(from - 1))) from--;
  for (let p = from; p < end; p++) if (MEMORY_CALLS.has(text.slice(p, end))) return p;
  return -1;
}
