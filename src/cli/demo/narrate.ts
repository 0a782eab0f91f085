import { bytesOfPages } from '../../mm/addr';
import type { AnonVmaName } from '../../mm/anon_vma_name';
import { rangeText } from '../../present/entry_text';
import { counted, formatBytes, formatCount } from '../../present/units';
import type { MapsEntry } from '../../procfs/maps_entry';
import type { Replay, ReplayStep } from '../../replay/replay_types';
import { nameText } from '../names_report';
import { nameCost } from '../summary_json';
import { styled, wrapText, type Line, type Span } from '../styled';
import { tableLines, type Column } from '../table';
import type { CountMove, DeniedCall, StoryFacts } from './story_facts';
import { stripLine, type Ink } from './strip';

/** What a narrator needs to know besides the facts. */
export interface Narration {
  readonly replay: Replay;
  readonly facts: StoryFacts;
  /** Columns to use. */
  readonly width: number;
}

const LEFT = '   ';

export function paragraph(text: string, width: number): Line[] {
  return wrapText(text, width - LEFT.length).map((line) => `${LEFT}${line}`);
}

export function chapter(number: number, title: string): Line[] {
  return ['', [styled('accent', `${number}  `), styled('heading', title)], ''];
}

/** 1: names are given, and a split shares them. */
export function namesChapter({ facts, replay, width }: Narration): Line[] {
  const until = facts.forks[0]?.step ?? Infinity;
  const early = facts.moves.filter((move) => move.step.index < until);
  const made = early.filter((move) => move.before === 0);
  const rows = made.map((move): Line[] => [
    `${LEFT}line ${move.step.line}`,
    styled('dim', `#${move.object.id}`),
    styled('name', nameText(move)),
    formatBytes(bytesOfPages(heldPages(replay, move))),
    move.after === 1 ? '1 mapping' : `${formatCount(move.after)} mappings at once`,
  ]);
  const splits = early.filter((move) => move.before > 0 && move.after > move.before);
  return [
    ...paragraph(
      'The server maps memory and says what it is for: prctl(PR_SET_VMA_ANON_NAME). The kernel keeps each name once, in an object with a count of the mappings that point to it.',
      width,
    ),
    '',
    ...tableLines(COLUMNS_5, rows, width),
    '',
    ...paragraph('A mapping that is split needs no second name: both parts point to the one object.', width),
    '',
    ...tableLines(COLUMNS_MOVE, splits.map(moveRow), width),
  ];
}

/** Pages that point to an object right after a step. */
function heldPages(replay: Replay, move: CountMove): number {
  const name = replay
    .at(move.step.index)
    .names()
    .find((each) => each.object === move.object);
  return (name?.holders ?? []).reduce((sum, holder) => sum + (holder.end - holder.start), 0);
}

const left = (keep?: 'start'): Column =>
  keep === undefined ? { title: '', align: 'left' } : { title: '', align: 'left', keep };
const RIGHT: Column = { title: '', align: 'right' };
const COLUMNS_5: readonly Column[] = [left(), left(), left(), RIGHT, left()];
const COLUMNS_MOVE: readonly Column[] = [left(), left(), left('start'), left(), left()];

/** `line 16  mprotect(…)  "plugin arena"  1 → 3` */
function moveRow(move: CountMove): Line[] {
  return [
    `${LEFT}line ${move.step.line}`,
    styled('dim', String(move.step.pid)),
    move.step.title,
    styled('name', nameText(move)),
    countsLine(move.before, move.after),
  ];
}

function countsLine(before: number, after: number): Line {
  return [`${formatCount(before)} → `, styled('strong', formatCount(after))];
}

/** 2: what each fork shares, as a matrix of names and forks. */
export function forksChapter({ facts, replay, width }: Narration): Line[] {
  const forks = facts.forks.slice(0, 5);
  const pids = new Map(replay.lives.map((life) => [life.id, life.pid]));
  const objects = [...new Set(forks.flatMap((fork) => fork.shared.map((shared) => shared.object)))].sort(
    (a, b) => a.id - b.id,
  );
  const head = (cells: readonly string[]): Line[] => ['', ...cells.map((cell) => styled('dim', cell))];
  const rows = [
    head(forks.map((fork) => `line ${replay.steps[fork.step]?.line ?? ''}`)),
    [
      '',
      ...forks.map((fork) =>
        styled('strong', `${pids.get(fork.parentId) ?? ''} forks ${pids.get(fork.childId) ?? ''}`),
      ),
    ],
    ...objects.map((object): Line[] => [
      [LEFT, styled('name', nameText({ object }))],
      ...forks.map((fork): Line => {
        const shared = fork.shared.find((each) => each.object === object);
        return shared === undefined
          ? styled('dim', '–')
          : countsLine(shared.refs - shared.childRefs, shared.refs);
      }),
    ]),
  ];
  const cost = nameCost(replay);
  return [
    ...paragraph(
      'A child gets a copy of the map, but no copy of a name: every named mapping of the child is one more reference to the object that is there. The counts before and after each fork:',
      width,
    ),
    '',
    ...tableLines([left(), ...forks.map(() => RIGHT)], rows, width),
    '',
    ...paragraph(
      `All forks together took ${counted(cost.references, 'reference')}. Copying the text for every mapping instead would have taken ${counted(cost.copies, 'allocation')}, ${formatBytes(cost.copyBytes)}.`,
      width,
    ),
  ];
}

