import { equalWords } from '../replay/step_title';
import { printable } from '../base/bytes';
import type { SnapshotCheck } from '../replay/replay_types';
import { textBlock, type Tooltip } from './tooltip';
import { group, type TraceInput } from './trace_group';
import { makeNode, rowsOf, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatCount } from './units';

/** The snapshots of a trace: taken over, equal to the replay, or different with the first difference. */
export function snapshotsGroup(input: TraceInput): TreeNode {
  const { checks } = input.replay;
  const id = `${input.traceId}/snapshots`;
  const differing = checks.filter((check) => check.outcome === 'differs').length;
  const detail =
    differing === 0
      ? undefined
      : `${formatCount(checks.length)} · ${counted(differing, 'differs', 'differ')}`;
  return group(
    id,
    'Snapshots',
    { id: 'device-camera' },
    checks.length,
    () =>
      rowsOf({
        id,
        items: checks,
        row: (check, index) => snapshotRow(`${id}/${index}`, check, input),
        range: (from, to) => ({ label: 'snapshots', description: `${from + 1} to ${to}` }),
      }),
    detail === undefined ? {} : { detail },
  );
}

function snapshotRow(id: string, check: SnapshotCheck, input: TraceInput): TreeNode {
  const spec = {
    id,
    label: printable(check.label),
    description: `${checkText(check)} · line ${check.line} · pid ${check.pid}`,
    icon: CHECK_ICONS[check.outcome],
    context: 'instant',
    subject: {
      kind: 'instant',
      traceId: input.traceId,
      index: input.replay.stepAtLine(check.line),
      ...lifeOfCheck(check, input),
    } as const,
    tooltip: (): Tooltip => ({
      title: check.label,
      blocks: [textBlock(check.inPieces === true ? PIECES : CHECK_WORDS[check.outcome])],
    }),
  };
  const difference = check.firstDifference;
  if (difference === undefined) return makeNode(spec);
  const side = (key: string, label: string, text: string): TreeNode =>
    makeNode({
      id: `${id}/${key}`,
      label,
      description: text === '' ? 'nothing there' : printable(text),
      icon: { id: key === 'what' ? 'info' : 'dash' },
      accessibility: `${label}: ${text === '' ? 'nothing there' : printable(text)}`,
    });
  return makeNode({
    ...spec,
    children: () => [
      side('what', 'first difference', difference.what),
      side('replayed', 'replayed', difference.replayed),
      side('snapshot', 'snapshot', difference.snapshot),
    ],
  });
}

/** The life of the snapshot's pid that was alive at its line. */
function lifeOfCheck(check: SnapshotCheck, input: TraceInput): { readonly lifeId?: string } {
  const life = input.replay.lives.findLast((each) => each.pid === check.pid && each.startLine <= check.line);
  return life === undefined ? {} : { lifeId: life.id };
}

function checkText(check: SnapshotCheck): string {
  switch (check.outcome) {
    case 'seed':
      return `taken over · ${counted(check.vmaCount, 'mapping')}`;
    case 'equal':
      return `${equalWords(check)} · ${counted(check.vmaCount, 'mapping')}`;
    case 'differs':
      return `differs · ${formatCount(check.differences)} of ${counted(check.vmaCount, 'mapping')}`;
  }
}

const CHECK_ICONS: Readonly<Record<SnapshotCheck['outcome'], NodeIcon>> = {
  seed: { id: 'pin' },
  equal: { id: 'pass', color: 'good' },
  differs: { id: 'error', color: 'denied' },
};

const PIECES =
  'Read while the process went on: no one moment has exactly this map, but each of its mappings was there at some moment of the reading, and what was there all the time is in it.';

const CHECK_WORDS: Readonly<Record<SnapshotCheck['outcome'], string>> = {
  seed: 'Taken over as the state of the process at this line.',
  equal: 'The replay came to exactly this map.',
  differs: 'The replay came to another map than the kernel. Other kernel rules may fit this trace better.',
};
