import { printable } from '../base/bytes';
import type { ForkSharing, ReplayStep } from '../replay/replay_types';
import { rangeText } from './entry_text';
import { nameText } from './shared_names_tree';
import { outcomeText, stepIcon, stepRowText } from './step_words';
import { tableBlock, textBlock, type Tooltip, type TooltipBlock } from './tooltip';
import { processesGroup } from './trace_lives';
import { group, type TraceInput } from './trace_group';
import { snapshotsGroup } from './trace_snapshots';
import { makeNode, rowsOf, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatBytes, formatCount } from './units';

/** The row of an opened trace, with its processes, forks, denied calls and so on below it. */
export function traceRow(input: TraceInput): TreeNode {
  const { traceId, replay, trace } = input;
  return makeNode({
    id: traceId,
    label: printable(input.label),
    description: `rules ${replay.kernel} · ${formatCount(trace.lineCount)} lines · ${counted(replay.steps.length, 'step')}`,
    icon: input.isCurrent ? { id: 'debug-rerun', color: 'current' } : { id: 'debug-rerun' },
    context: 'trace',
    expanded: true,
    subject: { kind: 'trace', traceId },
    tooltip: () => traceTooltip(input),
    children: () => [
      processesGroup(input),
      forksGroup(input),
      deniedGroup(input),
      mismatchGroup(input),
      snapshotsGroup(input),
      stepsGroup(input),
      ...problemsGroup(input),
    ],
  });
}

function traceTooltip({ label, location, trace, replay }: TraceInput): Tooltip {
  const { prePassVisits, inLoopVisits } = replay.sealCost;
  const rows: [string, string][] = [
    ['File', location],
    ['Format', trace.format],
    ['Lines', formatCount(trace.lineCount)],
    ['Kernel rules', replay.kernel],
    ['Steps', formatCount(replay.steps.length)],
    ['Processes', formatCount(replay.lives.length)],
    ['Seal checks, pre-pass', `${counted(prePassVisits, 'mapping')} walked before the work`],
    ['Seal checks, in the loop', `${counted(inLoopVisits, 'mapping')} asked in passing, none visited twice`],
  ];
  return {
    title: label,
    blocks: [
      tableBlock('', rows),
      ...trace.lacks.map((lack) => textBlock(`Not in this capture: ${lack.text}`)),
    ],
  };
}

function forksGroup(input: TraceInput): TreeNode {
  const { forks } = input.replay;
  const id = `${input.traceId}/forks`;
  return group(id, 'Forks', { id: 'repo-forked' }, forks.length, () =>
    rowsOf({
      id,
      items: forks,
      row: (fork) => forkRow(`${id}/${fork.step}`, fork, input),
      range: (from, to) => ({ label: 'forks', description: `${from + 1} to ${to}` }),
    }),
  );
}

function forkRow(id: string, fork: ForkSharing, input: TraceInput): TreeNode {
  const pidOf = (lifeId: string): string =>
    String(input.replay.lives.find((life) => life.id === lifeId)?.pid ?? lifeId);
  const step = input.replay.steps[fork.step];
  const shares =
    fork.shared.length === 0
      ? 'no names'
      : `${counted(fork.shared.length, 'name')}, ${counted(fork.cost.references, 'reference')}`;
  const spec = {
    id,
    label: `${pidOf(fork.parentId)} → ${pidOf(fork.childId)}`,
    description: step === undefined ? shares : `${shares} · line ${step.line}`,
    icon: { id: 'repo-forked' },
    context: 'instant',
    accessibility: `process ${pidOf(fork.parentId)} forks ${pidOf(fork.childId)}, sharing ${shares}`,
    subject: { kind: 'instant', traceId: input.traceId, index: fork.step } as const,
    tooltip: (): Tooltip => ({
      title: `${pidOf(fork.parentId)} forks ${pidOf(fork.childId)}`,
      blocks: [
        textBlock(
          `With shared name objects: ${counted(fork.cost.references, 'reference')} taken, nothing copied.`,
        ),
        textBlock(
          `With a copy for each mapping: ${counted(fork.cost.copies, 'allocation')}, ${formatBytes(fork.cost.copyBytes)} copied.`,
        ),
      ],
    }),
  };
  if (fork.shared.length === 0) return makeNode(spec);
  return makeNode({ ...spec, children: () => sharedRows(id, fork) });
}

function sharedRows(id: string, fork: ForkSharing): readonly TreeNode[] {
  return rowsOf({
    id,
    items: fork.shared,
    row: ({ object, childRefs, refs }) =>
      makeNode({
        id: `${id}/${object.id}`,
        label: nameText(object),
        description: `#${object.id} · ${counted(childRefs, 'reference')} of the child, ${formatCount(refs)} in all`,
        icon: { id: 'references' },
      }),
    range: (from, to) => ({ label: 'names', description: `${from + 1} to ${to}` }),
  });
}

