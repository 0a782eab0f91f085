import type { TraceEvent } from '../event';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * What one line gives, before it is known which task an unprefixed line belongs to: then `pid` is NO_PID
 * and filled in later.
 */
export type Item = Mutable<TraceEvent> | Entry | Resume;

/** First half of a split call: `munmap(0x7f…, 4096 <unfinished ...>`. */
export interface Entry {
  readonly kind: 'entry';
  readonly line: number;
  pid: number;
  readonly time?: string;
  readonly name: string;
  /** Text after the parenthesis, up to the mark. */
  args: string;
  /** `unfinished` if a second half may come; `detached`, `pid changed to N` if not. */
  readonly mark: string;
}

/** Second half: `<... munmap resumed>) = 0`. */
export interface Resume {
  readonly kind: 'resume';
  readonly line: number;
  pid: number;
  readonly time?: string;
  readonly name: string;
  /** Text after `resumed>`. */
  readonly rest: string;
}
