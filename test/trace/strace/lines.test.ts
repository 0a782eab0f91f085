import { describe, expect, it } from 'vitest';
import { LeadReader, NO_PID } from '../../../src/trace/strace/lead';
import { LineSplitter, withoutColours } from '../../../src/trace/strace/lines';
import { MessageFinder, debugMessageStart } from '../../../src/trace/strace/messages';
import { ResultReader } from '../../../src/trace/strace/result';

describe('LeadReader', () => {
  it.each<[string, number, string | undefined, string]>([
    ['mmap(', NO_PID, undefined, 'mmap('],
    ['1778  execve(', 1778, undefined, 'execve('],
    ['100000 execve(', 100000, undefined, 'execve('],
    ['  1038  07:14:20.959262 munmap(', 1038, '07:14:20.959262', 'munmap('],
    ['2222<B02 mapped> close(', 2222, undefined, 'close('],
    ['2222<a\\76 b> close(', 2222, undefined, 'close('],
    ['[pid  1849] <... read resumed>', 1849, undefined, '<... read resumed>'],
    ['[pid  2264<E09 prefork>] 20:57:43 read(', 2264, '20:57:43', 'read('],
    ['1796073743.683581 brk(', NO_PID, '1796073743.683581', 'brk('],
    ['1796073743 brk(', NO_PID, '1796073743', 'brk('],
    ['2868  1796073743 (+     0) brk(', 2868, '1796073743', 'brk('],
    ['20:57:43.667990 (+     0.000336) [   9] [00007fa0cc0b6ca3] mmap(', NO_PID, '20:57:43.667990', 'mmap('],
    ['     0.000017 brk(', NO_PID, '+0.000017', 'brk('],
    ['1869       0.000352 mmap(', 1869, '+0.000352', 'mmap('],
    ['1869  (+     0.000352) mmap(', 1869, '+0.000352', 'mmap('],
    ['7 [root:r:t:s0-s0:c0.c1] 20:57:43 mmap(', 7, '20:57:43', 'mmap('],
    ['7 [ Process PID=7 runs in 32 bit mode. ]', 7, undefined, '[ Process PID=7 runs in 32 bit mode. ]'],
    [' > /usr/lib/ld.so(f+0x1) [0x2]', NO_PID, undefined, ' > /usr/lib/ld.so(f+0x1) [0x2]'],
    ['50munmap(', NO_PID, undefined, '50munmap('],
    ['[pid x] mmap(', NO_PID, undefined, 'mmap('],
    ['7<open mmap(', NO_PID, undefined, '7<open mmap('],
    ['', NO_PID, undefined, ''],
  ])('reads %j', (line, pid, time, body) => {
    const lead = new LeadReader();
    lead.read(`x${line}`, 1, line.length + 1);
    expect([lead.pid, lead.time, `x${line}`.slice(lead.body)]).toEqual([pid, time, body]);
  });
});

describe('ResultReader', () => {
  it.each([
    [' = 0', { kind: 'value', value: 0, injected: false }],
    ['              = 0x7f1000000000', { kind: 'value', value: 0x7f1000000000, injected: false }],
    [' = 3</dev/null>', { kind: 'value', value: 3, injected: false }],
    [' = 0x2 (flags O_RDWR)', { kind: 'value', value: 2, injected: false }],
    [' = -1 ENOENT (No such file or directory)', { kind: 'errno', errno: 'ENOENT', injected: false }],
    [' = -1 ENOMEM (Cannot allocate memory) (INJECTED)', { kind: 'errno', errno: 'ENOMEM', injected: true }],
    [' = -1 (errno 4249)', { kind: 'errno', errno: '4249', injected: false }],
    [' = -22', { kind: 'errno', errno: 'EINVAL', injected: false }],
    [' = -5000', { kind: 'value', value: 2n ** 64n - 5000n, injected: false }],
    [' = 0 (INJECTED)', { kind: 'value', value: 0, injected: true }],
    [' = 0 (DELAYED)', { kind: 'value', value: 0, injected: false }],
    [' = ?', { kind: 'unknown', text: '?' }],
    [' = ? ERESTARTSYS (To be restarted)', { kind: 'unknown', text: '? ERESTARTSYS (To be restarted)' }],
  ])('reads %s', (text, result) => {
    for (const took of ['', ' <0.000009>', ' <unavailable>']) {
      const reader = new ResultReader();
      expect(reader.read(text + took, 0, text.length + took.length)).toBe(true);
      expect(reader.result).toEqual(result);
      expect(reader.duration).toBe(took === ' <0.000009>' ? '0.000009' : undefined);
    }
  });

  it('takes the path and the pid that a result carries', () => {
    const reader = new ResultReader();
    const text = " = 2<E09 prefork> /* 2425 in strace's PID NS */ <0.1>";
    expect(reader.read(text, 0, text.length)).toBe(true);
    expect([reader.tracerPid, reader.duration]).toEqual([2425, '0.1']);
    expect(reader.read(' = 3</proc/7/maps>', 0, 18)).toBe(true);
    expect([reader.tracerPid, reader.path]).toEqual([undefined, '/proc/7/maps']);
  });

  it.each(['', ' ', ' =', ' = ', ' called', ' = x', ' = 0x', ' = 3<open', ' = 0,'])('refuses %j', (text) => {
    expect(new ResultReader().read(text, 0, text.length)).toBe(false);
  });
});