function deniedGroup(input: TraceInput): TreeNode {
  const denied = input.replay.steps.filter((step) => step.denied !== undefined);
  return stepGroup('denied', 'Denied calls', { id: 'error' }, denied, input);
}

function mismatchGroup(input: TraceInput): TreeNode {
  const mismatches = input.replay.steps.filter((step) => step.mismatch !== undefined);
  return stepGroup('mismatches', 'Mismatches', { id: 'warning' }, mismatches, input);
}

function stepsGroup(input: TraceInput): TreeNode {
  return stepGroup('steps', 'Steps', { id: 'list-ordered' }, input.replay.steps, input);
}

function stepGroup(
  key: string,
  label: string,
  icon: NodeIcon,
  steps: readonly ReplayStep[],
  input: TraceInput,
): TreeNode {
  const id = `${input.traceId}/${key}`;
  return group(id, label, icon, steps.length, () =>
    rowsOf({
      id,
      items: steps,
      row: (step) => stepRow(`${id}/${step.index}`, step, input),
      range: (from, to) => ({
        label: `Lines ${steps[from]?.line ?? ''}-${steps[to - 1]?.line ?? ''}`,
        description: counted(to - from, 'step'),
      }),
    }),
  );
}

function stepRow(id: string, step: ReplayStep, input: TraceInput): TreeNode {
  const isNow = input.isCurrent && step.index === input.position;
  return makeNode({
    id,
    ...stepRowText(step),
    icon: isNow ? { id: 'debug-stackframe', color: 'current' } : stepIcon(step),
    context: 'instant',
    accessibility: stepInWords(step, isNow),
    subject: { kind: 'instant', traceId: input.traceId, index: step.index },
    tooltip: () => stepTooltip(step),
  });
}

/** What a screen reader says: nothing of it is in an icon only. */
function stepInWords(step: ReplayStep, isNow: boolean): string {
  const outcome = outcomeText(step);
  return [
    `line ${step.line}`,
    printable(step.title),
    ...(outcome === '' ? [] : [outcome]),
    `process ${step.pid}`,
    ...(step.denied === undefined ? [] : ['refused']),
    ...(step.mismatch === undefined ? [] : ['prediction and record differ']),
    ...(isNow ? ['the current step'] : []),
  ].join(', ');
}

function stepTooltip(step: ReplayStep): Tooltip {
  const rows: [string, string][] = [
    ['Line', step.entryLine === step.line ? String(step.line) : `${step.entryLine} to ${step.line}`],
    ['Thread', String(step.pid)],
    ['Result', outcomeText(step) === '' ? 'none' : step.recorded],
    ['Predicted', step.predicted === '?' ? 'no rule decides' : step.predicted],
  ];
  const blocks: TooltipBlock[] = [tableBlock('', rows)];
  if (step.denied !== undefined) blocks.push(...deniedBlocks(step.denied));
  if (step.mismatch !== undefined) {
    blocks.push(textBlock(`Prediction and record differ (${step.mismatch.code}): ${step.mismatch.text}`));
  }
  return { title: step.title, blocks };
}

function deniedBlocks(denied: NonNullable<ReplayStep['denied']>): readonly TooltipBlock[] {
  const blocks = [textBlock(`Refused with ${denied.errno}: ${denied.reason}`)];
  if (denied.vma !== undefined) {
    const name = denied.vma.name === '' ? '' : ` ${denied.vma.name}`;
    blocks.push(textBlock(`The mapping that refused: ${rangeText(denied.vma)}${name}`));
  }
  if (denied.sealedAtLine !== undefined)
    blocks.push(textBlock(`It was sealed at line ${denied.sealedAtLine}.`));
  for (const left of denied.leftBehind ?? []) blocks.push(textBlock(`Changed all the same: ${left}`));
  return blocks;
}

function problemsGroup(input: TraceInput): readonly TreeNode[] {
  const { problems } = input.trace;
  if (problems.length === 0) return [];
  const id = `${input.traceId}/problems`;
  return [
    group(id, 'Problems in the text', { id: 'warning' }, problems.length, () =>
      rowsOf({
        id,
        items: problems,
        row: (problem, index) =>
          makeNode({
            id: `${id}/${index}`,
            label: printable(problem.text),
            description: `line ${problem.line}`,
            icon: { id: 'warning', color: 'warning' },
            context: 'line',
            subject: { kind: 'line', traceId: input.traceId, line: problem.line },
          }),
        range: (from, to) => ({ label: 'problems', description: `${from + 1} to ${to}` }),
      }),
    ),
  ];
}
