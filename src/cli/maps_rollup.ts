import { hexOfVpn } from '../mm/addr';
import { formatKilobytes } from '../present/units';
import type { SmapsRollup } from '../procfs/maps_document';
import type { SmapsValue } from '../procfs/maps_entry';
import { jsonU64, type Json } from './exact_json';
import { indent } from './summary_view';
import { styled, type Line } from './styled';
import { tableLines } from './table';

/** The sums of an smaps_rollup as a person reads them, in the order of the file. */
export function rollupLines({ smaps }: SmapsRollup): Line[] {
  const rows = [...smaps.fields].map(([name, value]): Line[] => [name, amountText(value)]);
  const lines = tableLines(
    [
      { title: '', align: 'left' },
      { title: '', align: 'right' },
    ],
    rows,
  );
  return [
    styled('heading', 'sums of the whole process'),
    ...indent(lines),
    ...(smaps.complete ? [] : [styled('warn', '  the text ends early: what is missing is unknown')]),
  ];
}

function amountText(value: SmapsValue): string {
  if (value.kind === 'text') return value.text;
  return value.unit === 'kB' ? formatKilobytes(value.value) : `${value.value} ${value.unit}`.trimEnd();
}

/** The same for programs: amounts in kB where the file has kB. */
export function rollupJson({ start, end, smaps, line }: SmapsRollup): Json {
  const fields = [...smaps.fields].map(([name, value]): [string, Json] => [
    name,
    value.kind === 'text' ? value.text : jsonU64(value.value),
  ]);
  return {
    start: hexOfVpn(start),
    end: hexOfVpn(end),
    smaps: Object.fromEntries(fields),
    complete: smaps.complete,
    line,
  };
}
