import { describe, expect, it } from 'vitest';
import { isShared, kindContext, kindOf, ownerOf, type Kind } from '../../src/analysis/kind';
import { NAME_RULES, ownerOfName } from '../../src/analysis/name_rules';
import { entriesOf, entry, type EntrySketch } from './entries';

function kind(sketch: EntrySketch): Kind {
  const one = entry(sketch);
  return kindOf(one, kindContext([one]));
}

describe('kindOf', () => {
  it.each<[EntrySketch, Kind]>([
    [{ perms: 'r-xp', path: '/usr/bin/demo' }, 'code'],
    [{ perms: 'r--p', path: '/usr/share/locale-archive' }, 'file'],
    [{ perms: 'r-xs', path: '/usr/lib/shared-text.so' }, 'code'],
    [{ perms: 'rw-s', path: '/srv/db.dat' }, 'shared'],
    [{ path: '[heap]' }, 'heap'],
    [{ path: '[stack]' }, 'stack'],
    [{ path: '[stack:1234]' }, 'stack'],
    [{}, 'anonymous'],
    [{ path: '//anon' }, 'anonymous'],
    [{ perms: 'rwxp' }, 'generated'],
    [{ name: 'object cache' }, 'named'],
    [{ name: '' }, 'named'],
    [{ name: 'jit code', perms: 'r-xp' }, 'named'],
    [{ perms: 'rw-s' }, 'shared'],
    [{ perms: 'rw-s', path: '/dev/zero', deleted: true }, 'shared'],
    [{ perms: 'rw-p', path: '/dev/zero' }, 'anonymous'],
    [{ perms: 'rw-s', path: '/dev/shm/ring' }, 'shared'],
    [{ perms: 'rw-s', path: '/memfd:demo mapper', deleted: true }, 'memfd'],
    [{ perms: 'r-xp', path: '/memfd:agent-64.so', deleted: true }, 'memfd'],
    [{ perms: 'rw-s', path: '/SYSVba5bd51c', deleted: true }, 'sysv'],
    [{ perms: 'rw-s', path: '/SYSV notes' }, 'shared'],
    [{ perms: 'rw-p', path: '/anon_hugepage', deleted: true }, 'hugetlb'],
    [{ flags: 'rd wr ht' }, 'hugetlb'],
    [{ perms: 'rw-s', path: '/dev/dri/card0' }, 'device'],
    [{ perms: 'rw-s', path: 'socket:[114535087]', inode: '114535087' }, 'socket'],
    [{ perms: 'rw-s', path: 'anon_inode:[io_uring]', inode: '1057' }, 'anon-inode'],
    [{ path: '[vdso]', perms: 'r-xp' }, 'special'],
    [{ path: '[vsyscall]', perms: '--xp' }, 'special'],
    [{ path: '[never seen before]' }, 'special'],
    [{ path: '', inode: '1048', perms: 'r--p' }, 'file'],
    [{ path: '', inode: '1048', perms: 'r-xp' }, 'code'],
  ])('%o is %s', (sketch, expected) => {
    expect(kind(sketch)).toBe(expected);
  });

  it('calls shared named memory shared', () => {
    const ring = { ...entry({ perms: 'rw-s', path: '[anon_shmem:ring]' }), anonName: 'ring' };
    expect(kindOf(ring, kindContext([ring]))).toBe('shared');
  });

  it('tells the data of a program from other files by its code', () => {
    const entries = entriesOf(
      { perms: 'r--p', path: '/lib/a.so', inode: '5' },
      { perms: 'r-xp', path: '/lib/a.so', inode: '5' },
      { perms: 'rw-p', path: '/lib/a.so', inode: '5' },
      { perms: 'r--p', path: '/lib/a.so', inode: '6' },
    );
    const context = kindContext(entries);
    // The last one is another file of that name, as after an upgrade of the library.
    expect(entries.map((each) => kindOf(each, context))).toEqual(['data', 'code', 'data', 'file']);
  });

  it('does not guess whether WSL 1 memory is shared', () => {
    expect(isShared(entry({ perms: 'rw--' }))).toBeNull();
    expect(kind({ perms: 'rw--' })).toBe('anonymous');
  });
});

describe('ownerOfName', () => {
  it.each([
    [' Go: heap', 'Go'],
    [' glibc: malloc arena', 'glibc'],
    ['jemalloc_pg_overcommit', 'jemalloc'],
    ['scudo:primary', 'Scudo'],
    ['tcmalloc_region_NORMAL', 'TCMalloc'],
    ['partition_alloc', 'PartitionAlloc'],
    ['dalvik-main space (region space)', 'Android Runtime (dalvik)'],
    ['dalvik-jit-code-cache', 'Android Runtime (dalvik)'],
    ['stack_and_tls:4711', 'bionic'],
    ['v8', 'V8'],
    ['js-gc-heap', 'SpiderMonkey'],
    ['cpython:pymalloc', 'CPython'],
    ['zend_alloc', 'PHP (Zend)'],
    ['jit code', 'JIT code'],
    ['my JIT', 'JIT code'],
    [' mylib: pool', 'mylib'],
  ])('%j belongs to %s', (name, label) => {
    expect(ownerOfName(name)?.label).toBe(label);
  });

  it.each(['', 'object cache', 'v8ish', 'jitter buffer', ': odd', 'digit'])('%j has no owner', (name) => {
    expect(ownerOfName(name)).toBeUndefined();
  });

  it('has each id once', () => {
    expect(new Set(NAME_RULES.map((rule) => rule.id)).size).toBe(NAME_RULES.length);
  });

  it('reads Android shared memory names too', () => {
    expect(ownerOf(entry({ perms: 'rw-s', path: '/dev/ashmem/dalvik-main space', deleted: true }))?.id).toBe(
      'dalvik',
    );
    expect(ownerOf(entry({ path: '/usr/bin/demo' }))).toBeUndefined();
  });
});
