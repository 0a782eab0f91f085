import { err, ok, type Err, type Result } from '../base/result';
import type { U64 } from './addr';
import type { Errno } from './errno';
import type { Vma } from './vma';

/** Why a call was refused: what the kernel returns and what a person wants to know. */
export interface Refusal {
  readonly errno: Errno;
  /** The rule in words, with the kernel function that decides. */
  readonly why: string;
  /** The VMA that refused, where one did. */
  readonly vma: Vma | null;
  /** A limit refused, of which a trace shows part at most: RLIMIT_*, vm.max_map_count, memory. */
  readonly limit?: true;
}

/**
 * What the rules predict for a call. `anywhere`: it succeeds at an address that the kernel chooses freely, so
 * no one rule decides the value. `pages-decide`: no VMA is in its way, but it succeeds or fails with the state of pages
 * that no trace shows.
 */
export type Prediction = Result<U64 | 'anywhere' | 'pages-decide', Refusal>;

export function refuse(errno: Errno, why: string, vma: Vma | null = null): Err<Refusal> {
  return err({ errno, why, vma });
}

/** A refusal by a limit. */
export function overLimit(errno: Errno, why: string, vma: Vma | null = null): Err<Refusal> {
  return err({ errno, why, vma, limit: true });
}

export const DONE: Prediction = ok(0);
