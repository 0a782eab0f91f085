import { printable } from '../base/bytes';
import type { ParseProblem } from '../base/parse_problem';
import { counted, formatCount } from './units';

/** What is to be said above the tree of an address space. */
export interface AddressSpaceRemarks {
  /** What the current step of a replay did. */
  readonly step: string | undefined;
  readonly reading: boolean;
  readonly failure: string | undefined;
  readonly notes: readonly string[];
  readonly problems: readonly ParseProblem[];
  readonly filter: string;
  readonly shown: number;
  readonly total: number;
}

/** The message above a tree, a line for each remark; '' for nothing to say. */
export function addressSpaceMessage(remarks: AddressSpaceRemarks): string {
  if (remarks.failure !== undefined) return printable(remarks.failure);
  if (remarks.reading) return 'Reading…';
  const lines: string[] = [];
  if (remarks.step !== undefined) lines.push(remarks.step);
  lines.push(...remarks.notes);
  const problems = problemsSentence(remarks.problems);
  if (problems !== '') lines.push(problems);
  if (remarks.filter !== '' && remarks.total > 0) {
    lines.push(filterSentence(remarks.filter, remarks.shown, remarks.total, 'mapping'));
  }
  return lines.map(printable).join('\n');
}

/** `Filter "heap": 2 of 41 mappings.` */
export function filterSentence(
  filter: string,
  shown: number,
  total: number,
  what: string,
  plural?: string,
): string {
  return `Filter "${printable(filter)}": ${formatCount(shown)} of ${counted(total, what, plural)}.`;
}

/** How many problems a text has and what the first one is; '' for none. */
function problemsSentence(problems: readonly ParseProblem[]): string {
  const [first] = problems;
  if (first === undefined) return '';
  const where = `line ${first.line}: ${first.text}`;
  return problems.length === 1
    ? `Problem in ${where}.`
    : `${counted(problems.length, 'problem')}, first in ${where}.`;
}
