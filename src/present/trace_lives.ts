import { printable } from '../base/bytes';
import type { ProcessLife } from '../replay/replay_types';
import { tableBlock, type Tooltip } from './tooltip';
import { group, type TraceInput } from './trace_group';
import { makeNode, rowsOf, type NodeIcon, type TreeNode } from './tree_node';
import { counted, formatCount } from './units';

/** The processes of a trace as a fork tree, with what each is at the current instant. */
export function processesGroup(input: TraceInput): TreeNode {
  const { lives } = input.replay;
  const byId = new Map(lives.map((life) => [life.id, life]));
  const roots = lives.filter((life) => life.parentId === undefined || !byId.has(life.parentId));
  const id = `${input.traceId}/processes`;
  return group(id, 'Processes', { id: 'list-tree' }, lives.length, () => lifeRows(id, roots, byId, input), {
    expanded: true,
  });
}

function lifeRows(
  id: string,
  lives: readonly ProcessLife[],
  byId: ReadonlyMap<string, ProcessLife>,
  input: TraceInput,
): readonly TreeNode[] {
  return rowsOf({
    id,
    items: lives,
    row: (life) => lifeRow(life, byId, input),
    range: (from, to) => ({
      label: `${lives[from]?.pid ?? ''} to ${lives[to - 1]?.pid ?? ''}`,
      description: counted(to - from, 'process', 'processes'),
    }),
  });
}

function lifeRow(life: ProcessLife, byId: ReadonlyMap<string, ProcessLife>, input: TraceInput): TreeNode {
  const id = `${input.traceId}/life ${life.id}`;
  const children = life.childIds.flatMap((childId) => byId.get(childId) ?? []);
  const isCurrent = input.isCurrent && life.id === input.lifeId;
  const state = lifeState(life, input);
  const spec = {
    id,
    label: `${life.pid} ${printable(life.command)}`.trim(),
    description: [
      ...(isCurrent ? ['shown'] : []),
      `${lifeLines(life)}${life.threads.length === 0 ? '' : ` · ${counted(life.threads.length + 1, 'thread')}`}`,
    ].join(' · '),
    icon: isCurrent ? ({ id: 'eye', color: 'current' } as const) : LIFE_ICONS[state],
    context: 'life',
    accessibility: `process ${life.pid} ${printable(life.command)}, ${lifeLines(life)}, ${state}${isCurrent ? ', shown in the other views' : ''}`,
    subject: { kind: 'life', traceId: input.traceId, lifeId: life.id } as const,
    tooltip: () => lifeTooltip(life, byId),
  };
  if (children.length === 0) return makeNode(spec);
  return makeNode({
    ...spec,
    expanded: true,
    children: () => lifeRows(`${id}/children`, children, byId, input),
  });
}

type LifeState = 'alive' | 'not started' | 'ended';

const LIFE_ICONS: Readonly<Record<LifeState, NodeIcon>> = {
  alive: { id: 'server-process' },
  'not started': { id: 'circle-outline', color: 'dim' },
  ended: { id: 'circle-slash', color: 'dim' },
};

/** What a process is at the instant where the replay stands. */
function lifeState(life: ProcessLife, input: TraceInput): LifeState {
  const line = input.replay.steps[input.position]?.line ?? 0;
  if (life.endLine !== undefined && line >= life.endLine) return 'ended';
  return life.startLine > line && life.parentId !== undefined ? 'not started' : 'alive';
}

function lifeLines(life: ProcessLife): string {
  return life.endLine === undefined
    ? `from line ${life.startLine}`
    : `lines ${life.startLine}-${life.endLine}`;
}

function lifeTooltip(life: ProcessLife, byId: ReadonlyMap<string, ProcessLife>): Tooltip {
  const parent = life.parentId === undefined ? undefined : byId.get(life.parentId);
  const rows: [string, string][] = [
    ['Process', String(life.pid)],
    ['Program', life.command === '' ? 'unknown' : life.command],
    ['Lived', life.endLine === undefined ? `${lifeLines(life)} to the end of the trace` : lifeLines(life)],
    ['Parent', parent === undefined ? 'not in this trace' : `${parent.pid} ${parent.command}`],
    ['Children', formatCount(life.childIds.length)],
  ];
  if (life.threads.length > 0) rows.push(['Threads', [life.pid, ...life.threads].join(', ')]);
  return { title: `${life.pid} ${life.command}`, blocks: [tableBlock('', rows)] };
}
