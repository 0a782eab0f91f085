import { bytesOfVpn, parseHex, hexOfVpn, type U64 } from '../mm/addr';
import type { MapsEntry } from '../procfs/maps_entry';

/**
 * The simple filter: words that must all match, `"quoted words"` kept together.
 * - `perm:wx`: has each of these permission letters (`-`: lacks at least one permission)
 * - `flag:sl`: has this smaps mnemonic
 * - `name:TEXT`: the name or path holds TEXT
 * - `at:ADDRESS`: holds this address
 * - anything else: part of the name, the path, the permissions or the range, or an address inside.
 * Case does not matter. A word with an unknown prefix is plain text: paths hold colons too.
 */
export type Filter = (entry: MapsEntry) => boolean;

/** Turns a query into a test; undefined for a query without words, which lets everything through. */
export function parseFilter(query: string): Filter | undefined {
  const tests = splitWords(query).map(testOf);
  if (tests.length === 0) return undefined;
  return (entry) => tests.every((test) => test(entry));
}

/** Words at blanks; double quotes keep blanks and are dropped. An open quote runs to the end. */
export function splitWords(query: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  let quoted = false;
  let started = false;
  for (const character of query) {
    if (character === '"') {
      quoted = !quoted;
      started = true;
    } else if (!quoted && /\s/.test(character)) {
      if (started) words.push(word);
      word = '';
      started = false;
    } else {
      word += character;
      started = true;
    }
  }
  if (started) words.push(word);
  return words.filter((each) => each !== '');
}

function testOf(word: string): Filter {
  const colon = word.indexOf(':');
  const key = colon > 0 ? word.slice(0, colon).toLowerCase() : '';
  const value = word.slice(colon + 1).toLowerCase();
  if (value === '') return textTest(word);
  switch (key) {
    case 'perm':
    case 'perms':
      return permTest(value);
    case 'flag':
      return (entry) => entry.smaps?.vmFlags?.some((flag) => flag.toLowerCase() === value) === true;
    case 'name':
      return (entry) => entry.path.toLowerCase().includes(value);
    case 'at': {
      const address = parseHex(value.replace(/^0x/, ''));
      return address === undefined ? textTest(word) : (entry) => holds(entry, address);
    }
    default:
      return textTest(word);
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
