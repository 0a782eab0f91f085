import { ok, type Result } from '../base/result';
import { vpn, type Vpn } from './addr';
import type { Mm } from './mm';
import type { Refusal } from './refusal';

/**
 * Visits each VMA of [start, end) in address order, clipped to the range; `visit` may split and join it. The first refusal
 * ends the walk, and earlier VMAs stay changed. Tells whether there was a gap; `gaps: 'stop'` ends the walk at one.
 */
export function visitVmas(
  mm: Mm,
  start: Vpn,
  end: Vpn,
  gaps: 'pass' | 'stop',
  visit: (index: number, start: Vpn, end: Vpn) => Result<unknown, Refusal>,
): Result<{ readonly gap: boolean }, Refusal> {
  let gap = false;
  let at = start;
  while (at < end) {
    const index = mm.tree.find(at);
    const vma = mm.tree.at(index);
    const next = vma === undefined || vma.start >= end ? end : vma.start;
    if (next > at) {
      gap = true;
      if (gaps === 'stop') break;
      at = next;
    }
    if (vma === undefined || at >= end) break;
    const until = vpn(Math.min(vma.end, end));
    const visited = visit(index, at, until);
    if (!visited.ok) return visited;
    at = until;
  }
  return ok({ gap });
}
