import { equalWords } from '../replay/step_title';
import { printable, textOfBytes } from '../base/bytes';
import { bytesOfPages } from '../mm/addr';
import { rangeText } from '../present/entry_text';
import { counted, formatBytes, formatCount } from '../present/units';
import type {
  ForkSharing,
  Instant,
  ProcessLife,
  Replay,
  ReplayStep,
  SnapshotCheck,
} from '../replay/replay_types';
import { forkTree } from './fork_tree';
import { namesMoment } from './names_moment';
import { nameText, namesTable } from './names_report';
import type { ReplayInput } from './replay_input';
import { sealCalls, sealedNames } from './seal_list';
import { isDenied, isMismatch, mismatchCounts, nameCost } from './summary_json';
import { fitText, lineWidth, styled, wrapText, type Line, type Span } from './styled';
import { tableLines, type Column } from './table';

/** Rows of a section that a person is shown; --json has all. */
const MOST_ROWS = 40;
/** Names of one fork. */
const MOST_SHARED = 8;

/** The summary of a replay, section by section. */
export function summaryLines(input: ReplayInput, replay: Replay, width: number | undefined): Line[] {
  const moment = namesMoment(replay);
  const namesTitle = `Name objects ${moment.why}${moment.line > 0 ? ` (line ${moment.line})` : ''}`;
  return [
    ...headLines(input, replay),
    ...section('Processes', processLines(replay, width)),
    ...section('What each fork shares', forkLines(replay, width)),
    ...section(namesTitle, nameLines(replay.at(moment.index), width)),
    ...section('Seals', sealLines(input, replay, width)),
    ...section('Denied calls', deniedLines(replay, width)),
    ...section('Prediction against record', mismatchLines(replay, width)),
    ...section('Depends on writes to memory, which a trace does not show', accessLines(replay, width)),
    ...section('Cost', costLines(replay)),
    ...section('Snapshots', [...checkLines(replay.checks, width), ...unplacedLines(input.unplaced)]),
  ];
}

function headLines({ loaded, options }: ReplayInput, replay: Replay): Line[] {
  const missing = options.without ?? [];
  const without = missing.length === 0 ? '' : ` without ${missing.join(', ')}`;
  return [
    styled('heading', loaded.path),
    `${counted(loaded.trace.lineCount, 'line')}, ${counted(replay.steps.length, 'step')}, ` +
      `${counted(replay.lives.length, 'process', 'processes')}; rules of Linux ${replay.kernel}${without}`,
  ];
}

function section(title: string, lines: readonly Line[]): Line[] {
  const body = lines.length === 0 ? [styled('dim', '  none')] : lines;
  return ['', styled('heading', title), ...body];
}

/** What is left out, if anything is. */
function moreLine(more: number): Line[] {
  return more > 0 ? [styled('dim', `  … and ${formatCount(more)} more (--json has all)`)] : [];
}

function nameLines(instant: Instant, width: number | undefined): Line[] {
  const names = instant.names();
  if (names.length === 0) return [];
  const table = namesTable(names.slice(0, MOST_ROWS), width === undefined ? undefined : width - 2);
  return [...indent(table), ...moreLine(names.length - MOST_ROWS)];
}

export function indent(lines: readonly Line[], by = '  '): Line[] {
  return lines.map((line): Line => [by, ...(typeof line === 'string' || 'text' in line ? [line] : line)]);
}

function processLines(replay: Replay, width: number | undefined): Line[] {
  const columns: readonly Column[] = [
    { title: '', align: 'left' },
    { title: '', align: 'left' },
    { title: '', align: 'left', keep: 'start' },
  ];
  const rows: Line[][] = [];
  for (const { life, branch } of forkTree(replay.lives)) {
    if (rows.length === MOST_ROWS) break;
    rows.push([
      [`  ${branch}`, styled('strong', String(life.pid)), ` ${commandOf(life)}`],
      styled('dim', lifeSpan(life)),
      styled('dim', life.threads.length === 0 ? '' : counted(life.threads.length, 'thread') + ' besides'),
    ]);
  }
  const more = replay.lives.length - rows.length;
  return [...tableLines(columns, rows, width), ...moreLine(more)];
}

/** What it runs, as far as the trace tells. */
function commandOf(life: ProcessLife): string {
  return life.command === '' ? '(unknown program)' : life.command;
}

function lifeSpan(life: ProcessLife): string {
  const from = life.startLine <= 1 ? 'from the start' : `from line ${life.startLine}`;
  return life.endLine === undefined ? `${from}, lives at the end` : `${from} to line ${life.endLine}`;
}

