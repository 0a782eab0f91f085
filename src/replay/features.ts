import { KERNEL_FEATURES, type KernelFeature, type RuleOverrides } from '../mm/kernel_rules';
import {
  MADV_HUGEPAGE,
  MADV_MERGEABLE,
  MADV_NOHUGEPAGE,
  MADV_UNMERGEABLE,
  MADV_WILLNEED,
} from '../mm/advice';
import { pageAligned, vpnOf, type U64 } from '../mm/addr';
import { DEFAULT_HUGE_PAGE, GIGANTIC_PAGE, hugeLogOf, hugePageOfLog } from '../mm/hugetlb';
import {
  MAP_ANONYMOUS,
  MAP_FIXED,
  MAP_FIXED_NOREPLACE,
  MAP_GROWSDOWN,
  MAP_HUGETLB,
  MAP_PRIVATE,
  MAP_SHARED,
  MAP_STACK,
} from '../mm/syscalls/mmap';
import type { MapsEntry } from '../procfs/maps_entry';
import { PROTECTION_KEY } from '../procfs/smaps_fields';
import type { SyscallEvent, TraceEvent } from '../trace/event';

/** What a snapshot shows, as far as it tells of the kernel. */
interface Shown {
  readonly line: number;
  readonly entries: readonly MapsEntry[];
}

/**
 * Which features the traced kernel was built with. Told by the user; else what the trace shows: a call that every
 * kernel with the feature would accept, refused with EINVAL each time. Soft-dirty is shown by a snapshot only,
 * protection keys by one or by a call that needs them.
 */
export function inferFeatures(
  events: readonly TraceEvent[],
  snapshots: readonly Shown[],
  without: readonly string[],
): ReadonlySet<KernelFeature> {
  const features = new Set<KernelFeature>(KERNEL_FEATURES);
  if (refusedAlways(events, isNaming)) features.delete('anon-names');
  if (refusedAlways(events, (event) => isAdvice(event, MADV_HUGEPAGE, MADV_NOHUGEPAGE)))
    features.delete('thp');
  if (stacksMayBeHuge(events, snapshots)) features.delete('thp');
  if (refusedAlways(events, (event) => isAdvice(event, MADV_MERGEABLE, MADV_UNMERGEABLE)))
    features.delete('ksm');
  if (!events.some(usesKey) && !snapshots.some(({ entries }) => entries.some(showsKey)))
    features.delete('pkeys');
  if (refusedAlways(events, (event) => mapsHugePages(event, DEFAULT_HUGE_PAGE))) features.delete('hugetlb');
  if (refusedAlways(events, (event) => mapsHugePages(event, GIGANTIC_PAGE))) features.delete('hugetlb-1g');
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

/**
 * Rules that the snapshots show, of those that are no matter of the version: a heap that is executable, while other memory
 * that can be written is not (which READ_IMPLIES_EXEC would make so too).
 */
export function inferRules(snapshots: readonly Shown[]): RuleOverrides {
  const executable = snapshots.some(({ entries }) => {
    const heap = entries.filter(({ path }) => path === '[heap]');
    if (heap.length === 0 || !heap.every(({ perms }) => perms[2] === 'x')) return false;
    return entries.some(({ path, perms }) => path === '' && perms === 'rw-p');
  });
  return executable ? { heapExecutable: true } : {};
}

/**
 * With THP, MAP_STACK memory is marked `nh` (since 6.7): a kernel that has shown such memory without, and no `nh` or `hg`
 * anywhere, has no THP.
 */
function stacksMayBeHuge(events: readonly TraceEvent[], snapshots: readonly Shown[]): boolean {
  const shown = snapshots.flatMap(({ line, entries }) =>
    entries.map((entry) => ({ line, start: entry.start, flags: entry.smaps?.vmFlags ?? null })),
  );
  if (shown.some(({ flags }) => flags?.includes('nh') === true || flags?.includes('hg') === true))
    return false;
  const stacks = new Map<number, number>();
  for (const event of events) {
    if (event.kind !== 'syscall' || event.call.name !== 'mmap' || event.result.kind !== 'value') continue;
    const start = vpnOf(event.result.value);
    if ((event.call.flags & MAP_STACK) !== 0 && !stacks.has(start)) stacks.set(start, event.line);
  }
  return shown.some(({ line, start, flags }) => flags !== null && (stacks.get(start) ?? Infinity) < line);
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

/** A call that no processor without protection keys allows, not even for key 0. */
function usesKey(event: TraceEvent): boolean {
  if (event.kind !== 'syscall' || event.result.kind !== 'value' || event.result.injected) return false;
  const { call } = event;
  if (call.name === 'other') return call.syscall === 'pkey_alloc' || call.syscall === 'pkey_free';
  return call.name === 'pkey_mprotect' && call.pkey >= 0 && call.length !== 0;
}

/** The kernel prints the key of a mapping where the processor has keys, also key 0. */
function showsKey(entry: MapsEntry): boolean {
  return entry.smaps?.fields.has(PROTECTION_KEY) === true;
}

function isAdvice({ call }: SyscallEvent, ...advice: readonly number[]): boolean {
  return call.name === 'madvise' && advice.includes(call.advice) && saneRange(call.addr, call.length);
}

/** Anonymous memory of such huge pages, in a way that is wrong for no other reason. How many are free is ENOMEM. */
function mapsHugePages({ call }: SyscallEvent, hugePage: number): boolean {
  if (call.name !== 'mmap') return false;
  const { flags, addr, length } = call;
  const kind = flags & (MAP_HUGETLB | MAP_ANONYMOUS | MAP_GROWSDOWN | 0xf);
  if (
    kind !== (MAP_HUGETLB | MAP_ANONYMOUS | MAP_PRIVATE) &&
    kind !== (MAP_HUGETLB | MAP_ANONYMOUS | MAP_SHARED)
  )
    return false;
  const fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) !== 0;
  const aligned = !fixed || vpnOf(addr) % hugePage === 0;
  return (
    hugePageOfLog(hugeLogOf(flags)) === hugePage &&
    call.offset === 0 &&
    aligned &&
    saneRange(fixed ? addr : 0, length)
  );
}

/** A range that no kernel refuses for itself. */
function saneRange(addr: U64, length: U64): boolean {
  return pageAligned(addr) && length !== 0 && typeof length === 'number' && length < 2 ** 47;
}
