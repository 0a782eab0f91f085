import { err } from '../../base/result';
import { commandText, type ProcessFacts } from '../../present/process_tree';
import type { ProcSource } from './proc_source';
import type { Target } from './target';

const PREFIX = 'live ';

/** A live process, told apart from a later one with the same number by its start time. */
export function liveTarget(proc: ProcSource, pid: number, facts: ProcessFacts | undefined): Target {
  const startTime = facts?.startTime;
  return {
    kind: 'live',
    id: `${PREFIX}${pid}${startTime === undefined ? '' : ` ${startTime}`}`,
    label: facts === undefined ? String(pid) : `${pid} ${commandText(facts)}`,
    location: `process ${pid}`,
    read: async (signal) => {
      const now = startTime === undefined ? undefined : await proc.facts(pid);
      if (now !== undefined && now.startTime !== startTime) {
        const text = `the process has ended; the number now belongs to another one (${commandText(now)})`;
        return err({ code: 'not-found', subject: `pid ${pid}`, text });
      }
      return proc.read(pid, signal);
    },
  };
}

/** The pid of a target that is a live process. */
export function livePid(target: Target | undefined): number | undefined {
  return target?.kind === 'live' ? parseInt(target.id.slice(PREFIX.length), 10) : undefined;
}
