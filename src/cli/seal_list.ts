import { pageAlignUp, vpnAdd, vpnOf, type Vpn } from '../mm/addr';
import type { Replay, ReplayStep } from '../replay/replay_types';
import type { Trace } from '../trace/event';

/** A call of mseal that succeeded, with the pages that it closed. */
export interface SealCall {
  readonly step: ReplayStep;
  readonly start: Vpn;
  readonly end: Vpn;
}

/** Every seal that was set, in the order of the trace. */
export function sealCalls(trace: Trace, replay: Replay): SealCall[] {
  const steps = new Map(replay.steps.filter((step) => step.kind === 'seal').map((step) => [step.line, step]));
  const seals: SealCall[] = [];
  for (const event of trace.events) {
    if (event.kind !== 'syscall' || event.call.name !== 'mseal') continue;
    const step = steps.get(event.line);
    if (step?.recorded !== '0') continue;
    const start = vpnOf(event.call.addr);
    seals.push({ step, start, end: vpnAdd(start, pageAlignUp(event.call.length)) });
  }
  return seals;
}

/** What a seal closed, by the last column of maps, each once: `[anon:config]`. Looks at the instant of the call. */
export function sealedNames(replay: Replay, seal: SealCall): string[] {
  const entries = replay.at(seal.step.index).entries(seal.step.lifeId);
  const inside = entries.filter((entry) => entry.start < seal.end && seal.start < entry.end);
  return [...new Set(inside.map((entry) => entry.path).filter((path) => path !== ''))];
}
