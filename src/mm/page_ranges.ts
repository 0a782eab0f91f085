import { vpn, type Vpn } from './addr';

/** Pages that share a property without being a VMA: guard regions live in page tables. */
export interface PageRange {
  readonly start: Vpn;
  readonly end: Vpn;
}

/** A set of pages: sorted, apart, none empty. */
export type PageRanges = readonly PageRange[];

/** `ranges` without the pages [start, end). */
export function withoutPages(ranges: PageRanges, start: Vpn, end: Vpn): PageRanges {
  if (!ranges.some((range) => range.start < end && start < range.end)) return ranges;
  return ranges.flatMap((range) =>
    [
      { start: range.start, end: vpn(Math.min(range.end, start)) },
      { start: vpn(Math.max(range.start, end)), end: range.end },
    ].filter((part) => part.start < part.end),
  );
}

/** `ranges` and the pages [start, end). */
export function withPages(ranges: PageRanges, start: Vpn, end: Vpn): PageRanges {
  return [...withoutPages(ranges, start, end), { start, end }].sort((a, b) => a.start - b.start);
}

/** The part of `ranges` in [start, end). */
export function pagesWithin(ranges: PageRanges, start: Vpn, end: Vpn): PageRanges {
  return ranges
    .map((range) => ({ start: vpn(Math.max(range.start, start)), end: vpn(Math.min(range.end, end)) }))
    .filter((part) => part.start < part.end);
}
