import type { Mm, UffdFeatures, UserfaultfdCtx } from './mm';
import type { VmaFields } from './vma';

export const NO_UFFD_FEATURES: UffdFeatures = { eventFork: false, eventRemap: false, wpAsync: false };

/** Stands in {@link VmaFields.uffd} where a snapshot shows that memory is watched, but not by whom. */
export const UNKNOWN_UFFD = -1;

/** Is `vma` watched by another context than `ctx`, as far as is known? */
export function watchedByOther(vma: Pick<VmaFields, 'uffd'>, ctx: UserfaultfdCtx): boolean {
  return vma.uffd !== null && vma.uffd !== ctx.id && vma.uffd !== UNKNOWN_UFFD;
}

/** Does memory watched by the context `uffd` stay watched when it moves (UFFD_FEATURE_EVENT_REMAP)? */
export function uffdFollowsMoves(mm: Mm, uffd: number | null): boolean {
  return uffd !== null && mm.system.userfaultfds.get(uffd)?.features.eventRemap === true;
}

/**
 * dup_userfaultfd: the context that watches in `child` what `uffd` watches in its parent; null where the child is not
 * watched (no UFFD_FEATURE_EVENT_FORK). One for each of the parent's, made at its first memory; `made` holds those.
 */
export function forkedUffd(child: Mm, uffd: number | null, made: Map<number, number>): number | null {
  const ctx = uffd === null ? undefined : child.system.userfaultfds.get(uffd);
  if (ctx?.features.eventFork !== true) return null;
  const there = made.get(ctx.id);
  if (there !== undefined) return there;
  const id = child.system.ids.file++;
  child.system.userfaultfds.set(id, { ...ctx, id, mm: child, descriptor: 'awaited' });
  made.set(ctx.id, id);
  return id;
}
