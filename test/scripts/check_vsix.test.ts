import { expect, test } from 'vitest';
import { MAX_BYTES, problemsOfPackage, zipEntries } from '../../scripts/check_vsix.mjs';

const GOOD = [
  'extension.vsixmanifest',
  '[Content_Types].xml',
  'extension/package.json',
  'extension/readme.md',
  'extension/changelog.md',
  'extension/LICENSE.txt',
  'extension/dist/extension.cjs',
  'extension/dist/cli.cjs',
  'extension/media/icon.png',
  'extension/media/example/story.strace',
];

test('a package of what runs has no problems', () => {
  expect(problemsOfPackage(GOOD, MAX_BYTES - 1)).toEqual([]);
});

test('a package that is too large, holds more, or lacks a part is refused', () => {
  const names = [
    ...GOOD.slice(1),
    'extension/src/mm/vma.ts',
    'extension/dist/extension.cjs.map',
    'extension/media/a.psd',
  ];
  expect(problemsOfPackage(names, MAX_BYTES)).toEqual([
    'not expected in the package: extension/src/mm/vma.ts',
    'not expected in the package: extension/dist/extension.cjs.map',
    'not expected in the package: extension/media/a.psd',
    'missing from the package: extension.vsixmanifest',
    `the package has ${MAX_BYTES} bytes; the limit is ${MAX_BYTES}`,
  ]);
});

/** A zip file with one empty stored entry a name, as APPNOTE 4.3 lays it out. */
function zipOf(names: readonly string[]): Buffer {
  const locals = names.map((name) => {
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(name.length, 26);
    return Buffer.concat([header, Buffer.from(name)]);
  });
  const central = names.map((name, index) => {
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt32LE(7 + index, 24);
    header.writeUInt16LE(name.length, 28);
    header.writeUInt16LE(3, 30);
    return Buffer.concat([header, Buffer.from(name), Buffer.alloc(3)]);
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(Buffer.concat(locals).length, 16);
  return Buffer.concat([...locals, ...central, end]);
}

test('the names in a zip file are read from its central directory', () => {
  expect(zipEntries(zipOf(['a/b.txt', 'c']))).toEqual([
    { name: 'a/b.txt', size: 7 },
    { name: 'c', size: 8 },
  ]);
  expect(() => zipEntries(Buffer.from('no zip'))).toThrow('not a zip file');
});
