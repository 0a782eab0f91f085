import { pageAlignUp, vpnAdd, vpnOf, type U64, type Vpn } from '../mm/addr';
import type { Mm } from '../mm/mm';
import { isSealed } from '../mm/seal';
import type { Applied } from './apply_call';
import { entryOfVma, lastColumn } from './maps_view';
import type { Denial } from './replay_types';
import type { Syscall } from '../trace/event';
import type { Life } from './world';

/** Who sealed what: every mseal that succeeded. */
export class SealLog {
  private readonly seals: {
    readonly life: Life;
    readonly line: number;
    readonly start: Vpn;
    readonly end: Vpn;
  }[] = [];

  add(life: Life, line: number, addr: U64, length: U64): void {
    const start = vpnOf(addr);
    this.seals.push({ life, line, start, end: vpnAdd(start, pageAlignUp(length)) });
  }

  /** Line of the newest mseal over `page` by the process itself or, before it was forked, by an ancestor. */
  lineOf(life: Life, page: Vpn): number | undefined {
    let reader: Life | undefined = life;
    let until = Infinity;
    while (reader !== undefined) {
      const own = reader;
      const limit = until;
      const found = this.seals.findLast(
        (seal) => seal.life === own && seal.line < limit && seal.start <= page && page < seal.end,
      );
      if (found !== undefined) return found.line;
      until = reader.startLine;
      reader = reader.parent;
    }
    return undefined;
  }
}

/** Of several seals that joined to `vma`, the page that the call meets first; the call's addresses tell. */
function pageMet(call: Syscall, vma: { readonly start: Vpn; readonly end: Vpn }): Vpn {
  const addresses = [
    ...('addr' in call ? [call.addr] : []),
    ...(call.name === 'mremap' ? [call.oldAddr, call.newAddr ?? 0] : []),
  ];
  const inside = addresses.map(vpnOf).find((page) => vma.start <= page && page < vma.end);
  return inside ?? vma.start;
}

/** Why a memory call was refused, as far as the rules explain the record, and what it left changed (`left`). */
export function denialOf(
  mm: Mm,
  life: Life,
  call: Syscall,
  applied: Applied,
  seals: SealLog,
  left: readonly string[],
): Denial {
  const { prediction, recorded } = applied;
  const leftBehind = left.length === 0 ? {} : { leftBehind: left };
  if (prediction === undefined || prediction.ok || prediction.error.errno !== recorded) {
    const why = applied.mismatch?.text ?? 'the rules do not say why';
    return { errno: recorded, reason: why, ...leftBehind };
  }
  const { why, vma } = prediction.error;
  if (vma === null) return { errno: recorded, reason: why, ...leftBehind };
  const entry = entryOfVma(vma, mm.scalars, mm.rules);
  const line = isSealed(vma) ? seals.lineOf(life, pageMet(call, vma)) : undefined;
  return {
    errno: recorded,
    reason: why,
    vma: { start: vma.start, end: vma.end, name: lastColumn(entry) },
    ...(line === undefined ? {} : { sealedAtLine: line }),
    ...leftBehind,
  };
}
