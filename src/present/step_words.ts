import { printable } from '../base/bytes';
import type { ReplayStep, StepKind } from '../replay/replay_types';
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

/** `line 66 · pid 21 · = 0` */
export function stepDetail(step: ReplayStep): string {
  const outcome = outcomeText(step);
  return `line ${step.line} · pid ${step.pid}${outcome === '' ? '' : ` · ${outcome}`}`;
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
  return step.denied === undefined ? head : `${head}: ${printable(step.denied.reason)}`;
}
