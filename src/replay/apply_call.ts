import type { U64 } from '../mm/addr';
import type { Mm, MmMark } from '../mm/mm';
import { learnPkey } from '../mm/pkeys';
import type { Prediction } from '../mm/refusal';
import type { Syscall, SyscallEvent } from '../trace/event';
import { choosesPlace, placedRange, resultRange, touchedRange } from './call_ranges';
import { predictedText, recordedText } from './call_text';
import { dispatch } from './dispatch';
import { forgetCapability, learnCapability } from './limit_events';
import type { Mismatch } from './replay_types';
import { reasonFor } from './reasons';
import {
  clearRange,
  dropSeals,
  force,
  hugePlace,
  learnFromBrk,
  learnHugeFile,
  learnMemory,
  onHugePages,
} from './settle';
import type { Life, World } from './world';

const UNFINISHED: Mismatch = {
  code: 'unfinished',
  text: 'the call never returned: whether it took effect is not known, and nothing was changed',
};

const UNKNOWN_TARGET: Mismatch = {
  code: 'unknown-call',
  text: 'the trace does not show whose memory this call works on: no rule can be asked, and nothing was changed',
};

/** What came of one memory call. */
export interface Applied {
  /** The prediction made before the record was looked at; undefined for calls that no rule models. */
  readonly prediction: Prediction | undefined;
  readonly recorded: string;
  readonly predicted: string;
  readonly mismatch: Mismatch | undefined;
}

/**
 * Runs `event` on the address space of `life`; afterwards that is what the record says, as far as it tells.
 * @param others asks whether calls of other threads on the same memory (that take it away) stand close to it in the trace
 */
export function applyCall(
  world: World,
  life: Life,
  mm: Mm,
  event: SyscallEvent,
  others: (releasing: boolean) => boolean,
): Applied {
  const recorded = recordedText(event.call, event.result);
  const placed = event.result.kind === 'value' ? event.result.value : undefined;
  if (placed !== undefined) {
    learnFromBrk(mm, event.call, placed);
    learnHugeFile(life.files, event.call);
  }
  const untraced = clearOccupied(mm, event, others);
  const mark = mm.begin();
  const predict = (): Prediction | undefined => dispatch(world, life, mm, event.call, placed, event);
  openQuestion(mm, life, event.call);
  mm.takeDecided('filesystem');
  const prediction = predict();
  const granted = predictedText(event.call, prediction);
  const onFilesystem = mm.takeDecided('filesystem');
  // A question is open only where the call would end otherwise without what it asks for.
  const asked = openQuestion(mm, life, event.call);
  const open =
    asked !== undefined && textWithout(mm, asked, mark, event, predict) !== granted ? asked : undefined;
  const predicted = open !== undefined || onFilesystem ? '?' : granted;
  const result = (mismatch: Mismatch | undefined): Applied => ({ prediction, recorded, predicted, mismatch });

  if (event.result.kind === 'unknown') {
    mm.rollback(mark);
    return result(UNFINISHED);
  }
  if (event.result.injected) {
    mm.rollback(mark);
    return result({ code: 'injected', text: 'strace injected this result: the kernel never ran the call' });
  }
  if (prediction === undefined) return result(UNKNOWN_TARGET);
  if (prediction.ok && prediction.value === 'pages-decide') {
    if (placed === undefined) mm.rollback(mark);
    return result(undefined);
  }
  if (onFilesystem && prediction.ok && recorded === 'EINVAL') {
    // Another file system than the one that would have allowed it.
    mm.rollback(mark);
    return result(undefined);
  }
  if (open !== undefined) {
    // With it the call goes as predicted; only without it a limit refuses.
    if (granted === recorded || (granted === '?' && placed !== undefined)) {
      open.learn(true);
      return result(untraced);
    }
    // The same call by a process that lacks it.
    mm.rollback(mark);
    open.learn(false);
    const again = predict();
    if (predictedText(event.call, again) === recorded) return { ...result(undefined), prediction: again };
    mm.rollback(mark);
    open.forget();
    predict();
    openQuestion(mm, life, event.call);
  }
  if (predicted === recorded || (predicted === '?' && placed !== undefined)) return result(untraced);
  if (placed !== undefined && prediction.ok && choosesPlace(event)) return result(untraced ?? elsewhere(mm));
  const noPage = recorded === 'ENOMEM' && prediction.ok;
  const lost = noPage ? hugePlace(mm, event.call) : undefined;
  mm.rollback(mark);
  const reason = reasonFor(mm, event, prediction, recorded, () => others(false));
  // Huge pages are asked for when what was there is gone.
  if (lost !== undefined) clearRange(mm, lost.start, lost.end);
  // mlock asks for them when all is locked.
  const locks = event.call.name === 'mlock' || event.call.name === 'mlock2';
  if (noPage && locks && onHugePages(mm, event.call)) predict();
  if (placed === undefined) return result(reason);
  return result(succeedAnyway(mm, event, placed, prediction, predict, reason));
}

