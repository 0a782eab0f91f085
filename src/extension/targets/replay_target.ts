import { ok, type Result } from '../../base/result';
import type { SourceError } from '../../node/source_error';
import { printable } from '../../base/bytes';
import { changedEntries } from '../replay/changes';
import type { ReplaySession } from '../replay/replay_session';
import type { AddressSpace, Target } from './target';

/** The process that a replay looks at, at the instant where it stands. */
export function replayTarget(session: ReplaySession): Target {
  return {
    kind: 'replay',
    id: `replay ${session.id}`,
    get label() {
      const life = session.life;
      return life === undefined ? session.label : `${life.pid} ${life.command}`.trim();
    },
    location: session.source.location,
    read: () => Promise.resolve(readInstant(session)),
  };
}

function readInstant(session: ReplaySession): Result<AddressSpace, SourceError> {
  const life = session.life;
  const { instant, replay } = session;
  if (life === undefined) {
    return ok({
      entries: [],
      sealing: 'unknown',
      problems: [],
      notes: ['The trace shows no process.'],
      changed: new Set(),
    });
  }
  const entries = instant.entries(life.id);
  const notes: string[] = [];
  if (entries.length === 0) notes.push(emptyNote(session, life.id));
  else if (!instant.complete(life.id)) {
    notes.push('Not the whole map: what the trace did not show is unknown, not absent.');
  }
  const before = session.position > 0 ? replay.at(session.position - 1).entries(life.id) : [];
  return ok({
    entries,
    sealing: replay.kernel === '6.1' ? 'impossible' : 'reported',
    problems: [],
    notes,
    changed: changedEntries(before, entries),
  });
}

function emptyNote(session: ReplaySession, lifeId: string): string {
  const life = session.replay.lives.find((each) => each.id === lifeId);
  const line = session.step?.line ?? 0;
  const who = life === undefined ? 'The process' : `${life.pid} ${printable(life.command)}`.trim();
  if (life?.endLine !== undefined && line >= life.endLine) return `${who} has ended at line ${life.endLine}.`;
  if (life !== undefined && line < life.startLine) return `${who} starts at line ${life.startLine}.`;
  return `Nothing is known yet of the memory of ${who}.`;
}
