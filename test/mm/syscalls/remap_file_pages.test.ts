import { describe } from 'vitest';
import { MAP_SHARED } from '../../../src/mm/syscalls/mmap';
import { behaves } from '../behaves';
import { at, type Scenario } from '../scenario';

function remap(kernel: Scenario, page: number, pages: number, pgoff: number, prot = 0): Scenario {
  return kernel.call({ name: 'remap_file_pages', addr: at(page), size: pages * 4096, prot, pgoff, flags: 0 });
}

const file = (kernel: Scenario): Scenario => kernel.open(3, 'F').file(0, 4, 'rw', 3, 0, MAP_SHARED);

describe('remap_file_pages', () => {
  behaves('maps other pages of the same file', (k) => remap(file(k), 1, 1, 9), {
    all: '[0-1 rw sh ms F+0][1-2 rw sh ms F+9][2-4 rw sh ms F+2]',
  });
  behaves('back to where they belong joins them again', (k) => remap(remap(file(k), 1, 1, 9), 1, 1, 1), {
    all: '[0-4 rw sh ms F+0]',
  });
  behaves('keeps the protection that is there', (k) => remap(file(k).mprotect(1, 1, 'r'), 1, 1, 9), {
    all: '[0-1 rw sh ms F+0][1-2 r sh ms F+9][2-4 rw sh ms F+2]',
  });
  behaves(
    'takes no protection, no empty range, no private memory, no hole',
    (k) => {
      const results = [
        remap(file(k), 0, 1, 0, 1).seeResult().last,
        remap(k, 0, 0, 0).seeResult().last,
        remap(k.nr(8, 1), 8, 1, 0).seeResult().last,
        remap(k, 12, 1, 0).seeResult().last,
        remap(k, 3, 2, 0).seeResult().last,
      ];
      return results.join(' ');
    },
    { all: 'EINVAL EINVAL EINVAL EINVAL EINVAL' },
  );
  behaves('over a seal', (k) => remap(file(k).mseal(0, 4), 1, 1, 9), {
    '6.10+': 'EPERM [0-4 rw sh ms sl F+0]',
  });
});
