import { sealReportingOfRelease } from '../../analysis/seals';
import { parseHex, pageAlignUp, vpn, vpnOf, type Vpn } from '../../mm/addr';
import { formatMapsLine, formatSmapsHeaderAndFlags } from '../../procfs/format_maps';
import { counted } from '../../present/units';
import { replayTrace } from '../../replay/replayer';
import type { Instant, ProcessLife, Replay } from '../../replay/replay_types';
import { statesLines } from '../../replay/states';
import {
  atMostOne,
  oneOperand,
  parseCommandLine,
  positiveNumber,
  type CliContext,
  type Command,
} from '../command';
import { jsonText } from '../exact_json';
import { EXIT_OK, UsageError } from '../failure';
import { mapsView, writeMapsJson, writeMapsTable } from '../maps_report';
import { namesJson, namesTable } from '../names_report';
import {
  announcedRulesOf,
  loadReplayInput,
  REPLAY_OPTIONS,
  REPLAY_OPTIONS_HELP,
  type ReplayInput,
} from '../replay_input';
import { summaryMembers } from '../summary_json';
import { summaryLines } from '../summary_view';
import { writeJsonDocument } from '../json_document';
import { printableBytes } from '../styled';

export const replay: Command = {
  name: 'replay',
  summary: 'what a captured trace did to the memory of its processes',
  help: `Usage: vmalens replay TRACE|- [--kernel RELEASE] [--json]
       vmalens replay TRACE --at LINE [--pid PID] [--maps | --smaps] [--json]
       vmalens replay TRACE --names [--at LINE] [--json]
       vmalens replay TRACE --states [--range START-END]

Replays the memory calls of an strace log. Without more it prints a summary: the
processes as a fork tree, the names that each fork shares, seals and what they
refused, where prediction and record differ, and what the policies cost.

  --at LINE            the state after that line of the trace
  --pid PID            of this process
  --maps, --smaps      … as /proc/PID/maps prints it, as smaps (no amounts)
  --names              name objects with their holders, at --at or at the end
  --states             JSON Lines: after every call the map of who it concerns
  --range START-END    … only what overlaps this range of addresses (hex)
  --json               one JSON document

${REPLAY_OPTIONS_HELP}
  --snapshot FILE@LINE[:PID]
                       maps or smaps of a process, as it was after that line;
                       the first of a process is where its replay begins
  --no-snapshots       do not look for NN-LABEL.PID.smaps beside the trace
`,
  run,
};

const OPTIONS = {
  ...REPLAY_OPTIONS,
  snapshot: { type: 'string', multiple: true },
  'no-snapshots': { type: 'boolean' },
  at: { type: 'string' },
  pid: { type: 'string' },
  maps: { type: 'boolean' },
  smaps: { type: 'boolean' },
  names: { type: 'boolean' },
  states: { type: 'boolean' },
  range: { type: 'string' },
  json: { type: 'boolean' },
} as const;

async function run(args: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommandLine(args, OPTIONS);
  const file = oneOperand(positionals, 'TRACE');
  const { names = false, states = false, json = false } = values;
  const text = values.maps === true ? 'maps' : values.smaps === true ? 'smaps' : undefined;
  atMostOne({
    '--maps': values.maps === true,
    '--smaps': values.smaps === true,
    '--names': names,
    '--states': states,
  });
  atMostOne({ '--maps or --smaps': text !== undefined, '--json': json });
  const at = positiveNumber(values.at, '--at');
  const pid = positiveNumber(values.pid, '--pid');
  const range = rangeOf(values.range);
  needs(text !== undefined && at === undefined, text === undefined ? '' : `--${text}`, '--at LINE');
  needs(pid !== undefined && (at === undefined || names || states), '--pid', '--at LINE');
  needs(range !== undefined && !states, '--range', '--states');
  needs(at !== undefined && states, '--at', 'no --states');
  const snapshots = { find: values['no-snapshots'] !== true, explicit: values.snapshot ?? [] };
  const input = await loadReplayInput(file, await announcedRulesOf(values, context), snapshots, context);
  const { lineCount } = input.loaded.trace;
  if (at !== undefined && at > lineCount) {
    await context.stderr.line(`vmalens: ${file} has ${counted(lineCount, 'line')}: --at ${at} is its end`);
  }
  if (states) return writeStates(input, range, context);
  const replayed = replayTrace(input.loaded.trace, input.options);
  if (names) return writeNames(replayed, at, json, context);
  if (at !== undefined) return writeInstant(replayed, { at, pid, text, json, file }, context);
  if (json) await writeJsonDocument(context.stdout, summaryMembers(input, replayed));
  else await context.stdout.lines(summaryLines(input, replayed, context.stdout.columns));
  return EXIT_OK;
}

