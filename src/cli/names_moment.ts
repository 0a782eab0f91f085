import type { Replay } from '../replay/replay_types';

/** The moment at which a summary shows the name objects. */
export interface NamesMoment {
  readonly index: number;
  readonly line: number;
  /** In words, to stand after the line. */
  readonly why: string;
}

/**
 * At the end of most traces every process has ended and nothing is named any more, so a summary looks at the
 * end only if somebody is left; else right after the last fork that shares names; without forks before the
 * first process ends.
 */
export function namesMoment(replay: Replay): NamesMoment {
  const { steps } = replay;
  const last = steps.length - 1;
  const moment = (index: number, why: string): NamesMoment => ({ index, line: steps[index]?.line ?? 0, why });
  if (last < 0 || replay.at(last).lives.length > 0) return moment(last, 'at the end');
  const fork = replay.forks.findLast((each) => each.shared.length > 0);
  if (fork !== undefined) return moment(fork.step, 'after the last fork that shares any');
  const end = steps.findIndex((step) => step.kind === 'exit');
  return end > 0 ? moment(end - 1, 'before the end') : moment(last, 'at the end');
}
