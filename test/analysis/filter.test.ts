import { describe, expect, it } from 'vitest';
import { filterProblem, parseFilter, splitWords } from '../../src/analysis/filter';
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
    expect(splitWords(query).words.map((word) => word.text)).toEqual(words);
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
    ['perms:wx flags:sl', { perms: 'rwxp', flags: 'rd sl' }, true],
    ['"perm:wx"', { perms: 'rwxp' }, false],
    ['"perm:wx"', { name: 'my perm:wx' }, true],
    ['name:"perm:w x"', { name: 'perm:w x' }, true],
    ['glibc: malloc', { name: 'glibc: malloc' }, true],
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

describe('filterProblem', () => {
  it.each([
    '',
    'cache',
    'perm:wx PERMS:r-x flag:sl flags:?? name:jit at:0x7f00',
    'name:"two words"',
    'name:a:b',
    'glibc: malloc',
    'memfd:x',
    '[anon:x]',
    'anon:x',
    'stack:42',
    '/srv/a:b',
    'C:/x',
    'http://x',
    '"foo:bar"',
    'foo":bar"',
    'lib-x:y',
  ])('has nothing against %j', (query) => {
    expect(filterProblem(query)).toBeUndefined();
  });

  it.each([
    ['foo:bar', "no key 'foo': keys are perm:, flag:, name: and at:"],
    ['cache Permission:wx', "no key 'permission'"],
    ['prot:"wx"', "no key 'prot'"],
    ['perm:q', 'perm: takes letters'],
    ['perm: wx', 'perm: takes letters'],
    ['flag:sealed', 'flag: takes two letters'],
    ['at:zz', 'at: takes an address'],
    ['name:', 'name: takes text'],
    ['name:"jit', 'not closed'],
    ['"', 'not closed'],
  ])('says what is wrong with %j', (query, words) => {
    expect(filterProblem(query)).toContain(words);
  });
});
