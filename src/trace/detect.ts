import { StraceImporter } from './strace/importer';

/** What a captured text is, by its content. */
export interface Detection {
  /** `strace`, one of the formats that are known but not read, or `unknown`. */
  readonly format: string;
  /** `sure`: nearly every line has its shape. `likely`: some have. `no`: none of any format. */
  readonly confidence: 'sure' | 'likely' | 'no';
  /** For a format that is not read: what it is and what to do, one sentence. Else empty. */
  readonly advice: string;
}

/** A format that is recognised only to say so. */
interface Foreign {
  readonly format: string;
  /** A line of it; anchored, so that text inside a string argument of another format cannot match. */
  readonly line: RegExp;
  readonly advice: string;
}

/** So much of a capture is looked at first, and so much at most: output of the program may come before it. */
const FIRST_HEAD = 64 * 1024;
const LAST_HEAD = 16 * 1024 * 1024;
const GROWTH = 16;

/** A format needs this share of the lines that are not empty. */
const ENOUGH = 0.2;
const SURE = 0.8;

const RECORD_STRACE = 'record with strace -f -y -s 256 -o FILE';

/** Later importers (perf script, ftrace) take their row out of this table. */
const FOREIGN: readonly Foreign[] = [
  {
    format: 'ltrace',
    line: /^(?:\[pid +\d+\] |\d+ +)?(?:[\d.:]+ )?SYS_\w+\(/,
    advice: `This is output of ltrace, which prints four of the six arguments of mmap: ${RECORD_STRACE}.`,
  },
  {
    format: 'perf-trace',
    line: /^ *(?:\?|\d+\.\d+) \( *(?:\d+\.\d+ ms)? *\): /,
    advice: `This is output of perf trace, which leaves out names and loses calls: ${RECORD_STRACE}.`,
  },
  {
    format: 'perf-script',
    line: /^ *\S.{0,15} +\d+(?:\/\d+)? +(?:\[\d+\] +)?\d+\.\d+: +(?:(?:raw_)?syscalls|task|sched|exceptions):\w+: |^ *\S.{0,15} +\d+(?:\/\d+)? +.{0,24}\d+\.\d+: PERF_RECORD_/,
    advice: `This is output of perf script, which is not read yet: ${RECORD_STRACE}.`,
  },
  {
    format: 'ftrace',
    line: /^# tracer: |^ *\S.{0,20}-\d+ +(?:\( *[\d-]+\) )?(?:\[\d+\]|\d+[.\w]{4,6}) .*(?:: | : )(?:sys_|task_|sched_)\w+/,
    advice: `This is output of ftrace or trace-cmd, which is not read yet: ${RECORD_STRACE}.`,
  },
  {
    format: 'auditd',
    line: /^type=\w+ msg=audit\(/,
    advice: `This is a log of auditd, which holds no offsets and names: ${RECORD_STRACE}.`,
  },
  {
    format: 'qemu',
    line: /^\d+ \w+\([^ ]*,[^ ]*\) = /,
    advice: `This is output of qemu -strace, whose addresses are those of the guest: ${RECORD_STRACE} inside it.`,
  },
  {
    format: 'valgrind',
    line: /^SYSCALL\[\d+,\d+\]\(|^==\d+== /,
    advice: `This is output of valgrind, whose memory layout is its own: ${RECORD_STRACE}.`,
  },
  {
    format: 'bpftrace',
    line: /^#vmatrace |^\d+ \d{1,8}\.\d{6} (?:#\w+ |\w+\(.* = (?:-?\d+|0x[0-9a-f]+)$)/,
    advice: `This is output of a bpftrace script, which is not read yet: ${RECORD_STRACE}.`,
  },
  {
    format: 'strace-summary',
    line: /^% time +seconds |^ *\d+\.\d\d +\d+\.\d{6} +\d+ +\d+ +(?:\d+ +)?\w+$|^-{6} -{11} /,
    advice: `This is the table of strace -c, which holds no calls: ${RECORD_STRACE}.`,
  },
  {
    format: 'maps',
    line: /^[0-9a-f]{1,16}-[0-9a-f]{1,16} [r-][w-][x-][ps] [0-9a-f]+ |^[A-Z]\w+: +\d+ kB\r?$|^VmFlags:(?: [a-z0-9?]{2})+/,
    advice: 'This is a maps or smaps file, not a trace: open it as one, or give it as a snapshot.',
  },
];

/** Looks at the beginning of a capture (a latin1 byte string). Decides by content, never by a file name. */
export function detectTrace(bytes: string): Detection {
  let detection = detectIn(wholeLines(bytes, FIRST_HEAD));
  for (let size = FIRST_HEAD; detection.format === 'unknown' && size < bytes.length && size < LAST_HEAD;) {
    size *= GROWTH;
    detection = detectIn(wholeLines(bytes, size));
  }
  return detection;
}

function detectIn(head: string): Detection {
  const lines = head.split('\n').filter((line) => line.trim() !== '');
  let best: Detection | undefined;
  let bestShare = ENOUGH;
  for (const { format, line, advice } of FOREIGN) {
    const share =
      lines.filter((text) => line.test(text.slice(0, LONGEST_LINE))).length / Math.max(lines.length, 1);
    if (share < bestShare) continue;
    bestShare = share;
    best = { format, confidence: share >= SURE ? 'sure' : 'likely', advice };
  }
  return best ?? detectStrace(head);
}

/** More of a line than any of the patterns needs, bound for those that can look far ahead. */
const LONGEST_LINE = 512;

function detectStrace(head: string): Detection {
  const importer = new StraceImporter();
  importer.push(head);
  const { taken, foreign } = importer.counts();
  if (taken === 0) return { format: 'unknown', confidence: 'no', advice: '' };
  return { format: 'strace', confidence: taken / (taken + foreign) >= SURE ? 'sure' : 'likely', advice: '' };
}

/** The first lines, about `size` characters, without a last one that is only begun unless it is the only one. */
function wholeLines(bytes: string, size: number): string {
  if (bytes.length <= size) return bytes;
  let end = bytes.lastIndexOf('\n', size);
  if (end < 0) end = bytes.indexOf('\n', size);
  return end < 0 ? bytes : bytes.slice(0, end);
}