function forkLines(replay: Replay, width: number | undefined): Line[] {
  const pids = new Map(replay.lives.map((life) => [life.id, life.pid]));
  // One that shares nothing is told as all others are; many are one line.
  const bare = replay.forks.filter((fork) => fork.shared.length === 0);
  const told = bare.length > 1 ? replay.forks.filter((fork) => fork.shared.length > 0) : replay.forks;
  const shown = told.slice(0, MOST_ROWS);
  const lines = shown.flatMap((fork) => forkSection(fork, replay.steps[fork.step], pids, width));
  const more = told.length - shown.length;
  if (more > 0) lines.push(styled('dim', `  … and ${counted(more, 'more fork')} (--json has all)`));
  if (bare.length <= 1) return lines;
  const at = bare.map((fork) => replay.steps[fork.step]?.line ?? 0);
  return [
    ...lines,
    ...paragraph(`${counted(bare.length, 'fork')} share no name object: ${linesText(at)}`, width),
  ];
}

function forkSection(
  fork: ForkSharing,
  step: ReplayStep | undefined,
  pids: ReadonlyMap<string, number>,
  width: number | undefined,
): Line[] {
  const child = fork.shared.reduce((sum, each) => sum + each.childRefs, 0);
  const what =
    fork.shared.length === 0
      ? 'shares no name'
      : `shares ${counted(fork.shared.length, 'name object')}, held by ${counted(child, 'mapping')} of the child`;
  const head: Line = [
    `  line ${step?.line ?? '?'}  `,
    styled('strong', `${pids.get(fork.parentId) ?? '?'} → ${pids.get(fork.childId) ?? '?'}`),
    `  ${what}`,
  ];
  const byId = [...fork.shared].sort((a, b) => a.object.id - b.object.id);
  const rows = byId
    .slice(0, MOST_SHARED)
    .map((shared): Line[] => [
      styled('dim', `#${shared.object.id}`),
      styled('name', nameText(shared)),
      `${formatCount(shared.childRefs)} of ${formatCount(shared.refs)}`,
    ]);
  const columns: readonly Column[] = [
    { title: '', align: 'right' },
    { title: '', align: 'left', keep: 'start' },
    { title: '', align: 'right' },
  ];
  const more = fork.shared.length - rows.length;
  return [
    head,
    ...indent(tableLines(columns, rows, width === undefined ? undefined : width - 4), '    '),
    ...(more > 0 ? [styled('dim', `    … and ${counted(more, 'more object')}`)] : []),
  ];
}

/** A line a call of mseal: where, who, what it closed. */
function sealLines(input: ReplayInput, replay: Replay, width: number | undefined): Line[] {
  const columns: readonly Column[] = [
    { title: '', align: 'left' },
    { title: '', align: 'left' },
    { title: '', align: 'left' },
    { title: '', align: 'left', keep: 'start' },
  ];
  const seals = sealCalls(input.loaded.trace, replay);
  const rows = seals
    .slice(0, MOST_ROWS)
    .map((seal): Line[] => [
      `  line ${seal.step.line}`,
      `pid ${seal.step.pid}`,
      `${rangeText(seal)}, ${formatBytes(bytesOfPages(seal.end - seal.start))}`,
      styled('name', sealedNames(replay, seal).join(', ')),
    ]);
  return [...tableLines(columns, rows, width), ...moreLine(seals.length - rows.length)];
}

function deniedLines(replay: Replay, width: number | undefined): Line[] {
  const denied = replay.steps.filter(isDenied);
  const shown = denied.slice(0, MOST_ROWS).flatMap((step) => deniedSection(step, width));
  const more = denied.length - MOST_ROWS;
  return [...shown, ...moreLine(more)];
}

function deniedSection(step: ReplayStep, width: number | undefined): Line[] {
  const denied = step.denied;
  if (denied === undefined) return [];
  const { vma } = denied;
  const sealed = denied.sealedAtLine === undefined ? '' : `, sealed at line ${denied.sealedAtLine}`;
  const refuser: Line[] =
    vma === undefined
      ? []
      : [['    by ', rangeText(vma), ' ', styled('name', vma.name === '' ? '(no name)' : vma.name), sealed]];
  return [
    callLine(step, [styled('bad', denied.errno), '  '], width),
    ...refuser,
    ...wrapText(denied.reason, (width ?? 100) - 4).map((line): Line => styled('dim', `    ${line}`)),
    ...(denied.leftBehind ?? []).flatMap((left) =>
      wrapText(`all the same: ${printable(left)}`, (width ?? 100) - 4).map((line): Line =>
        styled('warn', `    ${line}`),
      ),
    ),
  ];
}

/** Where, who, and the call; cut to the terminal. */
function callLine(step: ReplayStep, before: readonly Span[], width: number | undefined): Line {
  const lead: readonly Span[] = [`  line ${step.line}  pid ${step.pid}  `, ...before];
  const title = printable(step.title);
  return [...lead, width === undefined ? title : fitText(title, width - lineWidth(lead), 'start')];
}

