import { describe, expect, it } from 'vitest';
import { VM_FLAG_TABLE } from '../../src/mm/vm_flags';
import { flagInWords, permsInWords, smapsFieldInWords } from '../../src/present/words';
import { addressText, mappingName, rangeText, shortName } from '../../src/present/entry_text';
import { entry } from '../analysis/entries';

describe('words', () => {
  it.each([
    ['rw-p', 'read, write, private'],
    ['r-xs', 'read, execute, shared'],
    ['---p', 'no access, private'],
    ['--xp', 'execute, private'],
    ['rw--', 'read, write'],
    ['r-x', 'read, execute'],
    ['rq-p', "read, 'q', private"],
    ['', 'unknown'],
  ])('permissions %j', (perms, words) => {
    expect(permsInWords(perms)).toBe(words);
  });

  it('every flag that smaps prints has words', () => {
    for (const row of VM_FLAG_TABLE) {
      if (row.mnemonic !== null) expect(flagInWords(row.mnemonic)).toBe(row.words);
    }
    expect(flagInWords('??')).toContain('no letters');
    expect(flagInWords('zz')).toContain('does not know');
  });

  it('knows the fields of smaps and says nothing of others', () => {
    for (const field of ['Rss', 'Pss_Dirty', 'LazyFree', 'SwapPss', 'THPeligible', 'ProtectionKey']) {
      expect(smapsFieldInWords(field)).toBeDefined();
    }
    expect(smapsFieldInWords('constructor')).toBeUndefined();
    expect(smapsFieldInWords('FutureField')).toBeUndefined();
  });
});

describe('names and ranges', () => {
  it('are written as maps writes them', () => {
    expect(rangeText(entry({ at: 0x400, pages: 7 }))).toBe('00400000-00407000');
    expect(rangeText(entry({ at: 0xffffffffff600 }))).toBe('ffffffffff600000-ffffffffff601000');
    expect(addressText(0)).toBe('00000000');
  });

  it('are short where a row has little room', () => {
    expect(shortName('/usr/lib/libc.so.6')).toBe('libc.so.6');
    expect(shortName('/odd/')).toBe('/odd/');
    expect(shortName('[anon:object cache]')).toBe('[anon:object cache]');
    expect(shortName('socket:[1]')).toBe('socket:[1]');
    expect(shortName('')).toBe('anonymous');
    expect(shortName('/tmp/\u001b[2J')).toBe('\\x1b[2J');
  });

  it('keep the mark of a deleted file', () => {
    expect(mappingName(entry({ path: '/tmp/a\nb', deleted: true }))).toBe('/tmp/a\\x0ab (deleted)');
  });
});
