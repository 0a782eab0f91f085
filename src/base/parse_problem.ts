/** Something in readable input that could not be taken as it stands. The rest is read all the same. */
export interface ParseProblem {
  /** 1-based line of the input. */
  readonly line: number;
  /** Stable kebab-case code, for filters, JSON and tests. */
  readonly code: string;
  /** One sentence for a person: what is wrong and, where there is something, what to do. */
  readonly text: string;
}