/** What a call turned out to depend on: CAP_IPC_LOCK of the process, or whether a protection key is allocated. */
interface OpenQuestion {
  readonly learn: (has: boolean) => void;
  /** Neither answer explains the record. */
  readonly forget: () => void;
}

function openQuestion(mm: Mm, life: Life, call: Syscall): OpenQuestion | undefined {
  const key = mm.takeDecided('pkey');
  if (mm.takeDecided('capability')) {
    return {
      learn: (has) => {
        learnCapability(life, has);
      },
      forget: () => {
        forgetCapability(life);
      },
    };
  }
  if (!key || call.name !== 'pkey_mprotect') return undefined;
  const before = mm.scalars.pkeys;
  return {
    learn: (allocated) => {
      learnPkey(mm, call.pkey, allocated);
    },
    forget: () => {
      mm.scalars = { ...mm.scalars, pkeys: before };
    },
  };
}

/** How the call ends without what `question` asks for; afterwards all is as the prediction made it. */
function textWithout(
  mm: Mm,
  question: OpenQuestion,
  mark: MmMark,
  event: SyscallEvent,
  predict: () => Prediction | undefined,
): string {
  mm.rollback(mark);
  question.learn(false);
  const text = predictedText(event.call, predict());
  mm.rollback(mark);
  question.forget();
  predict();
  for (const unseen of ['capability', 'pkey', 'filesystem'] as const) mm.takeDecided(unseen);
  return text;
}

/** The record says success where the rules said no: learn what must have been, try again, else force it. */
function succeedAnyway(
  mm: Mm,
  event: SyscallEvent,
  value: U64,
  prediction: Prediction,
  predict: () => Prediction | undefined,
  reason: Mismatch,
): Mismatch {
  const recorded = recordedText(event.call, event.result);
  if (event.call.name === 'brk' && value === mm.scalars.brk && prediction.ok) {
    // Refused, without an errno.
    return {
      code: 'limit-unknown',
      text: 'the break stayed: a limit that the trace does not show (RLIMIT_*, memory)',
    };
  }
  const range = touchedRange(event.call);
  const matches = (): boolean => {
    const mark = mm.begin();
    const again = predictedText(event.call, predict());
    if (again === recorded || again === '?') return true;
    mm.rollback(mark);
    return false;
  };
  if (range !== undefined && learnMemory(mm, range)) {
    if (matches()) {
      return {
        code: 'unseen-memory',
        text: 'the call worked on memory that the trace does not show: it is inferred',
      };
    }
  }
  if (
    range !== undefined &&
    !prediction.ok &&
    prediction.error.errno === 'EPERM' &&
    dropSeals(mm, range) &&
    matches()
  ) {
    return reason;
  }
  force(mm, event.call, value);
  return reason;
}

function elsewhere(mm: Mm): Mismatch {
  const text = 'the kernel chose another place than the free one that was asked for';
  if (mm.scalars.complete) return { code: 'unexplained', text };
  return { code: 'unseen-memory', text: `${text}: something that the trace does not show is mapped there` };
}

/**
 * The kernel never puts a mapping on top of another by itself: if the record does, something that the trace does not
 * show took the old one away first.
 */
function clearOccupied(
  mm: Mm,
  event: SyscallEvent,
  others: (releasing: boolean) => boolean,
): Mismatch | undefined {
  const inPlace =
    event.call.name === 'mremap' && resultRange(event)?.start === touchedRange(event.call)?.start;
  const range = inPlace ? undefined : placedRange(event);
  if (range === undefined || mm.firstIn(range.start, range.end) === undefined) return undefined;
  clearRange(mm, range.start, range.end);
  if (others(true)) {
    const text =
      'memory is still mapped where the kernel put this: a call of another thread, close to this line, had taken it away';
    return { code: 'order', text };
  }
  return {
    code: 'untraced-thread',
    text: 'memory is still mapped where the kernel put this: an untraced thread must have unmapped it (strace without -f?)',
  };
}
