import path from 'node:path';
import type { ParseProblem } from '../base/parse_problem';
import { err, ok, type Result } from '../base/result';
import { parseMaps } from '../procfs/maps';
import type { MapsDocument } from '../procfs/maps_document';
import type { Trace } from '../trace/event';
import { readTrace } from '../trace/read_trace';
import {
  readFileBytes,
  readStreamBytes,
  type ByteStream,
  type ReadOptions,
  type SourceBytes,
} from './source_bytes';
import type { SourceError } from './source_error';
import { readLiveMaps, type LiveSource } from './source_live';
import { findSnapshots, listNames, type SnapshotFile } from './source_snapshots';

/**
 * What the command line and the extension open. Everything that the file system can refuse is a Result with
 * words for a person; what is wrong inside readable input is a list of problems beside the value.
 */

/** What `loadMaps` can read. */
export type MapsTarget =
  | { readonly kind: 'process'; readonly pid: number }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdin' };

export interface MapsOptions extends ReadOptions {
  /** Which file of a live process: `best` is smaps where permitted, else maps. */
  readonly file?: 'best' | 'maps' | 'smaps';
  /** Needed for the target `stdin`. */
  readonly stdin?: ByteStream;
}

export interface LoadedMaps {
  /** The path as given, `-` or the pid: what problems are reported under. */
  readonly label: string;
  readonly document: MapsDocument;
  /** All problems: those of the document and those of the file around it. */
  readonly problems: readonly ParseProblem[];
  /** Something that a person should know: smaps was not permitted. */
  readonly remark?: string;
  /** Only for a live process. */
  readonly live?: LiveSource;
}

/** Reads and parses a live process's map, or a saved maps or smaps file. */
export async function loadMaps(
  target: MapsTarget,
  options: MapsOptions = {},
): Promise<Result<LoadedMaps, SourceError>> {
  if (target.kind === 'process') {
    const live = await readLiveMaps(target.pid, options.file ?? 'best', options);
    if (!live.ok) return live;
    const { bytes, remark, source } = live.value;
    const document = parseMaps(bytes);
    const loaded = { label: String(target.pid), document, problems: document.problems, live: source };
    return ok(remark === undefined ? loaded : { ...loaded, remark });
  }
  const label = target.kind === 'stdin' ? '-' : target.path;
  const source = await readPathOrStdin(label, options);
  if (!source.ok) return source;
  const document = parseMaps(source.value.bytes);
  return ok({ label, document, problems: [...document.problems, ...source.value.problems] });
}

export interface TraceOptions extends ReadOptions {
  /** Look for `NN-LABEL.PID.smaps` beside the trace; true unless told otherwise. */
  readonly snapshots?: boolean;
  /** Needed for the path `-`. */
  readonly stdin?: ByteStream;
}

export interface LoadedTrace {
  /** The path as given, or `-`. */
  readonly path: string;
  readonly trace: Trace;
  /** All problems: those of the trace and those of the file around it. */
  readonly problems: readonly ParseProblem[];
  readonly snapshots: readonly SnapshotFile[];
  /** Snapshots that are there and could not be read. */
  readonly snapshotErrors: readonly SourceError[];
}

/** Reads and parses a captured trace, and the snapshots beside it. */
export async function loadTrace(
  file: string,
  options: TraceOptions = {},
): Promise<Result<LoadedTrace, SourceError>> {
  const source = await readPathOrStdin(file, options);
  if (!source.ok) return source;
  const trace = readTrace(source.value.bytes, file === '-' ? {} : { fileName: path.basename(file) });
  const wanted = file !== '-' && options.snapshots !== false;
  const found = wanted ? await findSnapshots(path.dirname(file), options) : { files: [], errors: [] };
  if (options.signal?.aborted === true) return err({ code: 'cancelled', subject: file, text: 'cancelled' });
  return ok({
    path: file,
    trace,
    problems: [...trace.problems, ...source.value.problems],
    snapshots: found.files,
    snapshotErrors: found.errors,
  });
}

/** The one trace of a recording: the only `*.strace` (or `*.strace.gz`) in its folder. */
export async function findRecordedTrace(folder: string): Promise<Result<string, SourceError>> {
  const names = await listNames(folder);
  if (!names.ok) return names;
  const traces = names.value.filter((name) => /\.strace(?:\.gz)?$/.test(name));
  const [only, second] = traces;
  if (only === undefined) {
    return err({ code: 'unfit', subject: folder, text: 'holds no recording: there is no *.strace in it' });
  }
  if (second !== undefined) {
    const shown = traces.slice(0, 5).join(', ') + (traces.length > 5 ? ', …' : '');
    const text = `holds ${traces.length} traces, not one recording: ${shown}`;
    return err({
      code: 'unfit',
      subject: folder,
      text,
      help: 'name the one that is meant',
    });
  }
  return ok(path.join(folder, only));
}

function readPathOrStdin(
  file: string,
  options: ReadOptions & { readonly stdin?: ByteStream },
): Promise<Result<SourceBytes, SourceError>> {
  if (file !== '-') return readFileBytes(file, options);
  if (options.stdin !== undefined) return readStreamBytes(file, options.stdin, options);
  return Promise.resolve(err({ code: 'unfit', subject: file, text: 'there is no standard input here' }));
}
