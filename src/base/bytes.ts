/**
 * Names and paths come from the kernel as bytes, not as UTF-8.
 *
 * A *byte string* is a JavaScript string with one character (0 to 255) a byte: what reading a file as
 * latin1 gives. A *text* is what the product holds and shows: UTF-8 decoded, each byte that is not valid
 * UTF-8 kept as a lone surrogate U+DC80..U+DCFF. The mapping is lossless both ways and different bytes
 * never become equal texts.
 */

/** Decodes a byte string to text; bytes that are not UTF-8 become U+DC00 + byte. */
export function textOfBytes(bytes: string): string {
  let i = 0;
  while (i < bytes.length && bytes.charCodeAt(i) < 0x80) i++;
  if (i === bytes.length) return bytes;
  let out = bytes.slice(0, i);
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i);
    if (length === 0) {
      out += String.fromCharCode(0xdc00 + bytes.charCodeAt(i));
      i++;
      continue;
    }
    out += String.fromCodePoint(codePointAt(bytes, i, length));
    i += length;
  }
  return out;
}

/** The inverse of {@link textOfBytes}: one character a byte. */
export function bytesOfText(text: string): string {
  let plain = true;
  for (let i = 0; i < text.length && plain; i++) plain = text.charCodeAt(i) < 0x80;
  if (plain) return text;
  let out = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) out += character;
    else if (code >= 0xdc80 && code <= 0xdcff) out += String.fromCharCode(code - 0xdc00);
    else out += encodeUtf8(code);
  }
  return out;
}

/**
 * Makes text safe to print on one line: control characters, line and paragraph separators, bidirectional
 * overrides and bytes that are not UTF-8 become visible escapes (`\x1b`, `\u202e`, `\xe9`). Nothing that
 * comes from another process may reach a terminal or a label in any other way.
 */
export function printable(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return text.replace(UNSAFE_ALL, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

// C0, DEL, C1, bidirectional and other invisible format characters, separators, and any lone surrogate.
const UNSAFE_CLASS =
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]' +
  '|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]';
const UNSAFE = new RegExp(UNSAFE_CLASS);
const UNSAFE_ALL = new RegExp(UNSAFE_CLASS, 'g');

/** Length of the valid UTF-8 sequence at `i` (2 to 4, or 1 for ASCII), 0 if there is none. */
function sequenceLength(bytes: string, i: number): number {
  const lead = bytes.charCodeAt(i);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (i + length > bytes.length) return 0;
  for (let k = 1; k < length; k++) {
    const code = bytes.charCodeAt(i + k);
    if (code < 0x80 || code > 0xbf) return 0;
  }
  const second = bytes.charCodeAt(i + 1);
  // Overlong forms, UTF-16 surrogates and values above U+10FFFF are not UTF-8.
  if (lead === 0xe0 && second < 0xa0) return 0;
  if (lead === 0xed && second > 0x9f) return 0;
  if (lead === 0xf0 && second < 0x90) return 0;
  if (lead === 0xf4 && second > 0x8f) return 0;
  return length;
}

function codePointAt(bytes: string, i: number, length: number): number {
  const lead = bytes.charCodeAt(i);
  if (length === 1) return lead;
  let code = lead & (0x7f >> length);
  for (let k = 1; k < length; k++) code = (code << 6) | (bytes.charCodeAt(i + k) & 0x3f);
  return code;
}

function encodeUtf8(code: number): string {
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
  if (code < 0x10000) {
    return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  }
  return String.fromCharCode(
    0xf0 | (code >> 18),
    0x80 | ((code >> 12) & 0x3f),
    0x80 | ((code >> 6) & 0x3f),
    0x80 | (code & 0x3f),
  );
}
