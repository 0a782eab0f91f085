import { hexOfVpn } from '../mm/addr';
import type { ForkSharing, ProcessLife, Replay, ReplayStep, SnapshotCheck } from '../replay/replay_types';
import { textOfBytes } from '../base/bytes';
import type { Json } from './exact_json';
import { JsonList, mapped, type Member } from './json_document';
import { problemJson } from './maps_json';
import { nameJson } from './names_report';
import { namesMoment } from './names_moment';
import type { ReplayInput } from './replay_input';
import { sealCalls, type SealCall } from './seal_list';

/** The document of `replay --json`. */
export function summaryMembers(input: ReplayInput, replay: Replay): readonly Member[] {
  const { loaded, options } = input;
  const moment = namesMoment(replay);
  const steps = replay.steps;
  const pids = new Map(replay.lives.map((life) => [life.id, life.pid]));
  return [
    ['target', loaded.path],
    ['format', loaded.trace.format],
    ['kernel', replay.kernel],
    ['without', options.without ?? []],
    ['lines', loaded.trace.lineCount],
    ['events', loaded.trace.events.length],
    ['steps', steps.length],
    ['processes', new JsonList(mapped(replay.lives, lifeJson))],
    ['forks', new JsonList(mapped(replay.forks, (fork) => forkJson(fork, steps, pids)))],
    ['namesAt', { line: moment.line, why: moment.why }],
    ['names', new JsonList(mapped(replay.at(moment.index).names(), nameJson))],
    ['seals', new JsonList(mapped(sealCalls(loaded.trace, replay), sealJson))],
    ['denied', new JsonList(mapped(steps.filter(isDenied), stepJson))],
    ['mismatchCounts', Object.fromEntries(mismatchCounts(replay))],
    ['mismatches', new JsonList(mapped(steps.filter(isMismatch), stepJson))],
    ['dependsOnAccess', steps.filter((step) => step.dependsOnAccess === true).map((step) => step.line)],
    ['cost', costJson(replay)],
    ['snapshots', new JsonList(mapped(replay.checks, checkJson))],
    ['unplacedSnapshots', input.unplaced],
    ['lacks', loaded.trace.lacks.map(({ code, text }) => ({ code, text }))],
    ['problems', new JsonList(mapped(loaded.problems, problemJson))],
  ];
}

export function isDenied(step: ReplayStep): boolean {
  return step.denied !== undefined;
}

export function isMismatch(step: ReplayStep): boolean {
  return step.mismatch !== undefined;
}

/** How many results differ from their prediction, by reason; most first. */
export function mismatchCounts({ steps }: Replay): [string, number][] {
  const counts = new Map<string, number>();
  for (const { mismatch } of steps) {
    if (mismatch !== undefined) counts.set(mismatch.code, (counts.get(mismatch.code) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function lifeJson(life: ProcessLife): Json {
  return {
    id: life.id,
    pid: life.pid,
    command: life.command,
    parent: life.parentId ?? null,
    children: life.childIds,
    threads: life.threads,
    startLine: life.startLine,
    endLine: life.endLine ?? null,
  };
}

function forkJson(fork: ForkSharing, steps: readonly ReplayStep[], pids: ReadonlyMap<string, number>): Json {
  const step = steps[fork.step];
  return {
    line: step?.line ?? null,
    call: step?.call ?? null,
    parent: { id: fork.parentId, pid: pids.get(fork.parentId) ?? null },
    child: { id: fork.childId, pid: pids.get(fork.childId) ?? null },
    shared: fork.shared.map(({ object, childRefs, refs }) => ({
      id: object.id,
      text: object.text,
      childRefs,
      refs,
    })),
    cost: { ...fork.cost },
  };
}

function stepJson(step: ReplayStep): Json {
  return {
    line: step.line,
    pid: step.pid,
    process: step.lifeId,
    call: step.call,
    title: step.title,
    recorded: step.recorded,
    predicted: step.predicted,
    denied: step.denied === undefined ? null : deniedJson(step.denied),
    mismatch: step.mismatch === undefined ? null : { code: step.mismatch.code, text: step.mismatch.text },
  };
}

function sealJson({ step, start, end }: SealCall): Json {
  const { line, pid, lifeId } = step;
  return { line, pid, process: lifeId, start: hexOfVpn(start), end: hexOfVpn(end) };
}

function deniedJson(denied: NonNullable<ReplayStep['denied']>): Json {
  const { vma } = denied;
  return {
    errno: denied.errno,
    reason: denied.reason,
    vma: vma === undefined ? null : { start: hexOfVpn(vma.start), end: hexOfVpn(vma.end), name: vma.name },
    sealedAtLine: denied.sealedAtLine ?? null,
    leftBehind: [...(denied.leftBehind ?? [])],
  };
}

/** What each policy would have cost over the whole trace. */
function costJson(replay: Replay): Json {
  const total = nameCost(replay);
  return {
    names: {
      refcount: { references: total.references },
      copy: { copies: total.copies, bytes: total.copyBytes },
    },
    sealChecks: {
      prePass: { vmasVisited: replay.sealCost.prePassVisits },
      inLoop: { vmasVisited: replay.sealCost.inLoopVisits },
    },
  };
}

/** Cost of naming over all forks. */
export function nameCost(replay: Replay): ForkSharing['cost'] {
  let references = 0;
  let copies = 0;
  let copyBytes = 0;
  for (const { cost } of replay.forks) {
    references += cost.references;
    copies += cost.copies;
    copyBytes += cost.copyBytes;
  }
  return { references, copies, copyBytes };
}

export function checkJson(check: SnapshotCheck): Json {
  const first = check.firstDifference;
  return {
    label: check.label,
    pid: check.pid,
    line: check.line,
    outcome: check.outcome,
    inPieces: check.inPieces === true,
    vmas: check.vmaCount,
    differences: check.differences,
    settled: check.settled,
    firstDifference:
      first === undefined
        ? null
        : { what: first.what, replayed: textOfBytes(first.replayed), snapshot: textOfBytes(first.snapshot) },
  };
}
