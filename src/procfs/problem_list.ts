import type { ParseProblem } from '../base/parse_problem';

/** Problems of one code that are listed one by one; what comes after is counted in one last line. */
const LISTED_PER_CODE = 1000;

/**
 * Collects the problems of one document, so that a file of a million bad lines gives an answer that can be
 * read (and held in memory).
 */
export class ProblemList {
  private readonly problems: ParseProblem[] = [];
  private readonly counts = new Map<string, { count: number; firstUnlisted: number }>();
  private run: { code: string; from: number; to: number; text: string } | null = null;

  add(line: number, code: string, text: string): void {
    this.endRun();
    this.push(line, code, text);
  }

  /** As {@link add}, but lines that follow each other with the same code become one problem. */
  addToRun(line: number, code: string, text: string): void {
    if (this.run !== null && this.run.code === code && this.run.to === line - 1) {
      this.run.to = line;
      return;
    }
    this.endRun();
    this.run = { code, from: line, to: line, text };
  }

  /** All problems by line. The list is not to be used afterwards. */
  finish(): readonly ParseProblem[] {
    this.endRun();
    for (const [code, { count, firstUnlisted }] of this.counts) {
      const more = count - LISTED_PER_CODE;
      if (more > 0)
        this.problems.push({ line: firstUnlisted, code, text: `${more} more like this from here on` });
    }
    return this.problems.sort((a, b) => a.line - b.line);
  }

  private endRun(): void {
    const run = this.run;
    if (run === null) return;
    this.run = null;
    const more = run.to - run.from;
    const words =
      more === 0 ? '' : more === 1 ? ' (and the line after it)' : ` (and the ${more} lines after it)`;
    this.push(run.from, run.code, run.text + words);
  }

  private push(line: number, code: string, text: string): void {
    const seen = this.counts.get(code) ?? { count: 0, firstUnlisted: line };
    if (seen.count < LISTED_PER_CODE) this.problems.push({ line, code, text });
    else if (seen.count === LISTED_PER_CODE) seen.firstUnlisted = line;
    seen.count++;
    this.counts.set(code, seen);
  }
}
