import path from 'node:path';
import {
  KERNEL_FEATURES,
  KERNEL_VERSIONS,
  parseRuleOverride,
  RULE_TABLE,
  type KernelVersion,
  type RuleOverrides,
} from '../mm/kernel_rules';
import type { Overcommit } from '../mm/process_limits';
import { sourceErrorLine } from '../node/source_error';
import { loadSnapshot } from '../node/source_snapshots';
import { loadTrace, type LoadedTrace } from '../node/sources';
import { rulesVersionFor, type RulesVersion } from '../replay/kernel_choice';
import type { ReplayOptions, SnapshotInput } from '../replay/replay_types';
import { placeSnapshots } from '../replay/snapshot_splice';
import { oneOf, positiveNumber, reportProblems, type CliContext } from './command';
import { InputError, readable, UsageError } from './failure';

/** Options of every command that replays, for node:util parseArgs. */
export const REPLAY_OPTIONS = {
  kernel: { type: 'string' },
  without: { type: 'string', multiple: true },
  rule: { type: 'string', multiple: true },
  overcommit: { type: 'string' },
  'commit-pages': { type: 'string' },
} as const;

/** In the order of the numbers of vm.overcommit_memory. */
const OVERCOMMIT: readonly Overcommit[] = ['guess', 'always', 'never'];

export const REPLAY_OPTIONS_HELP = `  --kernel RELEASE     rules of the Linux that the trace was captured on, as
                       uname -r prints it; without it ${latestKernel()}. There are
                       ${KERNEL_VERSIONS.join(', ')}: the newest of them
                       that is not newer than RELEASE is taken
  --without FEATURE,…  what the traced kernel lacked:
                       ${inColumn(KERNEL_FEATURES)}
  --rule NAME=VALUE    one rule, otherwise than that Linux has it
  --overcommit MODE    vm.overcommit_memory of the traced system: guess (0, the
                       kernel's default), always (1) or never (2)
  --commit-pages N     its memory and swap in pages of 4 kB: one request of more
                       is refused where it guesses`;

/** A list in the right column of the help, within 80 columns. */
function inColumn(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + word.length < 53) lines[lines.length - 1] = `${last}, ${word}`;
    else lines.push(word);
  }
  return lines.join(`,\n${' '.repeat(23)}`);
}

/** Values of {@link REPLAY_OPTIONS}. */
export interface ReplayChoices {
  readonly kernel?: string | undefined;
  readonly without?: readonly string[] | undefined;
  readonly rule?: readonly string[] | undefined;
  readonly overcommit?: string | undefined;
  readonly 'commit-pages'?: string | undefined;
}

/** The rules that were asked for; what does not exist is a usage error that names what does. */
export function rulesOf(choices: ReplayChoices): ReplayOptions {
  const kernel = kernelOf(choices).version;
  const without = (choices.without ?? [])
    .flatMap((list) => list.split(','))
    .filter((feature) => feature !== '');
  for (const feature of without) oneOf(feature, KERNEL_FEATURES, '--without');
  let rules: RuleOverrides = {};
  for (const text of choices.rule ?? []) rules = { ...rules, ...ruleOf(text) };
  return { kernel, without, rules, ...memoryOf(choices) };
}

/** What the options say about the memory of the traced system. */
function memoryOf(choices: ReplayChoices): Pick<ReplayOptions, 'overcommit' | 'commitPages'> {
  const overcommit =
    choices.overcommit === undefined ? undefined : oneOf(choices.overcommit, OVERCOMMIT, '--overcommit');
  const commitPages = positiveNumber(choices['commit-pages'], '--commit-pages');
  if (commitPages !== undefined && overcommit !== undefined && overcommit !== 'guess') {
    throw new UsageError(
      `--commit-pages is what --overcommit guess asks; ${overcommit} does not look at a single request`,
    );
  }
  return {
    ...(overcommit === undefined ? {} : { overcommit }),
    ...(commitPages === undefined ? {} : { commitPages }),
  };
}

/** The same, and says on standard error where rules of another kernel stand in for those of the one asked for. */
export async function announcedRulesOf(choices: ReplayChoices, context: CliContext): Promise<ReplayOptions> {
  const rules = rulesOf(choices);
  const { version, exact } = kernelOf(choices);
  if (!exact) {
    await context.stderr.line(
      `vmalens: rules of Linux ${version} stand in for ${choices.kernel ?? version}, of which no kernel was measured (single rules: --rule)`,
    );
  }
  return rules;
}

