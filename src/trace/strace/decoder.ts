import type { Syscall, SyscallResult } from '../event';
import type { ProblemLog } from '../problem_log';
import { ArgumentScanner } from './arguments';
import { CallArgs } from './call_args';
import { CALLS, MEMORY_CALLS } from './calls';
import { BLANK, CLOSE_PAREN, EQUALS, skipBlanks } from './chars';
import { FlagReader } from './flags';
import { ResultReader } from './result';

/** `open`: the text ends before the call does. `not-a-call`: looks like one up to the parenthesis only. */
type Decoded = 'call' | 'open' | 'not-a-call';

/** Turns the text of one call into values. Used again for every call; results in its fields. */
export class CallDecoder {
  call: Syscall = { name: 'other', syscall: '', args: [] };
  /** Calls that strace printed by number although they are known (mseal before 6.10). */
  numberedCalls = 0;

  private readonly list = new ArgumentScanner();
  private readonly outcome = new ResultReader();
  private readonly args = new CallArgs(this.list, new ArgumentScanner(), new FlagReader(), this.outcome);

  constructor(private readonly problems: ProblemLog) {}

  get result(): SyscallResult {
    return this.outcome.result;
  }

  get duration(): string | undefined {
    return this.outcome.duration;
  }

  /** Reads `args) = result`, `[start, end)` of `text`, of the call `name`; `line` is for problems. */
  decode(name: string, text: string, start: number, end: number, line: number): Decoded {
    this.list.scan(text, start, end);
    let { close } = this.list;
    if (close < 0) {
      // Brackets that do not match, but an end all the same: the last `) =` that is not in a string.
      close = this.list.inString ? -1 : lastClose(text, start, end);
      if (close < 0) return 'open';
      this.cutArgumentsAt(close);
    }
    if (!this.outcome.read(text, close + 1, end)) {
      const rest = skipBlanks(text, close + 1, end);
      const cut =
        rest === end || (text.charCodeAt(rest) === EQUALS && skipBlanks(text, rest + 1, end) === end);
      return cut && CALLS.has(name) ? 'open' : 'not-a-call';
    }
    this.readArguments(name, text, line, true);
    return 'call';
  }

  /** Reads what is there of a call whose result never came. */
  decodeUnfinished(name: string, args: string, line: number): Syscall {
    this.outcome.clear();
    if (!this.list.scan(args, 0, args.length) && this.list.inString) return other(name, [args]);
    this.readArguments(name, args, line, false);
    return this.call;
  }

  /** Reads the second half of a call whose first half is missing: no arguments can be relied on. */
  decodeOrphan(name: string, rest: string): boolean {
    this.list.scan(rest, 0, rest.length);
    const { close } = this.list;
    if (close < 0 || !this.outcome.read(rest, close + 1, rest.length)) return false;
    this.args.reset(rest);
    const printed = this.args.rawFrom(0);
    this.list.count = 0;
    const call = CALLS.get(name)?.(this.args);
    this.call = call === undefined || this.args.failed ? other(name, printed) : call;
    return true;
  }

  private readArguments(name: string, text: string, line: number, complete: boolean): void {
    const { args } = this;
    args.reset(text);
    const row = CALLS.get(name);
    if (row === undefined) {
      if (isNumbered(name)) this.problems.add('unknown-call', line, 'a call that this strace did not know');
      this.call = other(name, args.rawFrom(0));
      return;
    }
    const call = row(args);
    if (call === undefined || args.failed) {
      this.call = other(name, args.rawFrom(0));
      if (complete && args.failed && MEMORY_CALLS.has(name) && !this.isFault()) {
        this.problems.add(
          'bad-argument',
          line,
          `an argument of ${name} that cannot be read; the call is kept as text only`,
        );
      }
      return;
    }
    if (args.unknownFlag !== undefined) {
      this.problems.add(
        'unknown-flag',
        line,
        `a flag without a known value in ${name}; the rest of the flags is kept`,
      );
    }
    if (isNumbered(name)) this.numberedCalls++;
    this.call = call;
  }

  /** strace prints a struct that it could not read either as a pointer; such a call did nothing. */
  private isFault(): boolean {
    const { result } = this.outcome;
    return result.kind === 'errno' && result.errno === 'EFAULT';
  }

  private cutArgumentsAt(close: number): void {
    const { list } = this;
    while (list.count > 0 && (list.starts[list.count - 1] ?? 0) >= close) list.count--;
    if (list.count > 0) list.ends[list.count - 1] = Math.min(list.ends[list.count - 1] ?? close, close);
  }
}

function other(syscall: string, args: readonly string[]): Syscall {
  return { name: 'other', syscall, args };
}

/** `syscall_0x71(…)`, and `svr4_munmap(…)` of strace builds with foreign tables. */
function isNumbered(name: string): boolean {
  return name.startsWith('syscall_') || name.startsWith('svr4_');
}

/** Position of the last `)` that `=` follows, -1 if there is none. */
function lastClose(text: string, start: number, end: number): number {
  let equals = -1;
  for (let p = end - 1; p >= start; p--) {
    const code = text.charCodeAt(p);
    if (code === EQUALS && text.charCodeAt(p + 1) === BLANK) equals = p;
    else if (code === CLOSE_PAREN && equals >= 0) return p;
    else if (code !== BLANK) equals = -1;
  }
  return -1;
}
