import { jsonText, type Json } from './exact_json';
import type { Output } from './output';

/** One key of a document: a value, or a list that is written element by element and never held as one text. */
export type Member = readonly [key: string, value: Json | JsonList];

export class JsonList {
  constructor(readonly elements: Iterable<Json>) {}
}

/** Writes one JSON document, a member a line and a list element a line. */
export async function writeJsonDocument(out: Output, members: readonly Member[]): Promise<void> {
  await out.raw('{');
  let separator = '';
  for (const [key, value] of members) {
    await out.raw(`${separator}\n${jsonText(key)}:`);
    separator = ',';
    if (value instanceof JsonList) await writeList(out, value);
    else await out.raw(jsonText(value));
    if (out.closed) return;
  }
  await out.raw('\n}\n');
}

async function writeList(out: Output, list: JsonList): Promise<void> {
  let separator = '[\n';
  for (const element of list.elements) {
    await out.raw(`${separator}${jsonText(element)}`);
    separator = ',\n';
    if (out.closed) return;
  }
  await out.raw(separator === '[\n' ? '[]' : '\n]');
}

/** Each item made into something else, when it is asked for. */
export function* mapped<A, B>(items: Iterable<A>, make: (item: A) => B): Generator<B> {
  for (const item of items) yield make(item);
}
