import { describe, expect, test } from 'vitest';
import {
  hasCapSysPtrace,
  parseCmdline,
  parseHidepid,
  parseProcessStat,
  parseProcessStatus,
  statusKilobytes,
  statusUser,
} from '../../src/procfs/process_text';

/** Fields 3 to 28 of a stat. */
function statRest(state: string, ppid: number, flags: number): string {
  const fields = [
    state,
    ppid,
    1,
    1,
    0,
    -1,
    flags,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    20,
    0,
    7,
    0,
    4711,
    0,
    0,
    0,
    1000,
    2000,
    3000,
  ];
  return `${fields.join(' ')} 0 0 0\n`;
}

describe('stat', () => {
  test.each(['cat', 'a b', ') S 1 (', 'x)', '(((', 'two\nlines', ''])('a command called %j', (comm) => {
    expect(parseProcessStat(`12 (${comm}) ${statRest('S', 3, 0)}`)).toEqual({
      pid: 12,
      comm,
      state: 'S',
      ppid: 3,
      kernelThread: false,
      threads: 7,
      startTime: '4711',
      startCode: '1000',
      startStack: '3000',
    });
  });

  test('a command in bytes that are not UTF-8', () => {
    expect(parseProcessStat(`12 (caf\xe9) ${statRest('S', 3, 0)}`)?.comm).toBe('caf\udce9');
  });

  test('a kernel thread', () => {
    expect(parseProcessStat(`2 (kthreadd) ${statRest('S', 0, 0x208040)}`)?.kernelThread).toBe(true);
  });

  test.each(['', 'x', '12 cat S 1', '12 (cat', ') 12 (', '12 (cat) S', 'x (cat) S 1 1 1 0 -1 0'])(
    '%j is none',
    (text) => {
      expect(parseProcessStat(text)).toBeUndefined();
    },
  );
});

describe('status', () => {
  const status = parseProcessStatus(
    'Name:\tx: y\nUid:\t1000\t1001\t1002\t1003\nVmRSS:\t    1672 kB\nThreads:\t3\nCapEff:\t0000000000080000\n',
  );

  test('rows by name', () => {
    expect(status.get('Name')).toBe('x: y');
    expect(statusKilobytes(status, 'VmRSS')).toBe(1672);
    expect(statusUser(status)).toEqual({ real: 1000, effective: 1001 });
    expect(hasCapSysPtrace(status)).toBe(true);
  });

  test('rows that are not there are unknown', () => {
    const empty = parseProcessStatus('');
    expect(statusKilobytes(status, 'VmSwap')).toBeNull();
    expect(statusKilobytes(status, 'Threads')).toBeNull();
    expect(statusUser(empty)).toBeUndefined();
    expect(hasCapSysPtrace(empty)).toBe(false);
    expect(hasCapSysPtrace(parseProcessStatus('CapEff:\t000001fffff7ffff\n'))).toBe(false);
  });
});

test.each<[string, readonly string[]]>([
  ['', []],
  ['\0\0\0', []],
  ['cat\0', ['cat']],
  ['cat\0-\0', ['cat', '-']],
  ['sh\0-c\0\0', ['sh', '-c', '']],
  ['a\0\0b\0', ['a', '', 'b']],
  ['nginx: master process', ['nginx: master process']],
  ['nginx: worker\0\0\0\0\0', ['nginx: worker']],
  ['caf\xc3\xa9\0', ['caf\u00e9']],
])('the arguments in %j', (bytes, args) => {
  expect(parseCmdline(bytes)).toEqual(args);
});

describe('hidepid', () => {
  const mount = (options: string, at = '/proc', type = 'proc') =>
    `22 27 0:21 / ${at} rw,relatime shared:5 - ${type} proc ${options}\n`;

  test.each<[string, string | null]>([
    [mount('rw'), null],
    [mount('rw,hidepid=2'), '2'],
    [mount('rw,gid=4,hidepid=invisible,subset=pid'), 'invisible'],
    [mount('rw,hidepid=0'), null],
    [mount('rw,hidepid=2', '/other/proc'), null],
    [mount('rw,hidepid=2', '/proc', 'tmpfs'), null],
    [mount('rw,hidepid=2') + mount('rw'), null],
    ['', null],
  ])('%j', (mountinfo, hidepid) => {
    expect(parseHidepid(mountinfo, '/proc')).toBe(hidepid);
  });
});
