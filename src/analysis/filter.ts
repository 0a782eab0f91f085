import { bytesOfVpn, parseHex, hexOfVpn, type U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';

/**
 * The simple filter: words that must all match, `"quoted words"` kept together.
 * - `perm:wx`: has each of these permission letters (`-`: lacks at least one permission)
 * - `flag:sl`: has this smaps mnemonic
 * - `name:TEXT`: the name or path holds TEXT
 * - `at:ADDRESS`: holds this address
 * - anything else: part of the name, the path, the permissions or the range, or an address inside.
 * Case does not matter. Quoted text is never a key.
 */
export type Filter = (entry: MapsEntry) => boolean;

/**
 * Turns a query into a test; undefined for a query without words, which lets everything through. Takes any text:
 * what {@link filterProblem} finds fault with is plain text here.
 */
export function parseFilter(query: string): Filter | undefined {
  const tests = splitWords(query).words.map(testOf);
  if (tests.length === 0) return undefined;
  return (entry) => tests.every((test) => test(entry));
}

/**
 * What a person must have meant otherwise, in words; undefined for a query that means what it says.
 *
 * A bare identifier with a value right behind its colon is meant as a key, so that one we do not have is a mistake.
 * Paths (`/memfd:x`, `http://x`), a colon with nothing behind it (`glibc: malloc`), quoted text, and what the kernel
 * itself puts before a colon (`memfd:x`, `stack:42`) are text.
 */
export function filterProblem(query: string): string | undefined {
  const { words, openQuote } = splitWords(query);
  if (openQuote) return 'a double quote is not closed';
  for (const word of words) {
    const parts = keyOf(word);
    if (parts === undefined) continue;
    const key = KEYS.get(parts.key);
    if (key !== undefined) {
      if (!key.takes.test(parts.value)) return `${parts.key}: takes ${key.what}, not '${parts.value}'`;
    } else if (parts.value !== '' && !parts.value.includes('/') && !KERNEL_PREFIXES.has(parts.key)) {
      return `there is no key '${parts.key}': keys are ${KEY_NAMES}; text with a colon is written in double quotes`;
    }
  }
  return undefined;
}

/** A key: what its value must look like, and that in words. */
interface Key {
  readonly name: 'perm' | 'flag' | 'name' | 'at';
  readonly takes: RegExp;
  readonly what: string;
}

const PERM: Key = { name: 'perm', takes: /^[rwxps-]+$/, what: 'letters of rwxps-' };
const FLAG: Key = { name: 'flag', takes: /^[a-z0-9?]{2}$/, what: 'two letters of VmFlags' };
const NAME: Key = { name: 'name', takes: /^[^]/, what: 'text' };
const AT: Key = { name: 'at', takes: /^(?:0x)?[0-9a-f]{1,16}$/, what: 'an address in hex' };

const KEYS: ReadonlyMap<string, Key> = new Map([
  ['perm', PERM],
  ['perms', PERM],
  ['flag', FLAG],
  ['flags', FLAG],
  ['name', NAME],
  ['at', AT],
]);
const KEY_NAMES = 'perm:, flag:, name: and at:';

/** `[anon:NAME]`, `[anon_shmem:NAME]`, `anon_inode:…`, `/memfd:NAME` and `[stack:TID]` of old kernels. */
const KERNEL_PREFIXES: ReadonlySet<string> = new Set(['anon', 'anon_shmem', 'anon_inode', 'memfd', 'stack']);

interface Word {
  /** Without its quotes. */
  readonly text: string;
  /** How many of its first characters stand before any quote. */
  readonly bare: number;
}

/** Words at blanks; double quotes keep blanks and are dropped. An open quote runs to the end. */
export function splitWords(query: string): { readonly words: readonly Word[]; readonly openQuote: boolean } {
  const words: Word[] = [];
  let text = '';
  let bare: number | undefined;
  let quoted = false;
  const end = (): void => {
    if (text !== '') words.push({ text, bare: bare ?? text.length });
    text = '';
    bare = undefined;
  };
  for (const character of query) {
    if (character === '"') {
      quoted = !quoted;
      bare ??= text.length;
    } else if (!quoted && /\s/.test(character)) end();
    else text += character;
  }
  end();
  return { words, openQuote: quoted };
}

/** Key and value in lower case of a word that has the form of both; the value may be empty. */
function keyOf({ text, bare }: Word): { readonly key: string; readonly value: string } | undefined {
  const [head, key] = /^([a-z][a-z0-9_]*):/i.exec(text.slice(0, bare)) ?? [];
  if (head === undefined || key === undefined) return undefined;
  return { key: key.toLowerCase(), value: text.slice(head.length).toLowerCase() };
}

function testOf(word: Word): Filter {
  const { key: keyword = '', value = '' } = keyOf(word) ?? {};
  const key = KEYS.get(keyword);
  if (key?.takes.test(value) !== true) return textTest(word.text);
  switch (key.name) {
    case 'perm':
      return permTest(value);
    case 'flag':
      return (entry) => entry.smaps?.vmFlags?.some((flag) => flag.toLowerCase() === value) === true;
    case 'name':
      return (entry) => entry.path.toLowerCase().includes(value);
    case 'at': {
      const address = parseHex(value.replace(/^0x/, ''));
      return (entry) => address !== undefined && holds(entry, address);
    }
  }
}

function permTest(letters: string): Filter {
  return (entry) => {
    const perms = entry.perms.toLowerCase();
    return Array.from(letters).every((letter) => perms.includes(letter));
  };
}

function textTest(word: string): Filter {
  const text = word.toLowerCase();
  // Short words such as `dead` or `cafe` are words; an address has at least five digits or says 0x.
  const address = /^0x[0-9a-f]{1,16}$|^[0-9a-f]{5,16}$/.test(text)
    ? parseHex(text.replace(/^0x/, ''))
    : undefined;
  return (entry) => {
    if (entry.path.toLowerCase().includes(text) || entry.perms.includes(text)) return true;
    if (rangeText(entry).includes(text)) return true;
    return address !== undefined && holds(entry, address);
  };
}

function holds(entry: MapsEntry, address: U64): boolean {
  return bytesOfVpn(entry.start) <= address && address < bytesOfVpn(entry.end);
}

function rangeText(entry: MapsEntry): string {
  return `${hexOfVpn(entry.start)}-${hexOfVpn(entry.end)}`;
}
