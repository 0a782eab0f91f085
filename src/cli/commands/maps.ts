import { filterProblem, parseFilter, type Filter } from '../../analysis/filter';
import { GROUPINGS } from '../../analysis/grouping';
import { sealReportingOf, sealReportingOfRelease, type SealReporting } from '../../analysis/seals';
import { loadMaps, type LoadedMaps, type MapsTarget } from '../../node/sources';
import { formatMapsDocument, formatMapsSelection } from '../../procfs/format_maps';
import {
  atMostOne,
  oneOf,
  oneOperand,
  parseCommandLine,
  reportProblems,
  type CliContext,
  type Command,
} from '../command';
import { EXIT_OK, readable, UsageError } from '../failure';
import { mixedRemark, refuseOther } from '../maps_fit';
import { mapsView, writeMapsCsv, writeMapsJson, writeMapsTable } from '../maps_report';
import { printableBytes } from '../styled';

export const maps: Command = {
  name: 'maps',
  summary: 'what is in an address space: a live process or a saved file',
  help: `Usage: vmalens maps PID|FILE|- [--filter QUERY] [--group-by GROUPING]
                    [--json | --csv | --text] [--smaps]

Shows the mappings of a live process (PID, or self), or of a saved maps or smaps
file. A file whose name is a number is given as ./NUMBER.

  --filter QUERY       only mappings that match every word of QUERY: part of a
                       name, path, permissions or range; an address inside;
                       perm:wx, flag:sl, name:TEXT, at:ADDRESS; "words together"
                       (never a key)
  --group-by GROUPING  address (default), mapping, kind, name or perms
  --json               one JSON document, exact
  --csv                one row a mapping, safe for a spreadsheet
  --text               the text of maps or smaps itself, byte for byte as it was
                       read; with --filter the lines of what matches
  --smaps              with --text PID: the text of smaps, not that of maps

A live process is read from smaps where that is permitted, else from maps.
`,
  run,
};

const OPTIONS = {
  filter: { type: 'string' },
  'group-by': { type: 'string' },
  json: { type: 'boolean' },
  csv: { type: 'boolean' },
  text: { type: 'boolean' },
  smaps: { type: 'boolean' },
} as const;

async function run(args: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommandLine(args, OPTIONS);
  const name = oneOperand(positionals, 'PID or FILE');
  const { json = false, csv = false, text = false } = values;
  atMostOne({ '--json': json, '--csv': csv, '--text': text });
  const groupBy = oneOf(values['group-by'] ?? 'address', GROUPINGS, '--group-by');
  if (text && groupBy !== 'address') throw new UsageError('--text is always in the order of addresses');
  const wrongFilter = filterProblem(values.filter ?? '');
  if (wrongFilter !== undefined) throw new UsageError(`--filter: ${wrongFilter}`);
  const target = targetOf(name, context);
  // Of a process, --text gives the plain map unless asked for more; everything else wants all there is.
  const file = values.smaps === true ? 'smaps' : text ? 'maps' : 'best';
  const loaded = readable(await loadMaps(target, { file, stdin: context.stdin }));
  // The text of anything can be given back as it is.
  if (!text) refuseOther(loaded);
  await report(loaded, context);
  const filter = parseFilter(values.filter ?? '');
  if (text) return writeText(loaded, filter, context);
  const view = mapsView({
    title: loaded.live === undefined ? loaded.label : `${loaded.live.command} (pid ${loaded.live.pid})`,
    entries: loaded.document.entries,
    sealing: sealingOf(loaded),
    filter,
    groupBy,
    rollup: loaded.document.rollup,
  });
  const source = { kind: loaded.document.kind, ...(loaded.live ?? {}) };
  if (json) await writeMapsJson(view, name, source, loaded.problems, context.stdout);
  else if (csv) await writeMapsCsv(view, context.stdout);
  else await writeMapsTable(view, context.stdout);
  return EXIT_OK;
}

/** A live process runs on this kernel; a file does not say which kernel wrote it, only its text may prove one. */
function sealingOf(loaded: LoadedMaps): SealReporting {
  const byRelease = loaded.live === undefined ? 'unknown' : sealReportingOfRelease(loaded.live.release);
  return byRelease === 'unknown' ? sealReportingOf(loaded.document.entries) : byRelease;
}

function targetOf(name: string, context: CliContext): MapsTarget {
  if (name === 'self') return { kind: 'process', pid: context.pid };
  if (/^[0-9]+$/.test(name)) return { kind: 'process', pid: Number(name) };
  return name === '-' ? { kind: 'stdin' } : { kind: 'file', path: name };
}

/** Problems and remarks go to standard error whatever the format. */
async function report(loaded: LoadedMaps, context: CliContext): Promise<void> {
  await reportProblems(context, loaded.label, loaded.problems);
  for (const remark of [loaded.remark, mixedRemark(loaded)]) {
    if (remark !== undefined) await context.stderr.line(`vmalens: ${loaded.label}: ${remark}`);
  }
}

async function writeText(
  loaded: LoadedMaps,
  filter: Filter | undefined,
  { stdout }: CliContext,
): Promise<number> {
  const { document } = loaded;
  const bytes = filter === undefined ? formatMapsDocument(document) : formatMapsSelection(document, filter);
  if (stdout.isTerminal) await stdout.raw(printableBytes(bytes));
  else await stdout.bytes(bytes);
  return EXIT_OK;
}
