import { findRecordedTrace } from '../../node/sources';
import { replayTrace } from '../../replay/replayer';
import type { SnapshotCheck } from '../../replay/replay_types';
import { counted } from '../../present/units';
import { oneOperand, parseCommandLine, type CliContext, type Command } from '../command';
import { EXIT_DIFFERENT, EXIT_OK, InputError, readable } from '../failure';
import { JsonList, mapped, writeJsonDocument } from '../json_document';
import {
  announcedRulesOf,
  loadReplayInput,
  REPLAY_OPTIONS,
  REPLAY_OPTIONS_HELP,
  type ReplayInput,
} from '../replay_input';
import { checkJson } from '../summary_json';
import { checkLines } from '../summary_view';
import { styled } from '../styled';

export const verify: Command = {
  name: 'verify',
  summary: 'replays a recording and compares it with its snapshots',
  help: `Usage: vmalens verify DIR|TRACE [--kernel RELEASE] [--json]

Replays the recording in DIR (the one *.strace in it), or TRACE where DIR holds
several, and compares it with the snapshots beside it (NN-LABEL.PID.smaps or
.maps). The first snapshot of a process is where its replay begins; every later
one is compared. Of a snapshot that differs, the first mapping that does is
printed as both sides have it. Exit status 1 if any snapshot differs.

  --json               one JSON document
${REPLAY_OPTIONS_HELP}
`,
  run,
};

const OPTIONS = { ...REPLAY_OPTIONS, json: { type: 'boolean' } } as const;

async function run(args: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommandLine(args, OPTIONS);
  const folder = oneOperand(positionals, 'DIR or TRACE');
  const rules = await announcedRulesOf(values, context);
  const trace = await traceOf(folder);
  const input = await loadReplayInput(trace, rules, { find: true, explicit: [] }, context);
  if (input.loaded.snapshots.length === 0) {
    throw new InputError(
      `${folder}: holds no snapshot to compare with: there is no NN-LABEL.PID.smaps or .maps in it`,
    );
  }
  const { checks } = replayTrace(input.loaded.trace, input.options);
  if (values.json === true) await writeJson(trace, input, checks, context);
  else await writeText(trace, input, checks, context);
  return checks.some((check) => check.outcome === 'differs') ? EXIT_DIFFERENT : EXIT_OK;
}

/** The trace itself, or the one in a folder. */
async function traceOf(operand: string): Promise<string> {
  const found = await findRecordedTrace(operand);
  return !found.ok && found.error.code === 'not-found' ? operand : readable(found);
}

async function writeJson(
  trace: string,
  input: ReplayInput,
  checks: readonly SnapshotCheck[],
  { stdout }: CliContext,
): Promise<void> {
  await writeJsonDocument(stdout, [
    ['target', trace],
    ['kernel', input.options.kernel],
    ['equal', count(checks, 'equal')],
    ['differing', count(checks, 'differs')],
    ['snapshots', new JsonList(mapped(checks, checkJson))],
    ['unplacedSnapshots', input.unplaced],
  ]);
}

async function writeText(
  trace: string,
  input: ReplayInput,
  checks: readonly SnapshotCheck[],
  { stdout }: CliContext,
): Promise<void> {
  await stdout.line([styled('heading', trace), ` by the rules of Linux ${input.options.kernel}`]);
  await stdout.lines(checkLines(checks, stdout.columns));
  for (const label of input.unplaced) {
    await stdout.line([
      `  ${label}  `,
      styled('warn', 'not compared: the trace does not show when it was read'),
    ]);
  }
  const differing = count(checks, 'differs');
  await stdout.line([
    `${counted(count(checks, 'seed'), 'snapshot')} taken over as a beginning, `,
    styled('good', `${count(checks, 'equal')} equal`),
    ', ',
    differing === 0 ? 'none differs' : styled('bad', `${differing} differ`),
    input.unplaced.length === 0 ? '' : `, ${input.unplaced.length} not compared`,
  ]);
}

function count(checks: readonly SnapshotCheck[], outcome: SnapshotCheck['outcome']): number {
  return checks.filter((check) => check.outcome === outcome).length;
}
