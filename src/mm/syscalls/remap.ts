import type { Vpn } from '../addr';

/** The call in pages, as it goes from check to check. `oldPages` shrinks when the tail was unmapped. */
export interface Remap {
  readonly old: Vpn;
  readonly oldPages: number;
  readonly newPages: number;
  readonly to: Vpn;
  readonly fixed: boolean;
  readonly dontUnmap: boolean;
  readonly mayMove: boolean;
  readonly placedAt: Vpn | undefined;
}
