import { describe, expect, it } from 'vitest';
import { FileTable, opsOf } from '../../src/replay/file_table';
import { systemOf } from '../mm/vmas';

const table = (): FileTable => new FileTable(systemOf());

describe('the file behind a descriptor', () => {
  it('is the one that was opened there', () => {
    const files = table();
    files.open(3, '/a', true);
    files.open(4, '/a', false);
    expect(files.fileOf({ fd: 3 })).toMatchObject({ path: '/a', writable: true });
    expect(files.fileOf({ fd: 3 })).toBe(files.fileOf({ fd: 3, path: '/a' }));
    expect(files.fileOf({ fd: 4 })).not.toBe(files.fileOf({ fd: 3 }));
  });

  it('is another one where the note says another path: it was opened unseen', () => {
    const files = table();
    files.open(3, '/a', true);
    const other = files.fileOf({ fd: 3, path: '/b' });
    expect(other).toMatchObject({ path: '/b', writable: null });
    expect(files.fileOf({ fd: 3 })).toBe(other);
  });

  it('a path that was given relative is no contradiction to the whole one', () => {
    const files = table();
    files.open(3, 'lib/a', true);
    expect(files.fileOf({ fd: 3, path: '/usr/lib/a' })).toMatchObject({ path: 'lib/a', writable: true });
  });

  it('that was opened unseen is made once', () => {
    const files = table();
    const unseen = files.fileOf({ fd: 7, path: '/x', deleted: true });
    expect(unseen).toMatchObject({ path: '/x', deleted: true, writable: null });
    expect(files.fileOf({ fd: 7, path: '/x', deleted: true })).toBe(unseen);
    expect(files.fileOf({ fd: 8 })).toMatchObject({ path: 'fd:8' });
  });

  it('is none for a negative one', () => {
    expect(table().fileOf({ fd: -1 })).toBeNull();
  });

  it('after a close is another one', () => {
    const files = table();
    files.open(3, '/a', true);
    const before = files.fileOf({ fd: 3 });
    files.close(3);
    expect(files.fileOf({ fd: 3, path: '/a' })).not.toBe(before);
  });

  it('after dup is the same under both', () => {
    const files = table();
    files.open(3, '/a', true);
    files.duplicate({ fd: 3 }, 9);
    expect(files.fileOf({ fd: 9 })).toBe(files.fileOf({ fd: 3 }));
    files.duplicate({ fd: -1 }, 10);
    expect(files.fileOf({ fd: 10 })).toMatchObject({ path: 'fd:10' });
  });

  it('after fork is the same in the child, and what either opens then is its own', () => {
    const files = table();
    files.open(3, '/a', true);
    const child = files.fork();
    expect(child.fileOf({ fd: 3 })).toBe(files.fileOf({ fd: 3 }));
    child.open(3, '/b', true);
    expect(files.fileOf({ fd: 3 })?.path).toBe('/a');
  });
});

describe('the driver, by the path', () => {
  it.each([
    ['/lib/x.so', false, 'file'],
    ['/memfd:x', true, 'anon-shmem'],
    ['/dev/zero', false, 'dev-zero'],
    ['/dev/zero', true, 'anon-shmem'],
    ['/SYSV00001234', true, 'sysv'],
    ['/SYSV1234', true, 'file'],
    ['/anon_hugepage', true, 'hugetlb'],
  ])('%s, deleted: %s', (path, deleted, ops) => {
    expect(opsOf(path, deleted)).toBe(ops);
  });
});
