import type { ProcessLife } from '../replay/replay_types';

/** A life with the drawing in front of it: `├─ `, `│  ├─ `, empty for a root. */
export interface TreeRow {
  readonly life: ProcessLife;
  readonly branch: string;
}

/**
 * Lives as a fork tree, parents before children, in order of birth. Row by row, since the drawing in front of a
 * long chain of forks grows with every row.
 */
export function* forkTree(lives: readonly ProcessLife[]): Generator<TreeRow> {
  const byId = new Map(lives.map((life) => [life.id, life]));
  // A stack of its own: a chain of forks can be longer than the call stack is deep.
  const pending: { life: ProcessLife; lead: string; branch: string }[] = lives
    .filter((life) => life.parentId === undefined || !byId.has(life.parentId))
    .map((life) => ({ life, lead: '', branch: '' }))
    .reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield { life: next.life, branch: next.branch };
    const children = next.life.childIds.map((id) => byId.get(id)).filter((life) => life !== undefined);
    const lead = next.lead;
    const below = children.map((life, i) => {
      const last = i === children.length - 1;
      return { life, branch: `${lead}${last ? '└─ ' : '├─ '}`, lead: `${lead}${last ? '   ' : '│  '}` };
    });
    // The stack gives back what was pushed last.
    pending.push(...below.reverse());
  }
}
