import { LINEAR_FOR_16, timeRatio } from '../../time_ratio';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrace } from '../../../src/trace/strace/importer';
import type { Syscall } from '../../../src/trace/event';
import { expectSoundTrace, parseInChunks } from '../properties';
import { anyCall, anyStyle, printCall } from './print_call';

/** Pieces that the grammar turns on, so that random lines get somewhere. */
const PIECES = [
  '12 ',
  '[pid  12] ',
  '12<comm> ',
  '20:57:43.1 ',
  '(+ 0.1) ',
  '[  9] ',
  'mmap(',
  'munmap(0x1000, 4096',
  'prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x1000, 4096, ',
  'clone(',
  'execve(',
  'clone3({flags=',
  '"',
  '\\',
  '<',
  '>',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ', ',
  ' = ',
  '=',
  '0x1000',
  '-1 ENOMEM (x)',
  '?',
  '0',
  '/*',
  '*/',
  '|',
  'PROT_READ',
  '<<',
  '<unfinished ...>',
  ' <unfinished ...>',
  '<... mmap resumed>',
  '<... execve resumed>',
  ' <detached ...>',
  '+++ exited with 0 +++',
  '--- SIGSEGV {si_addr=0x1} ---',
  '+++ superseded by execve in pid 13 +++',
  'strace: Process 13 attached',
  ' [wait(0x1) = 2] SIG',
  '% time ',
  ' > ',
  '\n',
  '\n',
  '\n',
  '\r\n',
  '\x1b[0m',
  'NULL',
  '...',
  '-1',
  ' ',
];
const anyLines = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(''));
const anyBytes = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 400 })
  .map((codes) => String.fromCharCode(...codes));

/** Where strace prints the option by name and the name as a number, it could not read the name. */
function unreadableName(call: Syscall): Syscall {
  if (call.name !== 'prctl_set_vma' || call.vmaName.kind !== 'pointer') return call;
  return { ...call, vmaName: { ...call.vmaName, unreadable: true } };
}

describe('the strace importer', () => {
  it('takes any bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => void expectSoundTrace(bytes)),
      { numRuns: 500 },
    );
  });

  it('takes anything that is made of strace’s own words', () => {
    fc.assert(
      fc.property(anyLines, (bytes) => void expectSoundTrace(bytes)),
      { numRuns: 3000 },
    );
  });

  it('does not depend on the chunks', () => {
    fc.assert(
      fc.property(anyLines, fc.array(fc.nat(), { maxLength: 10 }), (bytes, cuts) => {
        expect(parseInChunks(bytes, cuts)).toEqual(parseStrace(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  it('reads back what strace would print for a call, whole and split', () => {
    fc.assert(
      fc.property(anyCall, anyStyle, fc.nat(), (call, style, place) => {
        const text = printCall(call, style);
        const at = 'mseal('.length + (place % 5);
        const open = text.indexOf('(') + 1;
        const commas = [...text.matchAll(/, /g)].map((match) => match.index);
        const cut = commas.length === 0 ? open : (commas[place % commas.length] ?? at);
        const whole = parseStrace(`7 ${text} = 0\n`);
        expect(whole.problems).toEqual([]);
        expect(whole.events.map((event) => event.kind === 'syscall' && event.call)).toEqual([
          style.constants === 'abbrev' ? unreadableName(call) : call,
        ]);
        // strace cuts between arguments, at commas; one inside a string or note must not matter.
        const name = text.slice(0, open - 1);
        const split = parseStrace(
          `7 ${text.slice(0, cut)} <unfinished ...>\n8 gettid() = 8\n7 <... ${name} resumed>${text.slice(cut)} = 0\n`,
        );
        expect(split.problems).toEqual([]);
        expect(split.events[1]).toMatchObject({ line: 3, entryLine: 1, pid: 7, call });
      }),
      { numRuns: 3000 },
    );
  });
});

describe('work for long and hostile lines', () => {
  /** Inputs of a kind, about `LENGTH` characters long. */
  const inputs = (LENGTH: number): [string, string][] => [
    ['open parentheses', 'mmap(' + '('.repeat(LENGTH)],
    ['open quotes', 'mmap(' + '"\\"'.repeat(LENGTH / 2)],
    ['angle brackets', 'mmap(' + '1<'.repeat(LENGTH / 2)],
    ['comments', 'mmap(' + '/*'.repeat(LENGTH / 2)],
    ['closers', 'mmap(' + ') = '.repeat(LENGTH / 4)],
    ['calls in junk', '50' + 'munmap('.repeat(LENGTH / 7)],
    ['ranges', `process_madvise(3, [${'{<, },'.repeat(LENGTH / 6)}`],
    ['flags', `mprotect(0, 0, ${'PROT_READ|'.repeat(LENGTH / 10)}0) = 0`],
    ['blanks', `mmap(${' '.repeat(LENGTH)}) = 0`],
    ['digits', '1'.repeat(LENGTH)],
    ['a long argument', `execve("/x", ["${'x'.repeat(LENGTH)}"], NULL) = 0`],
    ['escapes in a colour', `\x1b[${'1;'.repeat(LENGTH / 2)}`],
    ['escapes', '\x1b'.repeat(LENGTH)],
    ['lines that never end', 'mmap(\n"a\n'.repeat(LENGTH / 8)],
    ['heads cut by messages', 'mmap(strace: Process 7 attached\n'.repeat(LENGTH / 32)],
    ['orphans of execve', '7 execve( <unfinished ...>\n8 <... execve resumed>) = 0\n'.repeat(LENGTH / 50)],
    [
      'threads in execve',
      Array.from({ length: LENGTH / 50 }, (_, pid) => `${pid} execve( <unfinished ...>\n`).join('') +
        '99999 <... execve resumed>) = 0\n'.repeat(LENGTH / 50),
    ],
    [
      'a call split for ever',
      '7 mmap( <unfinished ...>\n' + '7 <... mmap resumed>1, <unfinished ...>\n'.repeat(LENGTH / 40),
    ],
  ];
  const names = inputs(64).map(([name]) => name);

  it.each(names.map((name, index) => [name, index] as const))('stays in proportion: %s', (_, index) => {
    const [small, large] = [1 << 16, 1 << 20].map((length) => inputs(length)[index]?.[1] ?? '');
    const ratio = timeRatio(parseStrace, small ?? '', large ?? '');
    expect(ratio).toBeLessThan(LINEAR_FOR_16);
  });
});
