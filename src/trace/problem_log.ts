import type { ParseProblem } from '../base/parse_problem';

interface Group {
  readonly line: number;
  readonly text: string;
  count: number;
}

/** Collects what an importer could not take as it stands: one problem a kind, with its first line and a count. */
export class ProblemLog {
  private readonly groups = new Map<string, Group>();

  /** `text` is kept for the first of a kind only. */
  add(code: string, line: number, text: string): void {
    const group = this.groups.get(code);
    if (group === undefined) this.groups.set(code, { line, text, count: 1 });
    else group.count++;
  }

  /** By first line. A kind that came more than once says how often. */
  problems(): readonly ParseProblem[] {
    return [...this.groups]
      .map(([code, { line, text, count }]) => ({
        line,
        code,
        text: count === 1 ? text : `${text} (the first of ${count} such lines)`,
      }))
      .sort((a, b) => a.line - b.line);
  }
}
