import { describe, expect, it } from 'vitest';
import { compareRecording, nearestRules } from './compare';
import { recordingText } from './find_difference';
import { packRecording, readRecording, unpackRecording, withoutLastSequence } from './recording';

const TEXT = `# recording 1
# kernel 6.12.117
# without thp soft-dirty
# rules heapExecutable=true
1001 execve("/usr/bin/recorder", ["recorder"], 0x7ffc00000000 /* 0 vars */) = 0
1001 brk(NULL) = 0x2000190000
@1001 0 0
1001 openat(AT_FDCWD, "/dev/zero", O_RDWR) = 8</dev/zero>
1001 mmap(0x2000000000, 12288, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x2000000000
@1001 0 0
 2000000000-2000003000 r--p 0 rd,mr,mw,me 
1001 madvise(0x2000001000, 4096, MADV_DONTFORK) = 0
@1001 0 0
 2000000000-2000001000 r--p 0 rd,mr,mw,me 
 2000001000-2000002000 r--p 0 rd,mr,mw,me,dc 
 2000002000-2000003000 r--p 0 rd,mr,mw,me 
1001 clone(child_stack=NULL, flags=SIGCHLD, child_tidptr=0x7f0000000a10) = 1002
@1001 3 0
@1002 0 0
 2000000000-2000001000 r--p 0 rd,mr,mw,me 
 2000002000-2000003000 r--p 0 rd,mr,mw,me 
1002 mprotect(0x2000000000, 4096, PROT_NONE) = 0
@1002 0 1
 2000000000-2000001000 ---p 0 mr,mw,me 
# end
`;

describe('withoutLastSequence', () => {
  it('keeps the sequences before the one that broke off', () => {
    const head = '# kernel 6.1.192\n# sequence 0\n1001 execve("x") = 0\n';
    const broken = `${head}# sequence 1\n1002 execve("x") = 0\n# a process was lost\n# end\n`;
    expect(readRecording(broken).complete).toBe(false);
    expect(withoutLastSequence(broken)).toBe(`${head}# end\n`);
    expect(readRecording(withoutLastSequence(broken)).complete).toBe(true);
  });
});

describe('readRecording', () => {
  const recording = readRecording(TEXT);

  it('tells the kernel and what it was built without', () => {
    expect(recording).toMatchObject({
      release: '6.12.117',
      without: ['thp', 'soft-dirty'],
      rules: { heapExecutable: true },
      complete: true,
    });
  });

  it('leaves the trace as strace would have printed it', () => {
    expect(recording.lines).toHaveLength(7);
    expect(recording.trace).not.toMatch(/^[@# ]/m);
  });

  it('completes lists that were written as changes, each process for itself', () => {
    expect(recording.records.map(({ line, pid, vmas }) => [line, pid, vmas.length])).toEqual([
      [2, 1001, 0],
      [4, 1001, 1],
      [5, 1001, 3],
      [6, 1001, 3],
      [6, 1002, 2],
      [7, 1002, 2],
    ]);
    expect(recording.records.at(-1)?.vmas).toEqual([
      '2000000000-2000001000 ---p 0 mr,mw,me ',
      '2000002000-2000003000 r--p 0 rd,mr,mw,me ',
    ]);
  });

  it('reads the whole map of a process where one stands', () => {
    const smaps = [
      '%1001',
      ' 00400000-00401000 r--p 00000000 fe:00 12                         /usr/bin/recorder',
      ' VmFlags: rd mr mw me ',
      ' 7ffffffbe000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]',
      ' Anonymous:           260 kB',
      ' VmFlags: rd wr mr mw me gd ac ',
      '',
    ].join('\n');
    const whole = readRecording(TEXT.replace('1001 mmap(', `${smaps}1001 mmap(`));
    expect(whole.snapshots.map(({ pid, line, entries }) => [pid, line, entries.length])).toEqual([
      [1001, 3, 2],
    ]);
    expect(whole.trace).toBe(recording.trace);
    expect(whole.records).toEqual(recording.records);
    expect(recordingText(whole, 4)).toContain('%1001\n 00400000-');
    // One page more than that exceeds the limit.
    const limited = (pages: number): string =>
      smaps.replace(
        '%1001',
        `1001 setrlimit(RLIMIT_AS, {rlim_cur=${pages * 4096}, rlim_max=RLIM64_INFINITY}) = 0\n%1001`,
      );
    const compared = (pages: number): string | undefined =>
      compareRecording(readRecording(TEXT.replace('1001 mmap(', `${limited(pages)}1001 mmap(`)), {
        kernel: '6.12',
      }).differences[0]?.predicted;
    expect([compared(69), compared(68)]).toEqual([undefined, 'ENOMEM']);
  });

  it('sees that a recording was cut off', () => {
    expect(readRecording(TEXT.replace('# end\n', '')).complete).toBe(false);
    expect(readRecording(TEXT.replace('# end\n', '# a process was lost\n# end\n')).complete).toBe(false);
  });

  it('comes back from its packed form', () => {
    expect(unpackRecording(packRecording(TEXT))).toBe(TEXT);
  });
});

describe('compareRecording', () => {
  it('finds nothing where the kernel did what the rules say', () => {
    expect(compareRecording(readRecording(TEXT), { kernel: '6.12' })).toEqual({
      calls: 6,
      maps: 0,
      results: 0,
      free: 0,
      differences: [],
    });
  });

  it('shows a list that differs, once a sequence', () => {
    const other = TEXT.replace('---p 0 mr,mw,me ', '---p 0 mr,me ').replace('me,dc ', 'me,dd ');
    const comparison = compareRecording(readRecording(other), { kernel: '6.12' });
    expect(comparison).toMatchObject({ maps: 3, results: 0 });
    expect(comparison.differences).toHaveLength(1);
    expect(comparison.differences[0]).toMatchObject({
      line: 5,
      pid: 1001,
      predicted: '0',
      recorded: '0',
      ours: ['2000001000-2000002000 r--p 0 rd,mr,mw,me,dc '],
      kernels: ['2000001000-2000002000 r--p 0 rd,mr,mw,me,dd '],
    });
  });

  it('shows a result that differs', () => {
    const other = TEXT.replace('MADV_DONTFORK) = 0', 'MADV_DONTFORK) = -1 EINVAL (Invalid argument)');
    const { results, differences } = compareRecording(readRecording(other), { kernel: '6.12' });
    expect(results).toBe(1);
    expect(differences[0]).toMatchObject({ line: 5, predicted: '0', recorded: 'EINVAL' });
  });

  it('needs a record for each call', () => {
    const lacking = TEXT.replace('@1001 3 0\n', '');
    expect(() => compareRecording(readRecording(lacking), { kernel: '6.12' })).toThrow(/line 6/);
  });
});

describe('recordingText', () => {
  it('is a recording again, without files that no call uses', () => {
    const recording = readRecording(TEXT);
    const again = readRecording(recordingText(recording, 7));
    expect(again.lines).toEqual(recording.lines.filter((line) => !line.includes('openat')));
    expect(again.records.map(({ vmas }) => vmas)).toEqual(recording.records.map(({ vmas }) => vmas));
    expect(again.rules).toEqual(recording.rules);
  });
});

describe('nearestRules', () => {
  it.each([
    ['6.12.117', '6.12'],
    ['6.18.44-generic', '6.18'],
    ['6.15.2', '6.12'],
    ['7.3.4', '7.3'],
    ['9.0.1', '7.3'],
    ['5.10.0-30-amd64', '6.1'],
  ])('of %s are those of %s', (release, version) => {
    expect(nearestRules(release)).toBe(version);
  });
});