function needs(missing: boolean, option: string, other: string): void {
  if (missing) throw new UsageError(`${option} needs ${other}`);
}

export interface PageRange {
  readonly start: Vpn;
  readonly end: Vpn;
}

/** `START-END` in hex, with or without 0x; parts of pages count as whole ones. */
function rangeOf(text: string | undefined): PageRange | undefined {
  if (text === undefined) return undefined;
  const [, from = '', to = ''] = /^(?:0x)?([0-9a-f]+)-(?:0x)?([0-9a-f]+)$/i.exec(text) ?? [];
  const start = parseHex(from);
  const end = parseHex(to);
  if (start === undefined || end === undefined || end <= start) {
    throw new UsageError(`--range takes START-END in hex, not '${text}'`);
  }
  return { start: vpnOf(start), end: vpn(pageAlignUp(end)) };
}

async function writeStates(
  input: ReplayInput,
  range: PageRange | undefined,
  { stdout }: CliContext,
): Promise<number> {
  for (const { mismatch: _, ...state } of statesLines(input.loaded.trace, input.options, range)) {
    await stdout.raw(`${jsonText({ ...state, vmas: state.vmas.map((vma) => ({ ...vma })) })}\n`);
    if (stdout.closed) break;
  }
  return EXIT_OK;
}

/** The instant after `line`, or the end. */
function instantAt(replayed: Replay, line: number | undefined): Instant {
  return replayed.at(line === undefined ? replayed.steps.length - 1 : replayed.stepAtLine(line));
}

async function writeNames(
  replayed: Replay,
  at: number | undefined,
  json: boolean,
  { stdout }: CliContext,
): Promise<number> {
  const instant = instantAt(replayed, at);
  if (json) await stdout.raw(`${jsonText(namesJson(instant))}\n`);
  else await stdout.lines(namesTable(instant.names(), stdout.columns));
  return EXIT_OK;
}

interface InstantChoices {
  readonly at: number;
  readonly pid: number | undefined;
  readonly text: 'maps' | 'smaps' | undefined;
  readonly json: boolean;
  readonly file: string;
}

async function writeInstant(replayed: Replay, choices: InstantChoices, context: CliContext): Promise<number> {
  const { stdout, stderr } = context;
  const instant = instantAt(replayed, choices.at);
  const life = lifeOf(instant, choices);
  const entries = instant.entries(life.id);
  if (!instant.complete(life.id)) {
    await stderr.line(
      `vmalens: ${choices.file}: the whole map of ${life.pid} is not known at line ${choices.at}; what is missing is unknown, not absent`,
    );
  }
  if (choices.text !== undefined) {
    const format = choices.text === 'smaps' ? formatSmapsHeaderAndFlags : mapsLine;
    const bytes = entries.map(format).join('');
    await (stdout.isTerminal ? stdout.raw(printableBytes(bytes)) : stdout.bytes(bytes));
    return EXIT_OK;
  }
  const view = mapsView({
    title: `${life.command} (pid ${life.pid}) after line ${choices.at}`,
    entries,
    sealing: sealReportingOfRelease(replayed.kernel),
    filter: undefined,
    groupBy: 'address',
  });
  const source = {
    kind: 'replay',
    pid: life.pid,
    line: choices.at,
    kernel: replayed.kernel,
    complete: instant.complete(life.id),
  };
  if (choices.json) await writeMapsJson(view, choices.file, source, [], stdout);
  else await writeMapsTable(view, stdout);
  return EXIT_OK;
}

function mapsLine(entry: Parameters<typeof formatMapsLine>[0]): string {
  return `${formatMapsLine(entry)}\n`;
}

/** The process that is meant; without --pid the only one that has memory then. */
function lifeOf(instant: Instant, { at, pid }: InstantChoices): ProcessLife {
  const lives = instant.lives;
  const known =
    lives.length === 0
      ? 'no process has'
      : `${lives.map((life) => life.pid).join(', ')} ${lives.length === 1 ? 'has' : 'have'}`;
  if (pid === undefined) {
    const [only, second] = lives;
    if (only === undefined || second !== undefined)
      throw new UsageError(`--pid is needed: after line ${at} ${known} memory`);
    return only;
  }
  const life = lives.find((each) => each.pid === pid) ?? lives.find((each) => each.threads.includes(pid));
  if (life === undefined) throw new UsageError(`${pid} has no memory after line ${at}; ${known}`);
  return life;
}
