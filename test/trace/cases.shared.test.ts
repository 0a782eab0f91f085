import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/read_trace';
import { expectSoundTrace } from './properties';
import { renderEvent } from './render';

const FOLDER = new URL('../../../shared/cases/', import.meta.url);

/** What each case's note says about reading it: events (parts of them, in order) and problem codes. */
const CASES: Readonly<
  Record<string, { readonly events: readonly string[]; readonly problems?: readonly string[] }>
> = {
  '061': {
    events: ['2 1202 munmap', '3<1 1201 mmap', '6<4 1202 mmap', '7<5 1201 mprotect'],
  },
  '062': {
    events: ['2<1 1201 clone(via="clone" flags=0x1200000) = 0x4b3', '4<3 1203 other', '5 1203 munmap'],
  },
  '065': {
    events: [
      '1 1905 munmap',
      '2 23966 munmap',
      '3 23524 munmap',
      '4 1038 @07:14:20.959262 munmap',
      '5 1038 munmap',
    ],
  },
  '066': {
    events: [
      '1 29628 execve',
      '2 29628 mmap',
      '3 29628 clone',
      '5 29628 munmap',
      '6 29629 exit',
      '7 29629 +++',
      '8 29628 other(syscall="wait4"',
      '9 29628 ---',
      '10 29628 munmap',
      '11 29628 +++',
    ],
    problems: ['resume-without-entry'],
  },
  '067': {
    events: [
      '2<1 22421 clone(via="clone" flags=0x1200000) = 0x5797',
      '6<3 22421 clone(via="vfork" flags=0x4100) = 0x5798',
      '7<5 22424 execve(path="/bin/true") = 0x0',
    ],
  },
  '070': {
    events: [
      '1 1301 mmap',
      '3 1302 munmap',
      '5<2 1301 clone(via="vfork"',
      '6<4 1302 execve',
      '7 1302 mmap',
      '8 1301 munmap',
    ],
  },
  '071': {
    events: [
      '1 1401 mmap',
      '2 1401 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName="pool A")',
      '3 1401 mseal',
      '4 1401 clone(via="fork" flags=0x0) = 0x57a',
      '5 1402 prctl_set_vma',
      '6 1402 munmap(addr=0x7f1000002000 length=0x1000) = EPERM',
      '7 1401 munmap',
    ],
  },
  '072': { events: ['1 1 mmap', '2 1 clone(via="clone" flags=0xd0f00)', '3 1 mmap'] },
  '075': {
    events: [
      '1 29610 mmap',
      '4<2 29609 other(syscall="pause" args=[]) = unknown',
      '5 29609 +++ superseded by 29610',
      '6<3 29609 execve(path="/bin/true") = 0x0 (begun by 29610)',
      '7 29609 brk',
    ],
  },
  '076': {
    events: [
      '1 5 --- SIGSTOP',
      '2 5 --- SIGSEGV SEGV_ACCERR at 0x7f1000000123',
      '3 5 +++ killed by SIGSEGV (core dumped)',
      '4 5 --- SIGCHLD',
      '5 5 --- SIGINT',
      '6 5 other(syscall="wait4"',
      '7 5 +++ killed by SIGKILL',
    ],
  },
  '077': {
    events: [
      '1 1 mmap',
      '2 1 mmap',
      '3 1 munmap(addr=0x7f10000cb000 length=0xadd470) = 0x0',
      '4 1 --- SIGSEGV SEGV_MAPERR at 0x7f10000da718',
      '5 1 +++',
    ],
  },
  '080': { events: ['1 4109 munmap', '2 4109 munmap', '3 4109 brk(addr=0x5590045f3000) = 0x5590045f3000'] },
  '081': {
    events: [
      '1 1 other',
      '2 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName="a), b) = 0x1234") = 0x0',
      '3 1 mmap(addr=0x0 length=0x1000 prot=0x1 flags=0x1 fd=5"/tmp/we,ird)= <x>" offset=0x0) = 0x7f1000010000',
      '4 1 other',
      '5 1 openat(path="a\\"b) = 5" flags="O_RDONLY") = 0x3',
    ],
  },
  '082': {
    events: [
      '1 1 mmap(addr=0x0 length=0x1000 prot=0x1 flags=0x2 fd=3"/opt/a,b/lib (1).so" offset=0x0)',
      '2 1 mmap(addr=0x0 length=0x2000 prot=0x1 flags=0x1 fd=3"/tmp/del me"(deleted) offset=0x1000)',
      '3 1 mmap(addr=0x0 length=0x2000 prot=0x1 flags=0x1 fd=3"/tmp/del me"(deleted) offset=0x1000)',
      '4 1 mmap(addr=0x0 length=0x1000 prot=0x3 flags=0x2 fd=3"/dev/zero"<char 1:5> offset=0x0)',
      '5 1 mmap(addr=0x0 length=0x1000 prot=0x3 flags=0x1 fd=4"/memfd:my fd"(deleted) offset=0x0)',
      '6 1 mmap(addr=0x0 length=0x1000 prot=0x1 flags=0x1 fd=6"/tmp/new\\nline" offset=0x0)',
    ],
  },
  '085': {
    events: [
      '1 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName="pool A") = 0x0',
      '2 1 prctl_set_vma(option=0x0 addr=0x7f1000001000 length=0x1000 vmaName="té\\tz") = EINVAL',
    ],
  },
  '086': {
    events: [
      '1 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName="a name that is much longer than "...)',
      '2 1 prctl_set_vma(option=0x0 addr=0x7f1000001000 length=0x1000 vmaName="a name that is much longer than "...)',
      '3 1 prctl_set_vma(option=0x0 addr=0x7f1000002000 length=0x1000 vmaName="ends in dots...")',
    ],
  },
  '087': {
    events: [
      '1 1 mmap',
      '2 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName=*0x55d0c0de2004)',
      '3 1 prctl_set_vma(option=0x0 addr=0x7f1000001000 length=0x1000 vmaName=*0x55d0c0de2010)',
      '4 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x1000 vmaName=null)',
    ],
  },
  '090': {
    events: [
      '1 1 mmap',
      '2 1 mmap',
      '3 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x3000 vmaName="span") = ENOMEM',
      '4 1 madvise(addr=0x7f1000000000 length=0x3000 advice=10) = ENOMEM',
    ],
  },
  '091': {
    events: [
      '1 1 mmap',
      '2 1 prctl_set_vma',
      '3 1 prctl_set_vma',
      '4 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0x3000 vmaName=null)',
    ],
  },
  '092': {
    events: [
      '1 1 mmap',
      '2 1 prctl_set_vma(option=0x0 addr=0x7f1000000000 length=0xa',
      '3 1 prctl_set_vma(option=0x0 addr=0x7f1000000010',
      '4 1 munmap',
      '5 1 mmap',
    ],
  },
  '095': {
    events: [
      '1 1 mmap',
      '2 1 mseal(addr=0x7f1000001000 length=0x1 flags=0x0)',
      '3 1 munmap',
      '4 1 mmap',
      '5 1 mremap',
      '6 1 mprotect',
      '7 1 mprotect',
    ],
  },
  '096': {
    events: [
      '1 1 mmap',
      '2 1 munmap',
      '3 1 mseal',
      '4 1 mseal(addr=0x7f1000000000 length=0x1000 flags=0x1) = EINVAL',
      '5 1 mseal',
      '6 1 munmap',
    ],
  },
  '097': {
    events: [
      '1 1 mmap',
      '2 1 mmap',
      '3 1 mmap',
      '4 1 mmap(addr=0x7f1000001000 length=0x2000 prot=0x5 flags=0x12 fd=3 offset=0x5000)',
      '5 1 mmap',
      '6 1 munmap',
    ],
  },
  '100': {
    events: [
      '1 1 mmap(addr=0x0 length=0x2000 prot=0x3 flags=0x22 fd=-1 offset=0x0) = 0x7f1000000000',
      '2 1 munmap(addr=0x7f1000000000 length=0x2000) = 0x0 injected',
      '3 1 mmap(addr=0x7f1000000000 length=0x1000 prot=0x1 flags=0x32 fd=-1 offset=0x0) = ENOMEM injected',
    ],
  },
  '101': {
    events: [
      '1 1 mmap',
      '2 1 prctl_set_vma',
      '3 1 mremap(oldAddr=0x7f1000002000 oldLength=0x1000 newLength=0x2000 flags=0x1 newAddr=undefined)',
      '4 1 mremap',
      '5 1 mremap',
      '6 1 mremap(oldAddr=0x7f1000020000 oldLength=0x1000 newLength=0x1000 flags=0x3 newAddr=0x7f1000000000)',
      '7 1 mremap',
    ],
  },
  '102': {
    events: [
      '1 1 mmap',
      '2 1 munmap',
      '3 1 munmap',
      '4 1 munmap',
      '5 1 munmap(addr=0x7f1000000001 length=0x1000) = EINVAL',
      '6 1 mprotect(addr=0x7f1000003000 length=0x1001 prot=0x0)',
    ],
  },
  '105': { events: ['1 1701 mmap', '2 1701 clone(via="fork"', '3 1701 mmap', '4 1701 mmap'] },
  '106': {
    events: [
      '1 1 shmget(key="IPC_PRIVATE" size=0x2000 flags="IPC_CREAT|0600") = 0x0',
      '2 1 shmat(id=0 addr=0x0 flags=0x0) = 0x7f1000000000',
      '3 1 other',
      '4 1 shmdt',
      '5 1 shmat(id=9 addr=0x0 flags=0x1000)',
    ],
  },
  '107': {
    events: [
      '1 1 brk',
      '2 1 brk',
      '3 1 brk',
      '4 1 brk(addr=0x7fffffffffff) = 0x555500010000',
      '5 1 brk(addr=0x555500010800) = 0x555500010800',
    ],
  },
  '110': {
    events: [
      '1 100 clone(via="fork" flags=0x0) = 0x65',
      '2 101 mmap',
      '3 101 +++',
      '4 100 clone(via="fork" flags=0x0) = 0x63',
      '5 99 +++',
      '6 100 clone(via="fork" flags=0x0) = 0x65',
      '7 101 munmap',
    ],
  },
  '111': {
    events: [
      '1 23581 clone',
      '4<2 23582 clone(via="vfork" flags=0x4100 childInTracerNs=23583) = 0x2',
      '5 23583 +++',
      '6 23582 clone(via="clone" flags=0x0) = 0x3',
      '7 23584 munmap',
    ],
  },
  '112': {
    events: [
      '1 616724 other',
      '2 616724 other',
      '3 616724 mmap',
      '4 616724 clone',
      '5 616724 other',
      '6 616724 +++ killed by SIGKILL',
    ],
  },
  '115': {
    events: [
      '1 1 mmap(addr=0x0 length=0x400000000000',
      '2 1 mmap',
      '3 1 mmap(addr=0x80000000000000 length=0x80000000000001 prot=0x0 flags=0x4032 fd=-1 offset=0x0) = ENOMEM',
      '4 1 munmap(addr=0x80000000000000 length=0xfffffffffffff000) = EINVAL',
    ],
  },
  '116': {
    events: [
      '1 1 mmap(addr=0x0 length=0x200000 prot=0x3 flags=0x54040022',
      '2 1 mmap(addr=0x0 length=0x1000 prot=0x13 flags=0x8800022',
      '3 1 mmap(addr=0x0 length=0x1000 prot=0x1 flags=0x24',
      '4 1 madvise(addr=0x7f1000200000 length=0x1000 advice=102)',
      '5 1 mprotect(addr=0x7f1000200000 length=0x1000 prot=0x1000005)',
    ],
  },
  '117': {
    events: [
      '1 1 other(syscall="svr4_munmap" args=[]) = 4249',
      '2 1 other',
      '3 1 other',
      '4 1 munmap(addr=0x7f1000000000 length=0x1000) = EINVAL',
    ],
    problems: ['unknown-call'],
  },
  '120': {
    events: [
      '1 1 mmap(addr=0x0 length=0x2000 prot=0x3 flags=0x22 fd=-1 offset=0x0)',
      '2 1 mmap(addr=0x0 length=0x1000 prot=0x1 flags=0x22 fd=-1 offset=0x0)',
      '3 1 munmap(addr=0x7f1000000000 length=0x1000)',
    ],
  },
  '121': {
    events: ['1 1 mmap', '3 1 munmap(addr=0x7f1000000000 length=0x1000) = 0x0', '6 1 +++'],
    problems: ['foreign-line', 'recovered-call'],
  },
  '122': {
    events: [
      '2<1 1 brk(addr=0x0) = 0x76e000',
      '5<4 1 mmap(addr=0x0 length=0x2000 prot=0x3 flags=0x22 fd=-1 offset=0x0) = 0x7f1000000000',
    ],
    problems: ['debug-output'],
  },
  '125': { events: ['2 1801 munmap'], problems: ['cut-line'] },
  '126': { events: ['1 1 execve(path="/bin/demo") = 0x0', '2 1 munmap'] },
  '127': { events: [], problems: ['unsupported-format'] },
};

describe.skipIf(!existsSync(FOLDER))('reported inputs', () => {
  it.each(Object.entries(CASES))('%s gives what its note expects', (number, { events, problems = [] }) => {
    const bytes = readFileSync(new URL(`${number}.strace`, FOLDER), 'latin1');
    const trace = readTrace(bytes);
    const rendered = trace.events.map(renderEvent);
    expect(rendered.map((line, index) => line.slice(0, events[index]?.length))).toEqual(events);
    expect(trace.problems.map(({ code }) => code)).toEqual(problems);
    expectSoundTrace(bytes);
  });
});
