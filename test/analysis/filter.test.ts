import { describe, expect, it } from 'vitest';
import { parseFilter, splitWords } from '../../src/analysis/filter';
import { entry, type EntrySketch } from './entries';

function matches(query: string, sketch: EntrySketch): boolean {
  return parseFilter(query)?.(entry(sketch)) ?? true;
}

describe('splitWords', () => {
  it.each([
    ['', []],
    ['  a  b ', ['a', 'b']],
    ['name:"jit code" x', ['name:jit code', 'x']],
    ['"open to the end ', ['open to the end ']],
    ['""', []],
  ])('%j', (query, words) => {
    expect(splitWords(query)).toEqual(words);
  });
});

describe('parseFilter', () => {
  it('lets everything through without words', () => {
    expect(parseFilter('  ')).toBeUndefined();
  });

  it.each<[string, EntrySketch, boolean]>([
    ['cache', { name: 'Object Cache' }, true],
    ['OBJECT', { name: 'Object Cache' }, true],
    ['"object cache"', { name: 'Object Cache' }, true],
    ['object heap', { name: 'Object Cache' }, false],
    ['rw-p', { perms: 'rw-p' }, true],
    ['perm:wx', { perms: 'rwxp' }, true],
    ['perm:wx', { perms: 'rw-p' }, false],
    ['perm:s', { perms: 'rw-s' }, true],
    ['flag:sl', { flags: 'rd sl' }, true],
    ['flag:sl', { flags: 'rd' }, false],
    ['flag:sl', {}, false],
    ['name:libc', { path: '/lib/libc.so.6' }, true],
    ['name:r--p', { perms: 'r--p' }, false],
    ['at:0x1000fff', { at: 0x1000 }, true],
    ['at:1001000', { at: 0x1000 }, false],
    ['1000fff', { at: 0x1000 }, true],
    ['0x1000000', { at: 0x1000 }, true],
    ['1000000-1001000', { at: 0x1000 }, true],
    ['at:zz', { path: '/at:zz' }, true],
    ['memfd:x', { path: '/memfd:x y' }, true],
    ['dead', { at: 0, pages: 0x20 }, false],
    ['0xdead', { at: 0, pages: 0x20 }, true],
  ])('%j on %o: %s', (query, sketch, expected) => {
    expect(matches(query, sketch)).toBe(expected);
  });

  it('finds addresses above 2^53', () => {
    expect(matches('at:ffffffffff600123', { at: 0xffffffffff600, path: '[vsyscall]' })).toBe(true);
    expect(matches('at:ffffffffff601000', { at: 0xffffffffff600, path: '[vsyscall]' })).toBe(false);
  });
});
