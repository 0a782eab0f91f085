import fc from 'fast-check';

/** Random texts of the forms that src/procfs reads. Latin1 byte strings. */

/** Any bytes but newline, so that a line stays one. */
const anyByte = fc.integer({ min: 0, max: 255 }).filter((code) => code !== 10 && code !== 13);
const bytes = (maxLength: number) =>
  fc.array(anyByte, { maxLength }).map((codes) => String.fromCharCode(...codes));

const path = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(
    '[heap]',
    '[stack]',
    '[vdso]',
    '[vsyscall]',
    '[new thing]',
    'socket:[12]',
    '//anon',
    '[anon:]',
  ),
  bytes(30).map((name) => `/${name}`),
  bytes(12).map((name) => `/tmp/${name} (deleted)`),
  bytes(12).map((name) => `[anon:${name}]`),
  fc.constantFrom(
    '/a\\012b',
    '/tmp/Rss:  4 kB',
    '/x 00400000-00401000 rw-p 00000000 00:00 0',
    '/(deleted)',
    '/ ',
  ),
);

const perms = fc.constantFrom('rw-p', 'r--p', 'r-xp', '---p', '--xp', 'rw-s', 'r--s', 'rwxp');

/** A mapping as the kernel can print it; `gap` and `pages` place it above the one before. */
export interface RandomMapping {
  readonly gap: number;
  readonly pages: number;
  readonly perms: string;
  readonly offset: bigint;
  readonly dev: string;
  readonly inode: bigint;
  readonly path: string;
}

export const mappings: fc.Arbitrary<readonly RandomMapping[]> = fc.array(
  fc.record({
    gap: fc.oneof(fc.constant(0), fc.nat(1 << 20), fc.constant(2 ** 40)),
    pages: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 2 ** 40 })),
    perms,
    offset: fc.bigInt(0n, (1n << 52n) - 1n).map((pages) => pages << 12n),
    dev: fc.constantFrom('00:00', 'fd:01', '103:03', 'fff:fffff'),
    inode: fc.bigInt(0n, (1n << 64n) - 1n),
    path,
  }),
  { maxLength: 8 },
);

/** show_map_vma: each number has its own width, 73 characters or at least two blanks before a name. */
export function kernelLines(list: readonly RandomMapping[]): readonly string[] {
  let at = 1n;
  return list.map((mapping) => {
    const start = at + BigInt(mapping.gap);
    at = start + BigInt(mapping.pages);
    const hex = (value: bigint) => value.toString(16).padStart(8, '0');
    const columns = `${hex(start << 12n)}-${hex(at << 12n)} ${mapping.perms} ${hex(mapping.offset)} ${mapping.dev} ${mapping.inode} `;
    return mapping.path === ''
      ? columns
      : `${columns}${' '.repeat(Math.max(0, 72 - columns.length))} ${mapping.path}`;
  });
}

const kilobytes = fc.oneof(fc.nat(200_000), fc.constant(0));
const flags = fc.subarray(['rd', 'wr', 'ex', 'mr', 'mw', 'me', 'ac', 'sd', 'sl', '??', 'zz'], {
  minLength: 1,
});

const FIELDS = ['Size', 'Rss', 'Pss', 'Private_Hugetlb', 'Swap'];

/** What one record says below its header. */
const record = fc.record({
  values: fc.array(kilobytes, { minLength: FIELDS.length, maxLength: FIELDS.length }),
  flags,
});

/** smaps of a modern kernel: the same fields in every record, VmFlags last. */
export const smapsText: fc.Arbitrary<string> = fc
  .tuple(mappings, fc.array(record, { minLength: 1, maxLength: 8 }), fc.boolean())
  .map(([list, records, withKey]) =>
    kernelLines(list)
      .map((header, index) => {
        const { values = [], flags: set = [] } = records[index % records.length] ?? {};
        const rows = FIELDS.map((name, i) => `${`${name}:`.padEnd(16)}${String(values[i]).padStart(8)} kB`);
        const key = withKey ? ['ProtectionKey:         0'] : [];
        return [header, ...rows, 'THPeligible:           1', ...key, `VmFlags: ${set.join(' ')} `, ''].join(
          '\n',
        );
      })
      .join(''),
  );

export const mapsText: fc.Arbitrary<string> = mappings.map((list) =>
  kernelLines(list)
    .map((line) => `${line}\n`)
    .join(''),
);

const gdbRow = fc
  .tuple(fc.nat(1 << 20), fc.integer({ min: 1, max: 1 << 20 }), fc.constantFrom('', ' r--p', ' rw-p'), path)
  .map(([start, pages, column, name]) => {
    const hex = (page: number) => `0x${(page * 4096).toString(16)}`;
    return `  ${hex(start)}  ${hex(start + pages)} ${hex(pages)} 0x0 ${column}  ${name}\n`;
  });

/** Pieces of every form next to each other, with noise between them. */
export const mixedText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      mapsText,
      smapsText,
      gdbRow,
      bytes(40).map((noise) => `${noise}\n`),
      fc.constantFrom(
        '\n',
        '\r\n',
        '  \n',
        'Size:                  4 kB\n',
        'VmFlags: rd \n',
        'Rss: -4 kB\n',
        'Name: x\n',
        '7f00-7f01\n',
        '00001000-00003000 rw-p\n',
        '00005000-00003000 rw-p 00000000 00:00 0 \n',
        '00001000-00001000 rw-p 00000000 00:00 0 \n',
        '00001234-00002000 rw-p 00000000 00:00 0 \n',
        '[tag] 00009000-0000a000 rw-p 00000000 00:00 0 \n',
        '[tag] Rss:       4 kB\n',
        '\t0x1000-0x2000\t/x\n',
        '00000000-00000000 ---p 00000000 00:00 0                                  [rollup]\n',
        'Start Addr End Addr Size Offset Perms objfile\n',
        'cat: maps: Permission denied\n',
      ),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''));

/** Bytes without any form. */
export const noise: fc.Arbitrary<string> = fc
  .array(fc.oneof(bytes(1), fc.constantFrom(...Array.from('0f-: \n\rkBrwxp[\t'))), { maxLength: 200 })
  .map((pieces) => pieces.join(''));
