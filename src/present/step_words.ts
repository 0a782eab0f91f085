import { printable } from '../base/bytes';
import type { Denial, ReplayStep, StepKind } from '../replay/replay_types';
import { rangeText } from './entry_text';
import type { NodeIcon } from './tree_node';

const STEP_ICONS: Readonly<Record<StepKind, string>> = {
  map: 'add',
  unmap: 'remove',
  protect: 'shield',
  move: 'move',
  advise: 'comment',
  seal: 'lock',
  name: 'tag',
  brk: 'database',
  lock: 'pinned',
  fork: 'repo-forked',
  thread: 'git-branch',
  exec: 'rocket',
  exit: 'debug-disconnect',
  snapshot: 'device-camera',
};

/** The icon of a step: what went wrong before what was done. */
export function stepIcon(step: ReplayStep): NodeIcon {
  if (step.denied !== undefined) return { id: 'error', color: 'denied' };
  if (step.mismatch !== undefined) return { id: 'warning', color: 'warning' };
  return { id: STEP_ICONS[step.kind] };
}

/** What came of a step, as strace prints it: `= 0`, `= EPERM`; with the prediction where it differs. */
export function outcomeText(step: ReplayStep): string {
  // A fork's title names the child already.
  if (step.recorded === '' || step.kind === 'exit' || step.kind === 'snapshot') return '';
  if (step.childId !== undefined && step.mismatch === undefined) return '';
  const recorded = `= ${printable(step.recorded)}`;
  return step.mismatch === undefined ? recorded : `${recorded}, predicted ${printable(step.predicted)}`;
}

/** The row of a step in two parts, cut so that a narrow side bar shows what matters. */
export interface StepRowText {
  /** `81 mprotect` */
  readonly label: string;
  /** `40050000, 64 kB · = 0 · pid 29`; of a refused call the error first. */
  readonly description: string;
}

export function stepRowText(step: ReplayStep): StepRowText {
  const label = `${step.line} ${printable(step.call)}`;
  const what = printable(step.what);
  const outcome = outcomeText(step);
  const parts = step.denied === undefined ? [what, outcome] : [outcome, what];
  return { label, description: [...parts, `pid ${step.pid}`].filter((part) => part !== '').join(' · ') };
}

/** Where a replay stands, for the status bar: `line 66/198 · pid 21 · step 31/66`. */
export function positionText(
  step: ReplayStep | undefined,
  totals: { readonly lines: number; readonly steps: number },
): string {
  if (step === undefined) return `start · step 0/${totals.steps}`;
  return `line ${step.line}/${totals.lines} · pid ${step.pid} · step ${step.index + 1}/${totals.steps}`;
}

/** One sentence on what the current step did, for the message above a tree. */
export function stepSentence(step: ReplayStep | undefined): string {
  if (step === undefined) return 'Before the first step.';
  const outcome = outcomeText(step);
  const head = `Line ${step.line}: ${printable(step.title)}${outcome === '' ? '' : ` ${outcome}`}`;
  return step.denied === undefined ? head : `${head}, ${deniedText(step.denied)}`;
}

/** By which mapping a call was refused, where that was sealed, why, and what it changed all the same. */
function deniedText(denied: Denial): string {
  const { vma, sealedAtLine } = denied;
  const name = vma === undefined || vma.name === '' ? '' : ` ${printable(vma.name)}`;
  const sealed = sealedAtLine === undefined ? '' : `, sealed at line ${sealedAtLine}`;
  const by = vma === undefined ? '' : `refused by ${rangeText(vma)}${name}${sealed}: `;
  const text = `${by}${printable(denied.reason)}`;
  const left = (denied.leftBehind ?? []).map(printable);
  return left.length === 0 ? text : `${text}. All the same, ${left.join('; ')}`;
}
