import type { U64 } from '../mm/addr';

/** Anything that {@link jsonText} can print. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * JSON on one line, safe on a terminal: control characters, bidirectional overrides and bytes that are not
 * UTF-8 (lone surrogates U+DC80 to U+DCFF, see base/bytes) are written as `\uXXXX`, which reads back as the
 * same text. Keys with the value undefined are left out.
 */
export function jsonText(value: Json): string {
  return JSON.stringify(value).replace(UNSAFE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

// JSON.stringify has already escaped C0 and lone surrogates; these it leaves as they are.
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** An exact quantity: a number, or a decimal string above 2^53. */
export function jsonU64(value: U64): number | string {
  return typeof value === 'number' ? value : value.toString();
}
