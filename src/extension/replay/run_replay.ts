import { err, ok, type Result } from '../../base/result';
import type { KernelVersion } from '../../mm/kernel_rules';
import { Replayer } from '../../replay/replayer';
import type { Replay } from '../../replay/replay_types';
import type { SourceError } from '../../node/source_error';
import type { ReplaySource } from './replay_session';

/** Events a slice: some milliseconds, so that the editor stays awake and a cancellation is heard. */
const SLICE = 2000;

/** Who wants to know how far a replay has come, and may stop it. */
export interface ReplayWatch {
  readonly signal: AbortSignal;
  /** Share that is done, 0 to 1. */
  readonly progress: (share: number) => void;
  /** Lets other work happen between two slices. */
  readonly pause: () => Promise<void>;
}

/** Replays a trace slice by slice. */
export async function runReplay(
  source: ReplaySource,
  kernel: KernelVersion,
  watch: ReplayWatch,
): Promise<Result<Replay, SourceError>> {
  const replayer = new Replayer(source.trace, { kernel, snapshots: source.snapshots });
  while (!replayer.advance(SLICE)) {
    watch.progress(replayer.progress);
    await watch.pause();
    if (watch.signal.aborted) return err({ code: 'cancelled', subject: source.label, text: 'cancelled' });
  }
  return ok(replayer.finish());
}
