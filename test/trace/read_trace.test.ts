import { describe, expect, it } from 'vitest';
import { detectTrace } from '../../src/trace/detect';
import { readTrace } from '../../src/trace/read_trace';
import { parseStrace } from '../../src/trace/strace/importer';

const STRACE = '7 execve("/a", ["a"], NULL) = 0\n7 brk(NULL) = 0x1000\n7 +++ exited with 0 +++\n';

/** A few lines of each format that is known but not read. */
const OTHERS: readonly (readonly [string, string])[] = [
  [
    'ltrace',
    '7 SYS_brk(0)       = 0x55cc049ac000\n7 SYS_mmap(0, 8192, 3, 34) = 0x7f9c1acac000\n7 open("/dev/null", 1, 04 <unfinished ...>\n',
  ],
  [
    'perf-trace',
    '         ? (         ): a/14395  ... [continued]: execve())   = 0\n     0.043 ( 0.011 ms): a/14395 brk()   = 0x558f12877000\n',
  ],
  [
    'perf-script',
    '          a_tour 28118 [001]  2110.902959:              syscalls:sys_enter_brk: brk: 0x00000000\n',
  ],
  [
    'perf-script',
    'a_tour 28637/28637  2117.805581: PERF_RECORD_MMAP2 28637/28637: [0x55ad67a0b000(0x85000) @ 0 fe:00 3237721 1]: r--p /a\n',
  ],
  [
    'ftrace',
    '# tracer: nop\n#\n         E10 end-14905   [000] .....  1978.210643: sys_mmap -> 0x7f7b25a10000\n',
  ],
  ['ftrace', 'cpus=2\n         E10 end-14965 [001]  1979.847492: sys_enter_brk:        brk: 0x00000000\n'],
  [
    'auditd',
    'type=SYSCALL msg=audit(1796073603.865:16): arch=c000003e syscall=9 success=yes exit=139764994248704\n',
  ],
  [
    'qemu',
    '7 brk(NULL) = 0x0000004000085000\n7 mmap(NULL,45003,PROT_READ,MAP_PRIVATE,3,0) = 0x00000040028bd000\n',
  ],
  [
    'valgrind',
    '==7== Memcheck, a memory error detector\nSYSCALL[7,1](12) sys_brk ( 0x0 ) --> [pre-success] Success(0x4035000) \n',
  ],
  ['bpftrace', '#vmatrace 1 tool=bpftrace\n15025 1982.995397 brk(0x0) = 0x55d18fc56000\n'],
  [
    'strace-summary',
    '% time     seconds  usecs/call     calls    errors syscall\n 34.87    0.000500           2       171           read\n',
  ],
  ['maps', '5630f352d000-5630f352e000 r--p 00000000 fe:00 3238594                    /srv/work/fdp\n'],
];

describe('detectTrace', () => {
  it('is sure of strace', () => {
    expect(detectTrace(STRACE)).toEqual({ format: 'strace', confidence: 'sure', advice: '' });
  });

  it('finds strace behind other output, and says that it is less sure', () => {
    expect(detectTrace('hello\nworld\n'.repeat(10) + STRACE)).toMatchObject({
      format: 'strace',
      confidence: 'likely',
    });
    expect(detectTrace('hello world\n'.repeat(20000) + STRACE)).toMatchObject({
      format: 'strace',
      confidence: 'likely',
    });
  });

  it('finds strace in a first line of any length', () => {
    expect(detectTrace(`execve("/a", ["${'x'.repeat(100000)}"], NULL) = 0\n`).format).toBe('strace');
  });

  it('is not misled by what strings of strace hold', () => {
    const quoted = OTHERS.map(([, text]) => `7 write(1, ${JSON.stringify(text)}, 9) = 9\n`).join('');
    expect(detectTrace(quoted).format).toBe('strace');
  });

  it.each(OTHERS)('knows %s', (format, text) => {
    expect(detectTrace(text)).toMatchObject({ format, advice: expect.stringMatching(/^This is .*\.$/) });
  });

  it.each(['', '\n\n', 'hello world\n', '{"a": [1, 2]}\n', '\0\x01\x02'])(
    'knows that %j is nothing',
    (text) => {
      expect(detectTrace(text)).toEqual({ format: 'unknown', confidence: 'no', advice: '' });
    },
  );
});

describe('readTrace', () => {
  it('reads what it detects', () => {
    expect(readTrace(STRACE)).toEqual(parseStrace(STRACE));
  });

  it('says what to do with a format that is not read', () => {
    const [, text] = OTHERS[0] ?? ['', ''];
    expect(readTrace(text)).toMatchObject({
      format: 'ltrace',
      events: [],
      lineCount: 3,
      problems: [{ line: 1, code: 'unsupported-format' }],
    });
  });

  it('says that it is no trace', () => {
    expect(readTrace('hello\n')).toMatchObject({
      format: 'unknown',
      events: [],
      lineCount: 1,
      problems: [{ code: 'unknown-format' }],
    });
  });

  it('reads what it is told to read', () => {
    expect(readTrace('hello\n', { format: 'strace' })).toMatchObject({
      format: 'strace',
      problems: [{ code: 'foreign-line' }],
    });
  });

  it('takes the pid of lines without one from the hint, the text, or the file name, in that order', () => {
    const pid = (text: string, hint: Parameters<typeof readTrace>[1]): number | undefined =>
      readTrace(text, hint).events[0]?.pid;
    expect(pid('brk(NULL) = 0x1000\n', { fileName: 'out.4711' })).toBe(4711);
    expect(pid('brk(NULL) = 0x1000\ngettid() = 9\n', { fileName: 'out.4711' })).toBe(9);
    expect(pid('gettid() = 9\n', { fileName: 'out.4711', pid: 5 })).toBe(5);
    expect(pid('7 brk(NULL) = 0x1000\n', { fileName: 'out.4711', pid: 5 })).toBe(7);
    expect(pid('brk(NULL) = 0x1000\n', { fileName: 'app.strace' })).toBe(1);
    expect(
      readTrace('brk(NULL) = 0x1000\n', { fileName: 'out.4711' }).lacks.map(({ code }) => code),
    ).not.toContain('no-pids');
  });
});
