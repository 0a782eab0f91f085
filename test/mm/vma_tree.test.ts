import { describe, expect, it } from 'vitest';
import { vpn } from '../../src/mm/addr';
import { VmaTree } from '../../src/mm/vma_tree';
import { vmaOf } from './vmas';

const LIST = [vmaOf(1, 3), vmaOf(3, 4), vmaOf(8, 9)];

describe('looking up', () => {
  const tree = new VmaTree(LIST);

  it.each([
    [0, 0, undefined],
    [1, 0, 0],
    [2, 0, 0],
    [3, 1, 1],
    [4, 2, undefined],
    [7, 2, undefined],
    [8, 2, 2],
    [9, 3, undefined],
    [2 ** 52 - 1, 3, undefined],
  ])('page %i: first that ends after it, and the one that holds it', (page, index, holder) => {
    expect(tree.find(vpn(page))).toBe(index);
    expect(tree.lookup(vpn(page))).toBe(holder === undefined ? undefined : LIST[holder]);
  });

  it('an empty tree', () => {
    const empty = new VmaTree();
    expect([empty.count, empty.find(vpn(5)), empty.lookup(vpn(5)), empty.at(0)]).toEqual([
      0,
      0,
      undefined,
      undefined,
    ]);
  });

  it('finds every page among thousands', () => {
    const many = Array.from({ length: 5000 }, (_, index) => vmaOf(3 * index, 3 * index + 2));
    const large = new VmaTree(many);
    for (const index of [0, 1, 2499, 2500, 4998, 4999]) {
      expect(large.lookup(vpn(3 * index + 1))).toBe(many[index]);
      expect(large.lookup(vpn(3 * index + 2))).toBeUndefined();
      expect(large.find(vpn(3 * index + 2))).toBe(index + 1);
    }
  });
});

describe('changing', () => {
  it('gives back what was removed', () => {
    const tree = new VmaTree(LIST);
    const piece = vmaOf(1, 2);
    expect(tree.splice(0, 2, [piece])).toEqual(LIST.slice(0, 2));
    expect(tree.all()).toEqual([piece, LIST[2]]);
    expect(tree.count).toBe(2);
  });

  it('leaves the list that it was made of alone', () => {
    const list = [...LIST];
    new VmaTree(list).splice(0, 3, []);
    expect(list).toEqual(LIST);
  });

  it('leaves a frozen view alone, each time it is frozen', () => {
    const tree = new VmaTree(LIST);
    const first = tree.freeze();
    tree.splice(0, 1, []);
    const second = tree.freeze();
    tree.splice(0, 1, []);
    tree.splice(0, 1, []);
    expect(first).toEqual(LIST);
    expect(second).toEqual(LIST.slice(1));
    expect(tree.all()).toEqual([]);
  });
});
