import { describe, expect, it } from 'vitest';
import { readFd } from '../../../src/trace/strace/fd';
import { CLONE, MADVISE, MMAP, PROT } from '../../../src/trace/strace/flag_tables';
import { FlagReader, parseFlags } from '../../../src/trace/strace/flags';
import { endOfPlain, orNumbers, readNumber, startOfValue } from '../../../src/trace/strace/numbers';
import { readString, unescape } from '../../../src/trace/strace/strings';

describe('readNumber', () => {
  it.each([
    ['0', 0],
    ['NULL', 0],
    ['4096', 4096],
    ['0x7f1000000123', 0x7f1000000123],
    ['0X1F', 0x1f],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 2n ** 64n - 1n],
    ['0xffffffffffffffff', 2n ** 64n - 1n],
    ['0x1fffffffffffff', 9007199254740991],
    ['-1', 2n ** 64n - 1n],
    ['18446744073709551616', undefined],
    ['0x', undefined],
    ['0xfg', undefined],
    ['12a', undefined],
    ['', undefined],
    ['-', undefined],
    ['NULLS', undefined],
    ['PROT_READ', undefined],
  ])('reads %s', (text, value) => {
    expect(readNumber(text, 0, text.length)).toBe(value);
  });

  it('is exact for a leading number only where asides follow it', () => {
    expect(endOfPlain('0x3 /* A /* B */ */', 0, 19)).toBe(3);
    expect(endOfPlain('3<path>', 0, 7)).toBe(1);
    expect(endOfPlain('-1', 0, 2)).toBe(2);
    expect(endOfPlain('3|4', 0, 3)).toBe(-1);
  });

  it('steps over names of -N only', () => {
    const value = (text: string): string => text.slice(startOfValue(text, 0, text.length));
    expect(['addr=0x1', 'addr: 0x1', '0x1', 'NULL', 'AT_FDCWD', 'htons(1)'].map(value)).toEqual([
      '0x1',
      '0x1',
      '0x1',
      'NULL',
      'AT_FDCWD',
      'htons(1)',
    ]);
  });
});

describe('flags', () => {
  it.each([
    ['PROT_READ|PROT_WRITE', PROT, 3],
    ['PROT_NONE', PROT, 0],
    ['0', PROT, 0],
    ['0x7', PROT, 7],
    ['7', PROT, 7],
    ['PROT_READ|0x40', PROT, 0x41],
    ['0x3 /* PROT_READ|PROT_WRITE */', PROT, 3],
    ['0x4 /* MAP_??? */', MMAP, 4],
    ['0x24 /* 0x4 /* MAP_??? */|MAP_ANONYMOUS */', MMAP, 0x24],
    ['0x4 /* MAP_??? */|MAP_ANONYMOUS', MMAP, 0x24],
    ['MAP_PRIVATE|21<<MAP_HUGE_SHIFT', MMAP, 2 + 21 * 2 ** 26],
    ['63<<MAP_HUGE_SHIFT', MMAP, 63 * 2 ** 26],
    ['CLONE_IO|CLONE_CLEAR_SIGHAND|SIGCHLD', CLONE, 0x1_8000_0000],
    ['0x66 /* MADV_??? */', MADVISE, 102],
  ])('reads %s', (text, table, value) => {
    expect(parseFlags(text, table)).toEqual({ value });
  });

  it('keeps what it knows beside a name that it does not', () => {
    expect(parseFlags('PROT_READ|PROT_NEW|PROT_EXEC', PROT)).toEqual({ value: 5, unknown: 'PROT_NEW' });
  });

  it.each([
    '',
    '|',
    'PROT_READ|',
    '"PROT_READ"',
    '{PROT_READ}',
    'PROT_READ PROT_WRITE',
    '-1',
    '0xffffffffffffffff',
    '5<<NOTHING',
  ])('refuses %s', (text) => {
    expect(parseFlags(text, PROT)).toBeUndefined();
  });

  it('keeps the memo apart for each table and for what cannot be read', () => {
    const reader = new FlagReader();
    for (let round = 0; round < 2; round++) {
      expect(reader.read('xMAP_FIXED', 1, 10, MMAP)).toEqual({ value: 0x10 });
      expect(reader.read('MAP_FIXED', 0, 9, PROT)).toEqual({ value: 0, unknown: 'MAP_FIXED' });
      expect(reader.read('{}', 0, 2, PROT)).toBeUndefined();
    }
  });

  it('joins numbers above 32 bits', () => {
    expect(orNumbers(0x3_8000_0000, 0x1_0000_0001)).toBe(0x3_8000_0001);
    expect(orNumbers(0x8000_0000, 0x8000_0000)).toBe(0x8000_0000);
  });
});

describe('strings', () => {
  it.each([
    ['plain', 'plain'],
    ['\\n\\t\\r\\v\\f\\a\\b\\e', '\n\t\r\v\f\x07\b\x1b'],
    ['\\"\\\\', '"\\'],
    ['\\0\\01\\0012\\1234', '\0\x01\x012S4'],
    ['\\x41\\x4g\\xg', 'A\x04gxg'],
    ['\\303\\251', '\xc3\xa9'],
    ['\\777', '\xff'],
    ['cut\\', 'cut\\'],
  ])('undoes %s', (quoted, bytes) => {
    expect(unescape(quoted)).toBe(bytes);
  });

  it('tells cut strings from ones that end in dots', () => {
    const read = (text: string): unknown => readString(text, 0, text.length);
    expect(read('"a..."')).toEqual({ text: 'a...', truncated: false });
    expect(read('"a"...')).toEqual({ text: 'a', truncated: true });
    expect(read('""...')).toEqual({ text: '', truncated: true });
    expect(read('"\\303\\251\\377"')).toEqual({ text: 'é\udcff', truncated: false });
    expect(read('"a" b')).toBeUndefined();
    expect(read('"a')).toBeUndefined();
    expect(read('NULL')).toBeUndefined();
    expect(read('0x7f')).toBeUndefined();
  });
});

describe('readFd', () => {
  it.each([
    ['3', { fd: 3 }],
    ['-1', { fd: -1 }],
    ['0xffffffff', { fd: -1 }],
    ['4294967295', { fd: -1 }],
    ['0xffffffffffffffff', { fd: -1 }],
    ['0xffffff9c', { fd: -100 }],
    ['AT_FDCWD', { fd: -100 }],
    ['AT_FDCWD</srv/work>', { fd: -100, path: '/srv/work' }],
    ['3</a b>(deleted)', { fd: 3, path: '/a b', deleted: true }],
    ['3</a b (deleted)>', { fd: 3, path: '/a b', deleted: true }],
    ['3</a\\74b\\76\\"\\303\\251>', { fd: 3, path: '/a<b>"é' }],
    ['4</dev/zero<char 1:5>>', { fd: 4, path: '/dev/zero', device: 'char 1:5' }],
    ['5<pid:7<comm>>', { fd: 5, path: 'pid:7<comm>' }],
    ['0x3 /* x */', { fd: 3 }],
    ['"3"', undefined],
    ['3</a', undefined],
    ['', undefined],
  ])('reads %s', (text, fd) => {
    expect(readFd(text, 0, text.length)).toEqual(fd);
  });
});
