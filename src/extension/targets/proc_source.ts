import type { Result } from '../../base/result';
import type { SourceError } from '../../node/source_error';
import type { ProcessFacts, ProcessSums } from '../../present/process_tree';
import type { AddressSpace } from './target';

/** The live processes of the machine that the extension runs on. */
export interface ProcSource {
  /** Is there a /proc to read? */
  readonly available: boolean;
  /** All processes that can be seen, by pid. */
  list(signal: AbortSignal): Promise<Result<readonly ProcessFacts[], SourceError>>;
  /** What is known of one process; undefined when there is none. */
  facts(pid: number): Promise<ProcessFacts | undefined>;
  /** Sums over its memory; undefined where they cannot be read. */
  sums(pid: number): Promise<ProcessSums | undefined>;
  read(pid: number, signal: AbortSignal): Promise<Result<AddressSpace, SourceError>>;
}
