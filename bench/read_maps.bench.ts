/**
 * How long does it take to read the text of an address space at the kernel's default limit of VMAs, and to write
 * it back?
 */
import { bench, describe } from 'vitest';
import { formatMapsDocument } from '../src/procfs/format_maps';
import { parseMaps } from '../src/procfs/maps';

/** vm.max_map_count as kernels set it. */
const VMAS = 65_530;

const KILOBYTE_FIELDS = [
  'Size',
  'KernelPageSize',
  'MMUPageSize',
  'Rss',
  'Pss',
  'Private_Dirty',
  'Referenced',
  'Swap',
];

/** The same text on every run: VMAs of one page with a gap after each, every third with a name. */
function textOfMaps(smaps: boolean): string {
  const lines: string[] = [];
  for (let i = 0; i < VMAS; i++) {
    const start = 0x7f0000000000 + i * 0x2000;
    const range = `${start.toString(16)}-${(start + 0x1000).toString(16)}`;
    const name = i % 3 === 0 ? `                      [anon:arena ${i % 64}]` : '';
    lines.push(`${range} rw-p 00000000 00:00 0 ${name}`);
    if (!smaps) continue;
    for (const field of KILOBYTE_FIELDS) lines.push(`${`${field}:`.padEnd(16)}${'4'.padStart(8)} kB`);
    lines.push('VmFlags: rd wr mr mw me ac sd ');
  }
  return `${lines.join('\n')}\n`;
}

describe.each([
  ['maps', textOfMaps(false)],
  ['smaps', textOfMaps(true)],
])(`${VMAS} VMAs of %s`, (_, text) => {
  const document = parseMaps(text);
  bench('read', () => {
    parseMaps(text);
  });
  bench('write back', () => {
    formatMapsDocument(document);
  });
});
