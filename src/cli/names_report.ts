import { hexOfVpn } from '../mm/addr';
import { counted, formatCount } from '../present/units';
import type { Instant, NameHolder, NameObject } from '../replay/replay_types';
import type { Json } from './exact_json';
import { styled, type Line, type Span } from './styled';
import { tableLines } from './table';

/** Name objects as cli.md of the project gives them. */
export function nameJson(name: NameObject): Json {
  const { object, refs, holders } = name;
  return {
    id: object.id,
    text: object.text,
    createdAt: { line: object.createdAt.line, pid: object.createdAt.pid },
    refs,
    holders: holders.map((holder) => ({
      pid: holder.pid,
      start: hexOfVpn(holder.start),
      end: hexOfVpn(holder.end),
    })),
    certainty: object.certainty,
    inferred: object.inferred,
  };
}

export function namesJson(instant: Instant): Json {
  return instant.names().map(nameJson);
}

/** Name objects for a person: number, text, count, holders by process, creator. */
export function namesTable(names: readonly NameObject[], width: number | undefined): Line[] {
  if (names.length === 0) return ['no named memory at this point'];
  return tableLines(
    [
      { title: 'object', align: 'right' },
      { title: 'name', align: 'left' },
      { title: 'refs', align: 'right' },
      { title: 'held by', align: 'left', keep: 'start' },
      { title: 'made', align: 'left' },
    ],
    names.map((name) => [
      styled('dim', `#${name.object.id}`),
      styled('name', nameText(name)),
      formatCount(name.refs),
      holdersLine(name.holders),
      styled('dim', creatorText(name)),
    ]),
    width,
  );
}

/** The text in quotes; what a short -s cut off is marked. */
export function nameText({ object }: Pick<NameObject, 'object'>): string {
  if (object.certainty === 'pointer') return '(text not in the trace)';
  return `"${object.text}"${object.certainty === 'prefix' ? '…' : ''}`;
}

function creatorText({ object }: NameObject): string {
  const { line, pid } = object.createdAt;
  return line === 0 ? 'before the trace' : `line ${line} by ${pid}`;
}

/** `20 ●● 21 ●`: a dot a VMA that holds the object, a number where dots would not be counted any more. */
function holdersLine(holders: readonly NameHolder[]): Line {
  const byPid = new Map<number, number>();
  for (const { pid } of holders) byPid.set(pid, (byPid.get(pid) ?? 0) + 1);
  const shown = [...byPid].slice(0, MOST_HOLDERS);
  const spans: Span[] = shown.flatMap(([pid, count], i) => [
    `${i === 0 ? '' : '  '}${pid} `,
    styled('accent', count <= MOST_DOTS ? '●'.repeat(count) : `×${formatCount(count)}`),
  ]);
  const more = byPid.size - shown.length;
  return more === 0
    ? spans
    : [...spans, styled('dim', `  and ${counted(more, 'process', 'processes')} more`)];
}

const MOST_HOLDERS = 8;
const MOST_DOTS = 6;