/** 3: the rename in a child, drawn. */
export function renameChapter({ facts, width }: Narration): Line[] {
  const { rename } = facts;
  if (rename === undefined) return paragraph('No process renamed what it shared.', width);
  const inks = new Map<AnonVmaName, Ink>([
    [rename.from.object, { letter: 'A', style: 'name' }],
    [rename.to.object, { letter: 'B', style: 'warn' }],
  ]);
  const cells = Math.min(64, width - 40);
  return [
    ...paragraph(
      `At line ${rename.step.line} process ${rename.step.pid} gives a part of that memory another name. The text of an object never changes, since others point to it: the part gets a new object.`,
      width,
    ),
    '',
    [`${LEFT}before  `, ...spans(stripLine(rename.before, inks, cells))],
    [`${LEFT}after   `, ...spans(stripLine(rename.after, inks, cells))],
    '',
    ...tableLines(
      [left(), left(), left(), left()],
      [rename.from, rename.to].map((move): Line[] => [
        [LEFT, styled(inks.get(move.object)?.style ?? 'dim', inks.get(move.object)?.letter ?? '')],
        styled('dim', `#${move.object.id}`),
        styled('name', nameText(move)),
        move.before === 0
          ? ['new: ', styled('strong', formatCount(move.after))]
          : countsLine(move.before, move.after),
      ]),
    ),
    '',
    ...paragraph(
      'Its parent and its siblings see nothing of it. Later the counts go down as the others rename, unmap, merge and end:',
      width,
    ),
    '',
    ...tableLines(COLUMNS_MOVE, laterMoves(facts, rename.step).map(moveRow), width),
  ];
}

/** How the counts go down after the rename, without the ends of trivial objects. */
function laterMoves(facts: StoryFacts, rename: ReplayStep): CountMove[] {
  const shared = new Set(facts.forks.flatMap((fork) => fork.shared.map(({ object }) => object.id)));
  const down = facts.moves.filter(
    (move) => move.step.index > rename.index && move.after < move.before && shared.has(move.object.id),
  );
  const calls = down.filter((move) => move.step.kind !== 'exit');
  const firstExit = down.filter((move) => move.step.kind === 'exit').slice(0, 1);
  return [...calls, ...firstExit].sort((a, b) => a.step.index - b.step.index).slice(0, 6);
}

/** 4: what the seals refused, and why. */
export function sealsChapter(
  { facts, width }: Narration,
  earlier: readonly DeniedCall[],
  earlierKernel: string,
): Line[] {
  const sealed = facts.denied.filter(({ step }) => step.denied?.sealedAtLine !== undefined);
  const rows = sealed.map(({ step }): Line[] => [
    `${LEFT}line ${step.line}`,
    step.title,
    styled('bad', step.denied?.errno ?? ''),
    [
      styled('name', step.denied?.vma?.name ?? ''),
      styled('dim', `, line ${step.denied?.sealedAtLine ?? '?'}`),
    ],
  ]);
  const columns: readonly Column[] = [left(), left('start'), left(), left()];
  return [
    ...paragraph(
      'mseal closes memory for good: it cannot be unmapped, moved, re-protected or written over, not even by root, and a child inherits that. A worker tries all the same; to the right stands the memory that refused and the line that sealed it.',
      width,
    ),
    '',
    ...tableLines(columns, rows, width),
    '',
    ...leftBehind(sealed, earlier, earlierKernel, width),
  ];
}

/** What refused calls changed, under these rules and under those of an earlier kernel. */
function leftBehind(
  denied: readonly DeniedCall[],
  earlier: readonly DeniedCall[],
  earlierKernel: string,
  width: number,
): Line[] {
  const changed = denied.filter((call) => call.come.length > 0);
  if (changed.length === 0) return paragraph('None of them changed anything.', width);
  const before = earlier.filter((call) => changed.some(({ step }) => step.line === call.step.line));
  const quiet = before.filter((call) => call.come.length === 0).length;
  return [
    ...paragraph(
      'Refused does not mean that nothing happened: this kernel asks each mapping as it reaches it.',
      width,
    ),
    '',
    ...changed.map((call): Line => [`${LEFT}line ${call.step.line}  `, ...spans(changeLine(call))]),
    '',
    ...paragraph(
      `By the rules of Linux ${earlierKernel}, which walks the whole range before it begins, ${quiet === changed.length ? 'the same calls change nothing' : `${quiet} of these ${changed.length} change nothing`}.`,
      width,
    ),
  ];
}

/** `40050000-40058000 was rw-p and is r--p now`, or what it was cut into. */
function changeLine({ gone, come }: DeniedCall): Line {
  const [was] = gone;
  const [is] = come;
  if (was === undefined || is === undefined) return `${counted(come.length, 'mapping')} came`;
  if (gone.length === 1 && come.length === 1 && was.start === is.start && was.end === is.end) {
    return [
      rangeText(was),
      ' was ',
      styled('strong', was.perms),
      ' and is ',
      styled('strong', is.perms),
      ' now',
    ];
  }
  const pieces = come.flatMap((entry, i): Span[] => [
    i === 0 ? '' : ' + ',
    styled('strong', pieceText(entry)),
  ]);
  return [rangeText(was), ' stays mapped, cut into ', ...pieces];
}

function pieceText(entry: MapsEntry): string {
  return `${formatBytes(bytesOfPages(entry.end - entry.start))} ${entry.perms}`;
}

function spans(line: Line): readonly Span[] {
  return typeof line === 'string' || 'text' in line ? [line] : line;
}
