import type { U64 } from '../mm/addr';

/** The kernel's own unit for small amounts (1024 bytes), then binary units. */
const UNITS = ['MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/**
 * An amount of memory for a person: `4 kB`, `64 kB`, `1.2 MiB`, `128 TiB`. Exact below one MiB, rounded to one
 * digit behind the point above it.
 */
export function formatBytes(bytes: U64): string {
  if (bytes < 1024) return `${bytes} B`;
  return formatKilobytes(typeof bytes === 'number' ? Math.floor(bytes / 1024) : bytes / 1024n);
}

/** The same for an amount given in kB, as smaps does. */
export function formatKilobytes(kB: U64): string {
  if (kB < 1024) return `${kB} kB`;
  // Rounding to a tenth needs no more than a double holds.
  let value = Number(kB) / 1024;
  let unit = 0;
  while (Math.round(value * 10) >= 10240 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const tenths = Math.round(value * 10);
  const text =
    tenths % 10 === 0 ? formatCount(tenths / 10) : `${formatCount(Math.floor(tenths / 10))}.${tenths % 10}`;
  return `${text} ${UNITS[unit] ?? ''}`;
}

/** A count with thousands set apart: `1,234,567`. */
export function formatCount(count: U64): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 mapping`, `2 mappings`; `plural` where an s is not enough. */
export function counted(count: U64, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** Share of a whole: `2%`, `under 1%`, `over 99%`; '' where the whole is empty. */
export function formatShare(part: U64, whole: U64): string {
  if (whole <= 0) return '';
  if (part === whole) return '100%';
  const percent = (Number(part) / Number(whole)) * 100;
  if (part > 0 && percent < 1) return 'under 1%';
  if (percent > 99) return 'over 99%';
  return `${Math.round(percent)}%`;
}
