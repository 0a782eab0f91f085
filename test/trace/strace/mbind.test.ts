import { expect, it } from 'vitest';
import { parseStrace } from '../../../src/trace/strace/importer';

/** Arguments from the mask on as strace prints them, and the nodes that the kernel then sees. */
const MASKS: readonly (readonly [string, bigint | undefined])[] = [
  ['[0x00000000000003], 64', 3n],
  ['[0000000000000000], 64', 0n],
  ['[0x00000000000001, 0000000000000000], 128', 1n],
  ['[0000000000000000, 0x00000000000001], 128', 1n << 64n],
  ['[], 0', undefined],
  ['0x7ffc12345678, 1', 0n],
  ['[0x00000000000003], 2', 1n],
  ['NULL, 64', 0n],
  ['0x7ffc12345678, 64', undefined],
];

it.each(MASKS)('reads the nodes of %s', (text, nodes) => {
  const { events } = parseStrace(`7 mbind(0x7f0000000000, 4096, MPOL_BIND, ${text}, MPOL_MF_STRICT) = 0\n`);
  const calls = events.flatMap((event) => (event.kind === 'syscall' ? [event.call] : []));
  expect(calls).toMatchObject([
    nodes === undefined ? { name: 'other' } : { name: 'mbind', mode: 2, nodes, flags: 1 },
  ]);
});
