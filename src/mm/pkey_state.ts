/** What an address space has of protection keys (mm->context on x86). */
export interface PkeyState {
  /** One bit a key: known to be allocated, known to be free. Neither: not known. */
  readonly allocated: number;
  readonly free: number;
  /** The process began in the trace: it allocated no key but those that the trace shows, if it shows any. */
  readonly fresh: boolean;
  /** The key of execute-only memory; null where there is none yet, or none is known. */
  readonly executeOnly: number | null;
}

/** A process of which nothing is known. */
export const UNKNOWN_PKEYS: PkeyState = { allocated: 1, free: 0, fresh: false, executeOnly: null };
/** init_new_context: after exec. */
export const FRESH_PKEYS: PkeyState = { ...UNKNOWN_PKEYS, fresh: true };
