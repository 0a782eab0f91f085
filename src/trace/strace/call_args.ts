import type { U64 } from '../../mm/addr';
import type { FdArg } from '../event';
import type { ArgumentScanner } from './arguments';
import type { ResultReader } from './result';
import { CLOSE_BRACE, OPEN_BRACE } from './chars';
import { readFd } from './fd';
import { type FlagReader } from './flags';
import type { FlagTable } from './flag_tables';
import { endOfPlain, readNumber, skipAsides, startOfValue } from './numbers';
import { readString, type StringArg } from './strings';

/** Stands in for a descriptor that could not be read; the call is thrown away with it. */
const NO_FD: FdArg = { fd: -1 };

/** More ranges than the kernel takes cannot be real. */
const UIO_MAXIOV = 1024;

/**
 * The arguments of one call, read as the types that its row in the table of calls asks for. An argument
 * that is missing or is something else makes `failed` true, and the call is kept as printed instead.
 */
export class CallArgs {
  text = '';
  failed = false;
  /** First flag name that no table has. */
  unknownFlag: string | undefined;

  constructor(
    readonly list: ArgumentScanner,
    private readonly inner: ArgumentScanner,
    private readonly flagReader: FlagReader,
    readonly result: ResultReader,
  ) {}

  /** Begins a new call whose arguments `list` has just found in `text`. */
  reset(text: string): void {
    this.text = text;
    this.failed = false;
    this.unknownFlag = undefined;
  }

  get count(): number {
    return this.list.count;
  }

  /** The argument as printed, `` if there is none. */
  raw(index: number): string {
    if (index >= this.list.count) return '';
    return this.text.slice(this.list.starts[index] ?? 0, this.list.ends[index] ?? 0);
  }

  rawFrom(index: number): string[] {
    const args: string[] = [];
    for (let i = index; i < this.list.count; i++) args.push(this.raw(i));
    return args;
  }

  /** A number or address. */
  u64(index: number): U64 {
    const value = this.number(index);
    if (value !== undefined) return value;
    this.failed = true;
    return 0;
  }

  /** A number that is small in any sane call: an id, a protection key. 32 bits, signed. */
  int(index: number): number {
    return Number(BigInt.asIntN(32, BigInt(this.u64(index))));
  }

  /** The number, undefined where the argument is missing or anything else. */
  number(index: number): U64 | undefined {
    const start = this.valueStart(index);
    const end = this.endOf(index);
    const stop = start < end ? endOfPlain(this.text, start, end) : -1;
    return stop < 0 ? undefined : readNumber(this.text, start, stop);
  }

  /** Bits by name or number. A name that the table lacks counts as no bits and is reported. */
  flags(index: number, table: FlagTable): number {
    const read = this.flagReader.read(this.text, this.valueStart(index), this.endOf(index), table);
    return this.flagsValue(read);
  }

  /** One value by name or number. A name that the table lacks fails: it is not the value 0. */
  choice(index: number, table: FlagTable): number {
    const value = this.flags(index, table);
    if (this.unknownFlag !== undefined) this.failed = true;
    return value;
  }

  fd(index: number): FdArg {
    const fd = readFd(this.text, this.valueStart(index), this.endOf(index));
    if (fd !== undefined) return fd;
    this.failed = true;
    return NO_FD;
  }

  /** A quoted string; undefined for a pointer, NULL or nothing. */
  string(index: number): StringArg | undefined {
    return readString(this.text, this.valueStart(index), this.endOf(index));
  }

  /** Flags in an argument printed as `name=…`, wherever it stands; undefined if there is none. */
  namedFlags(name: string, table: FlagTable): number | undefined {
    for (let i = 0; i < this.list.count; i++) {
      const start = this.list.starts[i] ?? 0;
      if (!this.text.startsWith(name, start)) continue;
      return this.flagsValue(this.flagReader.read(this.text, start + name.length, this.endOf(i), table));
    }
    return undefined;
  }

  /** Flags in the field `name=` of a struct argument `{…}`; undefined for a pointer or without the field. */
  fieldFlags(index: number, name: string, table: FlagTable): number | undefined {
    const at = this.fieldStart(this.valueStart(index), this.endOf(index), name);
    if (at < 0) return undefined;
    const [start, end] = this.field(name);
    return this.flagsValue(this.flagReader.read(this.text, start, end, table));
  }

  /** The number in a field of a struct argument, or of a struct in it: `fieldU64(2, 'range=', 'start=')`. */
  fieldU64(index: number, ...path: readonly string[]): U64 {
    let start = this.valueStart(index);
    let end = this.endOf(index);
    for (const name of path) {
      if (this.fieldStart(start, end, name) < 0) {
        this.failed = true;
        return 0;
      }
      [start, end] = this.field(name);
    }
    const value = readNumber(this.text, start, end);
    if (value === undefined) this.failed = true;
    return value ?? 0;
  }

  /** Each `{iov_base=…, iov_len=…}` of an array argument; fails if the array is cut (`...`) or a pointer. */
  ranges(index: number): readonly { readonly addr: U64; readonly length: U64 }[] {
    const end = this.endOf(index);
    let p = this.valueStart(index);
    const ranges: { addr: U64; length: U64 }[] = [];
    this.failed ||= this.text[p] !== '[';
    p++;
    while (!this.failed && this.text.charCodeAt(p) === OPEN_BRACE) {
      if (ranges.length === UIO_MAXIOV) break;
      this.failed = !this.inner.scan(this.text, p + 1, end, CLOSE_BRACE);
      ranges.push({ addr: this.fieldNumber('iov_base='), length: this.fieldNumber('iov_len=') });
      p = this.inner.close + 1;
      if (this.text.startsWith(', ', p)) p += 2;
    }
    if (this.text[p] !== ']' || skipAsides(this.text, p + 1, end) !== end) this.failed = true;
    return ranges;
  }

  private fieldNumber(name: string): U64 {
    const [start, end] = this.field(name);
    const value = readNumber(this.text, start, end);
    if (value !== undefined) return value;
    this.failed = true;
    return 0;
  }

  /** Scans the struct at `start`; position of its field's value, -1 without. */
  private fieldStart(start: number, end: number, name: string): number {
    if (this.text.charCodeAt(start) !== OPEN_BRACE || start >= end) return -1;
    this.inner.scan(this.text, start + 1, end, CLOSE_BRACE);
    return this.field(name)[0];
  }

  /** Range of a field's value in the struct scanned last; `[-1, -1]` without. */
  private field(name: string): readonly [number, number] {
    for (let i = 0; i < this.inner.count; i++) {
      const start = this.inner.starts[i] ?? 0;
      if (this.text.startsWith(name, start)) return [start + name.length, this.inner.ends[i] ?? 0];
    }
    return [-1, -1];
  }

  private flagsValue(read: { readonly value: number; readonly unknown?: string } | undefined): number {
    if (read === undefined) {
      this.failed = true;
      return 0;
    }
    if (read.unknown !== undefined) this.unknownFlag ??= read.unknown;
    return read.value;
  }

  /** Where the value begins, after a name that -N printed; the end of the text for a missing argument. */
  private valueStart(index: number): number {
    if (index >= this.list.count) return this.text.length;
    return startOfValue(this.text, this.list.starts[index] ?? 0, this.endOf(index));
  }

  private endOf(index: number): number {
    return index < this.list.count ? (this.list.ends[index] ?? 0) : this.text.length;
  }
}
