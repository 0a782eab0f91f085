import fc from 'fast-check';
import { hexOfU64, u64, type U64 } from '../../../src/mm/addr';
import { bytesOfText, textOfBytes } from '../../../src/base/bytes';
import { MADVISE, MMAP, MREMAP, PROT, type FlagTable } from '../../../src/trace/strace/flag_tables';
import type { FdArg, NameArg, Syscall } from '../../../src/trace/event';

/** How strace was told to print. */
export interface PrintStyle {
  /** -X raw, -X abbrev, -X verbose */
  readonly constants: 'raw' | 'abbrev' | 'verbose';
  /** -N */
  readonly names: boolean;
  /** -x: every string in \xNN */
  readonly hexStrings: boolean;
}

/** One argument, printed, with the name that -N gives it. */
type Printed = readonly [name: string, text: string];

/** The text of a call as strace prints it up to the parenthesis that closes it. */
export function printCall(call: Syscall, style: PrintStyle): string {
  const [name, ...args] = printedArgs(call, style);
  return `${name}(${args.map(([key, text]) => (style.names ? `${key}=${text}` : text)).join(', ')})`;
}

function printedArgs(call: Syscall, style: PrintStyle): readonly [string, ...Printed[]] {
  const set = (value: number, table: FlagTable): string => printFlags(value, table, style);
  switch (call.name) {
    case 'mmap':
      return [
        'mmap',
        ['addr', address(call.addr)],
        ['length', String(call.length)],
        ['prot', set(call.prot, PROT)],
        ['flags', set(call.flags, MMAP)],
        ['fd', printFd(call.fd)],
        ['offset', hexOrZero(call.offset)],
      ];
    case 'munmap':
      return ['munmap', ['addr', address(call.addr)], ['length', String(call.length)]];
    case 'mprotect':
      return [
        'mprotect',
        ['addr', address(call.addr)],
        ['length', String(call.length)],
        ['prot', set(call.prot, PROT)],
      ];
    case 'mremap': {
      const args: Printed[] = [
        ['old_address', address(call.oldAddr)],
        ['old_size', String(call.oldLength)],
        ['new_size', String(call.newLength)],
        ['flags', set(call.flags, MREMAP)],
      ];
      if (call.newAddr !== undefined) args.push(['new_address', address(call.newAddr)]);
      return ['mremap', ...args];
    }
    case 'madvise':
      return [
        'madvise',
        ['addr', address(call.addr)],
        ['length', String(call.length)],
        ['advice', set(call.advice, MADVISE)],
      ];
    case 'prctl_set_vma':
      return [
        'prctl',
        ['op', style.constants === 'abbrev' ? 'PR_SET_VMA' : commented('0x53564d41', 'PR_SET_VMA', style)],
        [
          'attr',
          style.constants === 'abbrev'
            ? 'PR_SET_VMA_ANON_NAME'
            : commented('0', 'PR_SET_VMA_ANON_NAME', style),
        ],
        ['addr', address(call.addr)],
        ['size', String(call.length)],
        ['name', printName(call.vmaName, style)],
      ];
    case 'brk':
      return ['brk', ['brk', address(call.addr)]];
    case 'mseal':
      return [
        'mseal',
        ['addr', address(call.addr)],
        ['length', String(call.length)],
        ['flags', hexOrZero(call.flags)],
      ];
    default:
      throw new Error(`no printer for ${call.name}`);
  }
}

function address(value: U64): string {
  return value === 0 ? 'NULL' : `0x${hexOfU64(value)}`;
}

function hexOrZero(value: U64): string {
  return value === 0 ? '0' : `0x${hexOfU64(value)}`;
}

/** Known bits by name in the table's order, unknown ones in hex. A whole value of the table is printed as that. */
function printFlags(value: number, table: FlagTable, style: PrintStyle): string {
  const raw = value === 0 ? '0' : `0x${value.toString(16)}`;
  const whole = [...table].find(([, bits]) => bits === value)?.[0];
  const parts: string[] = [];
  let left = value;
  for (const [name, bits] of table) {
    if (bits === 0 || left % 2 ** 53 === 0 || (BigInt(left) & BigInt(bits)) !== BigInt(bits)) continue;
    parts.push(name);
    left -= bits;
  }
  if (left !== 0)
    parts.push(parts.length === 0 ? `0x${left.toString(16)} /* ???_??? */` : `0x${left.toString(16)}`);
  const symbolic = whole ?? (parts.length === 0 ? '0' : parts.join('|'));
  if (style.constants === 'abbrev') return symbolic;
  return commented(raw, symbolic, style);
}

function commented(raw: string, symbolic: string, style: PrintStyle): string {
  return style.constants === 'verbose' ? `${raw} /* ${symbolic} */` : raw;
}

