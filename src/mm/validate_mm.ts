import { assert } from '../base/assert';
import type { AnonVmaName, AnonVmaNames } from './anon_vma_name';
import type { Mm } from './mm';
import { VPN_END } from './addr';

/**
 * `validate_mm`: VMAs ordered, apart and not empty in every address space, and every name object's count equal to the
 * number of VMAs that point to it. `mms` must be all that share `names`. Throws AssertionError. Returns how many VMAs it
 * looked at, which is what it costs.
 */
export function validateMm(mms: Iterable<Mm>, names: AnonVmaNames): number {
  const counted = new Map<AnonVmaName, number>();
  let visited = 0;
  for (const mm of mms) {
    visited += mm.tree.count;
    let floor = 0;
    for (const vma of mm.tree.all()) {
      assert(
        vma.start >= floor && vma.start < vma.end && vma.end <= VPN_END,
        'VMAs are ordered, apart and not empty',
      );
      floor = vma.end;
      assert(vma.pgoff >= 0, 'page offsets are not negative');
      if (vma.anonVma === 0) assert(!vma.forkChild, 'only touched memory is inherited');
      if (vma.name !== null) counted.set(vma.name, (counted.get(vma.name) ?? 0) + 1);
    }
  }
  const alive = names.alive();
  for (const [name, refs] of alive) {
    assert(
      counted.get(name) === refs,
      `name object ${name.id} has ${counted.get(name) ?? 0} holders and a count of ${refs}`,
    );
  }
  for (const name of counted.keys())
    assert(alive.has(name), `name object ${name.id} has holders and no count`);
  return visited;
}