function kernelOf({ kernel }: ReplayChoices): RulesVersion {
  if (kernel === undefined) return { version: latestKernel(), exact: true };
  const found = rulesVersionFor(kernel);
  if (found === undefined)
    throw new UsageError(`--kernel takes a release as uname -r prints it, such as 6.12, not '${kernel}'`);
  return found;
}

function latestKernel(): KernelVersion {
  return KERNEL_VERSIONS[KERNEL_VERSIONS.length - 1] ?? KERNEL_VERSIONS[0];
}

function ruleOf(text: string): RuleOverrides {
  const rule = parseRuleOverride(text);
  if (rule !== undefined) return rule;
  const name = text.split('=', 1)[0] ?? '';
  const row = Object.entries(RULE_TABLE).find(([known]) => known === name)?.[1];
  if (row === undefined) {
    throw new UsageError(`--rule: there is no rule '${name}'. Rules: ${Object.keys(RULE_TABLE).join(', ')}`);
  }
  throw new UsageError(`--rule ${name} takes ${row.domain.map(String).join(', ')}`);
}

/** A trace with everything that its replay needs. */
export interface ReplayInput {
  readonly loaded: LoadedTrace;
  readonly options: ReplayOptions;
  /** Labels of snapshots that are there, and for which the trace shows no place. */
  readonly unplaced: readonly string[];
}

export interface SnapshotChoices {
  /** Use the snapshots beside the trace. */
  readonly find: boolean;
  /** `FILE@LINE[:PID]` */
  readonly explicit: readonly string[];
}

/** Reads the trace and its snapshots, and says on standard error what is wrong with them. */
export async function loadReplayInput(
  file: string,
  rules: ReplayOptions,
  snapshots: SnapshotChoices,
  context: CliContext,
): Promise<ReplayInput> {
  const explicit: SnapshotInput[] = [];
  for (const text of snapshots.explicit) explicit.push(await explicitSnapshot(text, context));
  const loaded = readable(await loadTrace(file, { snapshots: snapshots.find, stdin: context.stdin }));
  const strange = loaded.problems.find(
    ({ code }) => code === 'unknown-format' || code === 'unsupported-format',
  );
  if (strange !== undefined) throw new InputError(`${file}: ${strange.text}${mapsHint(loaded)}`);
  await reportProblems(context, file, loaded.problems);
  for (const error of loaded.snapshotErrors) await context.stderr.line(`vmalens: ${sourceErrorLine(error)}`);
  const byHand = new Set(snapshots.explicit.map((text) => path.resolve(text.replace(/@[^@]*$/, ''))));
  const found = loaded.snapshots.filter((snapshot) => !byHand.has(path.resolve(snapshot.path)));
  for (const snapshot of found) await reportProblems(context, snapshot.path, snapshot.problems);
  const placed = placeSnapshots(loaded.trace.events, found);
  await reportProblems(context, file, placed.problems);
  for (const lack of loaded.trace.lacks) {
    // A snapshot tells what was there before the capture began.
    const told = lack.code === 'no-start' && placed.snapshots.length + explicit.length > 0;
    if (!told) await context.stderr.line(`vmalens: ${file}: ${lack.text}`);
  }
  const pids = new Set(loaded.trace.events.map((event) => event.pid));
  for (const { label, pid } of explicit) {
    if (pids.has(pid)) continue;
    await context.stderr.line(`vmalens: --snapshot ${label}: no line of ${file} is of pid ${pid}`);
  }
  const known = new Set(placed.snapshots.map((snapshot) => snapshot.label));
  return {
    loaded,
    options: { ...rules, snapshots: [...placed.snapshots, ...explicit] },
    unplaced: found.map((snapshot) => snapshot.label).filter((label) => !known.has(label)),
  };
}

function mapsHint({ trace, path: file }: LoadedTrace): string {
  return trace.format === 'maps' ? ` vmalens maps ${file} shows it.` : '';
}

/** `FILE@LINE[:PID]`; the pid may also stand in the file's name. */
async function explicitSnapshot(text: string, context: CliContext): Promise<SnapshotInput> {
  const match = /^(.+)@([0-9]{1,15})(?::([0-9]{1,15}))?$/s.exec(text);
  const [, file, line, pid] = match ?? [];
  if (file === undefined || line === undefined)
    throw new UsageError(`--snapshot takes FILE@LINE[:PID], not '${text}'`);
  const snapshot = readable(await loadSnapshot(file));
  await reportProblems(context, file, snapshot.problems);
  const process = pid === undefined ? snapshot.pid : Number(pid);
  if (process === undefined)
    throw new UsageError(`--snapshot ${text}: whose map is it? FILE@LINE:PID says it`);
  return { label: snapshot.label, pid: process, line: Number(line), entries: snapshot.entries };
}