function printFd(fd: FdArg): string {
  if (fd.path === undefined) return String(fd.fd);
  const device = fd.device === undefined ? '' : `<${fd.device}>`;
  return `${fd.fd}<${escape(bytesOfText(fd.path), '<>"', false)}${device}>${fd.deleted === true ? '(deleted)' : ''}`;
}

function printName(name: NameArg, style: PrintStyle): string {
  switch (name.kind) {
    case 'null':
      return 'NULL';
    case 'pointer':
      return `0x${hexOfU64(name.pointer)}`;
    case 'text':
      return `"${escape(bytesOfText(name.text), '"', style.hexStrings)}"${name.truncated ? '...' : ''}`;
  }
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\t', '\\t'],
  ['\r', '\\r'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** Octal with as few digits as the next character allows, as strace writes it. */
function escape(bytes: string, special: string, hex: boolean): string {
  let out = '';
  for (let i = 0; i < bytes.length; i++) {
    const character = bytes.charAt(i);
    const code = bytes.charCodeAt(i);
    if (hex) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (NAMED.has(character)) out += NAMED.get(character) ?? '';
    else if (code < 0x20 || code > 0x7e || special.includes(character)) {
      const digitNext = /[0-9]/.test(bytes.charAt(i + 1));
      out += `\\${code.toString(8).padStart(digitNext ? 3 : 1, '0')}`;
    } else out += character;
  }
  return out;
}

const anyU64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(u64),
  fc.integer({ min: 0, max: 2 ** 35 }).map((page) => page * 4096),
  fc.constantFrom<U64>(0, 1, 4096, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 64n - 1n),
);
const anyFlags = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 1, 2, 3, 0x22, 0x32));
/** Text that a kernel name or path can hold: any bytes but NUL, as text. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom(...'"\\<>(){}[],= /*0'.split('').map((c) => c.charCodeAt(0))),
    ),
    { maxLength: 20 },
  )
  .map((codes) => textOfBytes(codes.map((code) => String.fromCharCode(code)).join('')));

const anyFd: fc.Arbitrary<FdArg> = fc.oneof(
  fc.integer({ min: -1, max: 1000 }).map((fd) => ({ fd })),
  fc
    .tuple(fc.nat(1000), anyPath(), fc.boolean(), fc.option(fc.constantFrom('char 1:5', 'block 8:0')))
    .map(([fd, path, deleted, device]) => ({
      fd,
      path,
      ...(deleted ? { deleted } : {}),
      ...(device === null ? {} : { device }),
    })),
);

/** As text of base/bytes; only ones whose end strace itself prints unambiguously. */
function anyPath(): fc.Arbitrary<string> {
  return fc
    .array(
      fc.constantFrom('a', ' ', ',', ')', '(', '= ', '<x>', '"', '\\', '\n', 'é', '->', '/*', '*/', '0x1'),
      { maxLength: 8 },
    )
    .map((parts) => `/${parts.join('')}`);
}

const anyName: fc.Arbitrary<NameArg> = fc.oneof(
  fc.constant<NameArg>({ kind: 'null' }),
  anyU64.filter((pointer) => pointer !== 0).map((pointer): NameArg => ({ kind: 'pointer', pointer })),
  fc.tuple(anyText, fc.boolean()).map(([text, truncated]): NameArg => ({ kind: 'text', text, truncated })),
);

/** Calls that {@link printCall} can print. */
export const anyCall: fc.Arbitrary<Syscall> = fc.oneof(
  fc.record({
    name: fc.constant('mmap' as const),
    addr: anyU64,
    length: anyU64,
    prot: anyFlags,
    flags: anyFlags,
    fd: anyFd,
    offset: anyU64,
  }),
  fc.record({ name: fc.constant('munmap' as const), addr: anyU64, length: anyU64 }),
  fc.record({ name: fc.constant('mprotect' as const), addr: anyU64, length: anyU64, prot: anyFlags }),
  fc.record({
    name: fc.constant('mremap' as const),
    oldAddr: anyU64,
    oldLength: anyU64,
    newLength: anyU64,
    flags: fc.nat(15),
    newAddr: fc.option(anyU64, { nil: undefined }),
  }),
  fc.record({
    name: fc.constant('madvise' as const),
    addr: anyU64,
    length: anyU64,
    advice: fc.constantFrom(...MADVISE.values(), 55),
  }),
  fc.record({
    name: fc.constant('prctl_set_vma' as const),
    option: fc.constant<U64>(0),
    addr: anyU64,
    length: anyU64,
    vmaName: anyName,
  }),
  fc.record({ name: fc.constant('brk' as const), addr: anyU64 }),
  fc.record({ name: fc.constant('mseal' as const), addr: anyU64, length: anyU64, flags: anyU64 }),
);

export const anyStyle: fc.Arbitrary<PrintStyle> = fc.record({
  constants: fc.constantFrom('raw', 'abbrev', 'verbose'),
  names: fc.boolean(),
  hexStrings: fc.boolean(),
});