describe('LineSplitter', () => {
  it('gives every line once, with neither CR nor colours', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((text, start, end) => lines.push(text.slice(start, end)));
    for (const chunk of ['a\r\nb', 'c\r', '\n\n\x1b[3', '1md\x1b[0m', '\ne']) splitter.push(chunk);
    splitter.end();
    expect(lines).toEqual(['a', 'bc', '', 'd', 'e']);
  });

  it('takes away SGR sequences only', () => {
    expect(withoutColours('\x1b[1;31ma\x1b[0mb\x1b[mc')).toBe('abc');
    expect(withoutColours('a\x1b[2Jb\x1b]0;x\x07\x1b[31')).toBe('a\x1b[2Jb\x1b]0;x\x07\x1b[31');
  });
});

describe('messages', () => {
  /** Text before the message, and the task attached. */
  function cut(line: string, finder = new MessageFinder()): [string, number | undefined] | undefined {
    const message = finder.find(line, 0, line.length);
    return message && [line.slice(0, message.start), message.attached];
  }

  it.each<[string, [string, number | undefined] | undefined]>([
    ['strace: Process 5 attached', ['', 5]],
    ['clone(flags=SIGCHLDstrace: Process 5 attached', ['clone(flags=SIGCHLD', 5]],
    ['clone(flags=SIGCHLD/usr/bin/strace: Process 5 attached', ['clone(flags=SIGCHLD', 5]],
    ['clone(flags=SIGCHLD../bin/strace: Process 5 attached', ['clone(flags=SIGCHLD', 5]],
    ['clone3({}, 88strace: Process 5 attached', ['clone3({}, 88', 5]],
    ['read(3, /usr/bin/strace-6: Process 5 attached', ['read(3, ', 5]],
    ['clone(Process 5 attached (waiting for parent)', ['clone(', 5]],
    ['strace: Process 5 attached with 3 threads', ['', 5]],
    ['strace: Process 5 detached', ['', undefined]],
    ['Process 5 resumed (parent 4 ready)', ['', undefined]],
    ['7 write(1, "Process 5 attached", 18) = 18', undefined],
    ['it is attached', undefined],
  ])('finds the message in %s', (line, expected) => {
    expect(cut(line)).toEqual(expected);
  });

  it('learns what strace is called', () => {
    const finder = new MessageFinder();
    expect(cut('my tracer: Process 4 attached', finder)).toEqual(['my ', 4]);
    expect(cut('tracer: Process 4 attached', finder)).toEqual(['', 4]);
    expect(cut('read(3, 1tracer: Process 5 attached', finder)).toEqual(['read(3, 1', 5]);
    expect(finder.isOwn('tracer: Cannot attach', 0, 21)).toBe(true);
    expect(finder.isOwn('other: Cannot attach', 0, 20)).toBe(false);
  });

  it('finds debug messages at line ends only', () => {
    const line = 'brk(0 [wait(0x057f) = 23] WIFSTOPPED,sig=SIGTRAP';
    expect(debugMessageStart(line, 0, line.length)).toBe(5);
    const string = 'write(1, " [wait(0x057f) = 23]", 21) = 21';
    expect(debugMessageStart(string, 0, string.length)).toBe(-1);
  });
});
