import { printable } from '../base/bytes';
import { hexOfVpn } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';

/** A range as maps prints it: hex, at least eight digits, `00400000-00407000`. */
export function rangeText(entry: { readonly start: number; readonly end: number }): string {
  return `${addressText(entry.start)}-${addressText(entry.end)}`;
}

/** Address of a page as maps prints it. */
export function addressText(page: number): string {
  return hexOfVpn(page).padStart(8, '0');
}

/** The last column of maps, printable: path (with its mark), bracket name or ''. */
export function mappingName(entry: MapsEntry): string {
  return printable(entry.deleted ? `${entry.path} (deleted)` : entry.path);
}

/** A short name for a row: the last part of a path, a bracket name as the kernel prints it, or `anonymous`. */
export function shortName(path: string): string {
  if (path === '') return 'anonymous';
  if (!path.startsWith('/')) return printable(path);
  const last = path.slice(path.lastIndexOf('/') + 1);
  return printable(last === '' ? path : last);
}
