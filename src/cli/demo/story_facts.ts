import type { AnonVmaName } from '../../mm/anon_vma_name';
import type { MapsEntry } from '../../procfs/maps_entry';
import type { ForkSharing, NameObject, Replay, ReplayStep } from '../../replay/replay_types';

/** What the demo tells, found in a replay and never written down by hand. */
export interface StoryFacts {
  /** Every change of a name object's count, in the order of the trace. */
  readonly moves: readonly CountMove[];
  /** Forks whose child shares at least one name. */
  readonly forks: readonly ForkSharing[];
  /** The first time after a fork that one process gives shared memory another name. */
  readonly rename: Rename | undefined;
  /** Refused calls with what they changed all the same. */
  readonly denied: readonly DeniedCall[];
}

/** One object's count before and after one step; before 0 means that it was made. */
export interface CountMove {
  readonly step: ReplayStep;
  readonly object: AnonVmaName;
  readonly before: number;
  readonly after: number;
}

export interface Rename {
  readonly step: ReplayStep;
  readonly from: CountMove;
  readonly to: CountMove;
  /** The region in the process that renames, before and after; with the object of each piece. */
  readonly before: readonly NamedPiece[];
  readonly after: readonly NamedPiece[];
}

/** A mapping with the name object that it points to. */
export interface NamedPiece {
  readonly entry: MapsEntry;
  readonly object: AnonVmaName | undefined;
}

export interface DeniedCall {
  readonly step: ReplayStep;
  readonly gone: readonly MapsEntry[];
  readonly come: readonly MapsEntry[];
}

export function storyFacts(replay: Replay): StoryFacts {
  const moves = countMoves(replay);
  const forks = replay.forks.filter((fork) => fork.shared.length > 0);
  return {
    moves,
    forks,
    rename: findRename(replay, moves, forks[0]?.step ?? 0),
    denied: replay.steps.filter((step) => step.denied !== undefined).map((step) => deniedCall(replay, step)),
  };
}

function countMoves(replay: Replay): CountMove[] {
  const moves: CountMove[] = [];
  let before = new Map<AnonVmaName, number>();
  for (const step of replay.steps) {
    const after = new Map(
      replay
        .at(step.index)
        .names()
        .map((name) => [name.object, name.refs]),
    );
    for (const object of new Set([...before.keys(), ...after.keys()])) {
      const move = { step, object, before: before.get(object) ?? 0, after: after.get(object) ?? 0 };
      if (move.before !== move.after) moves.push(move);
    }
    before = after;
  }
  return moves;
}

function findRename(replay: Replay, moves: readonly CountMove[], afterStep: number): Rename | undefined {
  for (const to of moves) {
    if (to.step.index <= afterStep || to.step.kind !== 'name' || to.before !== 0) continue;
    const from = moves.find((move) => move.step === to.step && move.after < move.before && move.after > 0);
    if (from === undefined) continue;
    const region = { from: from.object, to: to.object };
    return {
      step: to.step,
      from,
      to,
      before: piecesOf(replay, to.step.index - 1, to.step.lifeId, region),
      after: piecesOf(replay, to.step.index, to.step.lifeId, region),
    };
  }
  return undefined;
}

/** The mappings of a process that point to one of two objects. */
function piecesOf(
  replay: Replay,
  index: number,
  lifeId: string,
  objects: { readonly from: AnonVmaName; readonly to: AnonVmaName },
): NamedPiece[] {
  const instant = replay.at(index);
  const held = new Map<number, AnonVmaName>();
  for (const name of instant.names())
    for (const start of startsIn(name, lifeId)) held.set(start, name.object);
  return instant
    .entries(lifeId)
    .map((entry) => ({ entry, object: held.get(entry.start) }))
    .filter(({ object }) => object === objects.from || object === objects.to);
}

function startsIn(name: NameObject, lifeId: string): number[] {
  return name.holders.filter((holder) => holder.lifeId === lifeId).map((holder) => holder.start);
}

/** A refused call and the difference between the map before it and the map after it. */
export function deniedCall(replay: Replay, step: ReplayStep): DeniedCall {
  const before = replay.at(step.index - 1).entries(step.lifeId);
  const after = replay.at(step.index).entries(step.lifeId);
  const had = new Set(before.map(identity));
  const has = new Set(after.map(identity));
  return {
    step,
    gone: before.filter((entry) => !has.has(identity(entry))),
    come: after.filter((entry) => !had.has(identity(entry))),
  };
}

function identity(entry: MapsEntry): string {
  return `${entry.start} ${entry.end} ${entry.perms} ${entry.path} ${(entry.smaps?.vmFlags ?? []).join(' ')}`;
}