function mismatchLines(replay: Replay, width: number | undefined): Line[] {
  const mismatches = replay.steps.filter(isMismatch);
  if (mismatches.length === 0) return [styled('good', '  every result is as predicted')];
  const unseen = mismatches
    .filter((step) => step.mismatch?.code === 'unseen-memory')
    .map((step) => step.line);
  const told =
    unseen.length > 1 ? mismatches.filter((step) => step.mismatch?.code !== 'unseen-memory') : mismatches;
  const shown = told
    .slice(0, MOST_ROWS)
    .flatMap((step): Line[] => [
      callLine(step, [], width),
      [
        '    recorded ',
        styled('strong', step.recorded),
        ', predicted ',
        styled('warn', step.predicted),
        `: ${step.mismatch?.code ?? ''}`,
      ],
      ...wrapText(step.mismatch?.text ?? '', (width ?? 100) - 4).map((line): Line =>
        styled('dim', `    ${line}`),
      ),
    ]);
  const counts = mismatchCounts(replay).map(([code, count]) => `${formatCount(count)} ${code}`);
  return [
    ...paragraph(
      `${counted(mismatches.length, 'result')} not as predicted, by reason: ${counts.join(', ')}`,
      width,
    ),
    ...shown,
    ...moreLine(told.length - MOST_ROWS),
    ...(unseen.length > 1 ? unseenLines(unseen, width) : []),
  ];
}

/** Steps whose effect on the map would be another one if memory taken as untouched had been written to. */
function accessLines(replay: Replay, width: number | undefined): Line[] {
  const lines = replay.steps.filter((step) => step.dependsOnAccess === true).map((step) => step.line);
  if (lines.length === 0) return [];
  return paragraph(linesText(lines), width);
}

function unseenLines(lines: readonly number[], width: number | undefined): Line[] {
  const what = 'calls worked on memory that the trace does not show; it is inferred';
  return paragraph(`${formatCount(lines.length)} ${what}: ${linesText(lines)}`, width);
}

/** `lines 7, 8, 112`, the first ones where there are many. */
function linesText(lines: readonly number[]): string {
  const more = lines.length - MOST_ROWS;
  const listed = lines.slice(0, MOST_ROWS).join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${listed}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
}

function paragraph(text: string, width: number | undefined): Line[] {
  return wrapText(text, (width ?? 100) - 2).map((line): Line => [`  ${line}`]);
}

/** What each policy would have cost over the whole trace. */
function costLines(replay: Replay): Line[] {
  const { references, copies, copyBytes } = nameCost(replay);
  const { prePassVisits, inLoopVisits } = replay.sealCost;
  return [
    [
      '  names at fork  ',
      `shared: ${counted(references, 'reference')} taken; `,
      `copied: ${counted(copies, 'allocation')}, ${formatBytes(copyBytes)}`,
    ],
    [
      '  seal checks    ',
      `pre-pass: ${counted(prePassVisits, 'VMA')} walked before the work; `,
      `in-loop: ${formatCount(inLoopVisits)} asked in passing`,
    ],
  ];
}

/** What only the snapshot could tell (page faults), so that the replay took it over. */
function settledWords({ settled }: SnapshotCheck): string {
  return settled === 0 ? '' : `, ${formatCount(settled)} settled by it`;
}

export function checkLines(checks: readonly SnapshotCheck[], width: number | undefined): Line[] {
  const columns: readonly Column[] = [
    { title: '', align: 'left' },
    { title: '', align: 'left' },
    { title: '', align: 'left' },
    { title: '', align: 'left', keep: 'start' },
  ];
  const rows = checks.map((check): Line[] => [
    `  ${check.label}`,
    styled('dim', `line ${check.line}`),
    outcomeLine(check),
    check.outcome === 'seed'
      ? styled('dim', `${counted(check.vmaCount, 'mapping')} taken over`)
      : styled('dim', `${counted(check.vmaCount, 'mapping')}${settledWords(check)}`),
  ]);
  const table = tableLines(columns, rows, width);
  return table.flatMap((line, i): Line[] => {
    const first = checks[i]?.firstDifference;
    return first === undefined ? [line] : [line, ...differenceLines(first)];
  });
}

function outcomeLine(check: SnapshotCheck): Line {
  if (check.outcome === 'seed') return 'begins';
  if (check.outcome === 'equal') return styled('good', equalWords(check));
  return styled('bad', `differs in ${formatCount(check.differences)}`);
}

function differenceLines(first: NonNullable<SnapshotCheck['firstDifference']>): Line[] {
  const side = (text: string): string => (text === '' ? '(nothing mapped)' : textOfBytes(text).trimEnd());
  return [
    styled('dim', `      first: ${first.what}`),
    ['      replayed  ', styled('strong', side(first.replayed))],
    ['      snapshot  ', styled('strong', side(first.snapshot))],
  ];
}

function unplacedLines(labels: readonly string[]): Line[] {
  return labels.map((label): Line => [
    `  ${label}  `,
    styled('warn', 'not compared: the trace does not show when it was read'),
  ]);
}
