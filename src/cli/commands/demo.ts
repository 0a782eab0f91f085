import { kindContext } from '../../analysis/kind';
import { groupEntries } from '../../analysis/grouping';
import { sealReportingOfRelease } from '../../analysis/seals';
import { exampleFolder } from '../../node/source_product';
import { findRecordedTrace, loadMaps } from '../../node/sources';
import { sourceErrorLine } from '../../node/source_error';
import { counted } from '../../present/units';
import { replayTrace } from '../../replay/replayer';
import type { Replay } from '../../replay/replay_types';
import { parseCommandLine, type CliContext, type Command } from '../command';
import { deniedCall, storyFacts } from '../demo/story_facts';
import {
  chapter,
  forksChapter,
  namesChapter,
  paragraph,
  renameChapter,
  sealsChapter,
  type Narration,
} from '../demo/narrate';
import { EXIT_OK, readable, UsageError } from '../failure';
import { forkTree } from '../fork_tree';
import { mapsTable, totalsLines } from '../maps_view';
import { indent } from '../summary_view';
import { loadReplayInput, rulesOf, type ReplayInput } from '../replay_input';
import { styled, type Line } from '../styled';

export const demo: Command = {
  name: 'demo',
  summary: 'the story of the example trace, and the map of its own process',
  help: `Usage: vmalens demo

Replays the example trace that comes with the product and tells what happens in
it: which memory gets names, what each fork shares, what a rename in a child
does to the objects, what the seals refuse and what that leaves behind. Then it
shows the map of its own process.
`,
  run,
};

/** The example was recorded on this kernel; the other one checks seals before a call begins. */
const RECORDED_ON = '7.3';
const EARLIER = '6.11';
/** Lines longer than this are hard to read. */
const WIDEST = 110;

async function run(args: readonly string[], context: CliContext): Promise<number> {
  const { positionals } = parseCommandLine(args, {});
  if (positionals.length > 0) throw new UsageError('demo takes no arguments');
  const trace = readable(await findRecordedTrace(exampleFolder(context.productRoot)));
  const input = await loadReplayInput(
    trace,
    rulesOf({ kernel: RECORDED_ON }),
    { find: true, explicit: [] },
    context,
  );
  const replay = replayTrace(input.loaded.trace, input.options);
  const width = Math.min(context.stdout.columns ?? 80, WIDEST);
  const narration: Narration = { replay, facts: storyFacts(replay), width };
  await context.stdout.lines(opening(input, replay, width));
  await context.stdout.lines([...chapter(1, 'Memory gets names'), ...namesChapter(narration)]);
  await context.stdout.lines([...chapter(2, 'A fork shares them'), ...forksChapter(narration)]);
  await context.stdout.lines([...chapter(3, 'A child renames'), ...renameChapter(narration)]);
  await context.stdout.lines([
    ...chapter(4, 'A seal refuses'),
    ...sealsChapter(narration, earlierDenied(input, replay), EARLIER),
  ]);
  await context.stdout.lines(chapter(5, 'And this very process'));
  await ownMap(context, width);
  await context.stdout.lines(closing(width));
  return EXIT_OK;
}

/** The refused calls of the story, replayed by the rules of a kernel that checks seals first. */
function earlierDenied(input: ReplayInput, replay: Replay): ReturnType<typeof deniedCall>[] {
  const earlier = replayTrace(input.loaded.trace, { ...input.options, kernel: EARLIER });
  const lines = new Set(replay.steps.filter((step) => step.denied !== undefined).map((step) => step.line));
  return earlier.steps.filter((step) => lines.has(step.line)).map((step) => deniedCall(earlier, step));
}

function opening(input: ReplayInput, replay: Replay, width: number): Line[] {
  const compared = replay.checks.filter((check) => check.outcome !== 'seed');
  const equal = compared.filter((check) => check.outcome === 'equal').length;
  const verdict =
    equal === compared.length
      ? `${counted(equal, 'snapshot')} that the kernel wrote on the way ${equal === 1 ? 'is' : 'are'} equal to it`
      : `${equal} of ${counted(compared.length, 'snapshot')} that the kernel wrote on the way are equal to it`;
  return [
    styled('heading', 'VMA Lens: what a fork shares, and what a seal refuses'),
    '',
    ...paragraph(
      `A small server was recorded with strace: ${counted(input.loaded.trace.lineCount, 'line')}, ${counted(replay.lives.length, 'process', 'processes')}. Here it is replayed by the rules of Linux ${replay.kernel}; ${verdict}.`,
      width,
    ),
    '',
    ...indent(
      [...forkTree(replay.lives)].map(({ life, branch }): Line => [
        branch,
        styled('strong', String(life.pid)),
        ` ${life.command}`,
      ]),
      '   ',
    ),
  ];
}

async function ownMap(context: CliContext, width: number): Promise<void> {
  const { stdout } = context;
  const loaded = await loadMaps({ kind: 'process', pid: context.pid });
  if (!loaded.ok) {
    await stdout.lines(paragraph(`It cannot be shown: ${sourceErrorLine(loaded.error)}.`, width));
    return;
  }
  const { live, document } = loaded.value;
  const { entries } = document;
  await stdout.lines(
    paragraph(`${live?.command ?? ''}, pid ${context.pid}, on Linux ${live?.release ?? ''}, by kind:`, width),
  );
  await stdout.line();
  const groups = groupEntries(entries, 'kind');
  const view = { kinds: kindContext(entries), sealing: sealReportingOfRelease(live?.release ?? '') };
  await stdout.lines(indent(mapsTable(groups, view, width - 3, 'groups'), '   '));
  await stdout.line();
  await stdout.lines(indent(totalsLines(entries, entries, view), '   '));
}

function closing(width: number): Line[] {
  return [
    '',
    ...paragraph(
      'More: vmalens maps self shows every mapping, vmalens replay TRACE --help what else a trace can tell.',
      width,
    ),
  ];
}
