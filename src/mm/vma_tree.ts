import type { Vpn } from './addr';
import type { Vma } from './vma';

/**
 * The VMAs of one address space in address order. A forked copy shares the storage until either side changes.
 */
export class VmaTree {
  private list: Vma[];
  private shared: boolean;

  constructor(vmas: readonly Vma[] = []) {
    this.list = [...vmas];
    this.shared = false;
  }

  get count(): number {
    return this.list.length;
  }

  /** The VMAs in address order. The array is valid until the next change. */
  all(): readonly Vma[] {
    return this.list;
  }

  /** An immutable view of this moment: the storage is copied at the next change. */
  freeze(): readonly Vma[] {
    this.shared = true;
    return this.list;
  }

  at(index: number): Vma | undefined {
    return this.list[index];
  }

  /** Index of the first VMA that ends after `page` (find_vma); `count` if there is none. */
  find(page: Vpn): number {
    let low = 0;
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const vma = this.list[middle];
      if (vma !== undefined && vma.end <= page) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The VMA that holds `page` (vma_lookup). */
  lookup(page: Vpn): Vma | undefined {
    const vma = this.list[this.find(page)];
    return vma !== undefined && vma.start <= page ? vma : undefined;
  }

  /** Replaces `removed` VMAs from `index` on. Called by Mm alone. */
  splice(index: number, removed: number, inserted: readonly Vma[]): readonly Vma[] {
    if (this.shared) {
      this.list = [...this.list];
      this.shared = false;
    }
    // Arguments go over the stack, which does not hold a hundred thousand.
    if (inserted.length < 1000) return this.list.splice(index, removed, ...inserted);
    const gone = this.list.slice(index, index + removed);
    this.list = [...this.list.slice(0, index), ...inserted, ...this.list.slice(index + removed)];
    return gone;
  }
}
