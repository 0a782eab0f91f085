import { KERNEL_FEATURES, type KernelFeature } from '../mm/kernel_rules';
import {
  MADV_HUGEPAGE,
  MADV_MERGEABLE,
  MADV_NOHUGEPAGE,
  MADV_UNMERGEABLE,
  MADV_WILLNEED,
} from '../mm/advice';
import { pageAligned, type U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';
import type { SyscallEvent, TraceEvent } from '../trace/event';

/**
 * Which features the traced kernel was built with. Told by the user; else what the trace shows: a call that every
 * kernel with the feature would accept, refused with EINVAL each time. Soft-dirty is shown by a snapshot only.
 */
export function inferFeatures(
  events: readonly TraceEvent[],
  snapshots: readonly { readonly entries: readonly MapsEntry[] }[],
  without: readonly string[],
): ReadonlySet<KernelFeature> {
  const features = new Set<KernelFeature>(KERNEL_FEATURES);
  if (refusedAlways(events, isNaming)) features.delete('anon-names');
  if (refusedAlways(events, (event) => isAdvice(event, MADV_HUGEPAGE, MADV_NOHUGEPAGE)))
    features.delete('thp');
  if (refusedAlways(events, (event) => isAdvice(event, MADV_MERGEABLE, MADV_UNMERGEABLE)))
    features.delete('ksm');
  if (refusedAlways(events, givesKey)) features.delete('pkeys');
  if (events.some(refusedForSwap)) features.delete('swap');
  if (
    !snapshots.some((snapshot) =>
      snapshot.entries.some((entry) => entry.smaps?.vmFlags?.includes('sd') === true),
    )
  ) {
    features.delete('soft-dirty');
  }
  for (const name of without) features.delete(name as KernelFeature);
  return features;
}

/** True if there are such calls and all of them got EINVAL. */
function refusedAlways(events: readonly TraceEvent[], concerns: (event: SyscallEvent) => boolean): boolean {
  let seen = false;
  for (const event of events) {
    if (event.kind !== 'syscall' || !concerns(event)) continue;
    if (event.result.kind !== 'errno' || event.result.errno !== 'EINVAL') {
      if (event.result.kind !== 'unknown') return false;
      continue;
    }
    seen = true;
  }
  return seen;
}

/** madvise_willneed answers so without CONFIG_SWAP, and only then. */
function refusedForSwap(event: TraceEvent): boolean {
  if (event.kind !== 'syscall' || event.result.kind !== 'errno' || event.result.errno !== 'EBADF')
    return false;
  return event.call.name === 'madvise' && event.call.advice === MADV_WILLNEED;
}

function isNaming({ call }: SyscallEvent): boolean {
  return (
    call.name === 'prctl_set_vma' &&
    call.option === 0 &&
    saneRange(call.addr, call.length) &&
    plainName(call.vmaName)
  );
}

function plainName(name: { readonly kind: string; readonly text?: string }): boolean {
  return name.kind !== 'text' || /^[\w :.-]{0,79}$/.test(name.text ?? '');
}

/** Key 0 is everybody's from the beginning, where the processor has keys. */
function givesKey({ call }: SyscallEvent): boolean {
  return (
    call.name === 'pkey_mprotect' && call.pkey === 0 && call.prot < 8 && saneRange(call.addr, call.length)
  );
}

function isAdvice({ call }: SyscallEvent, ...advice: readonly number[]): boolean {
  return call.name === 'madvise' && advice.includes(call.advice) && saneRange(call.addr, call.length);
}

/** A range that no kernel refuses for itself. */
function saneRange(addr: U64, length: U64): boolean {
  return pageAligned(addr) && length !== 0 && typeof length === 'number' && length < 2 ** 47;
}
