import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ParseProblem } from '../base/parse_problem';
import { err, ok, type Result } from '../base/result';
import { parseMaps } from '../procfs/maps';
import type { MapsEntry } from '../procfs/maps_entry';
import { readFileBytes, type ReadOptions } from './source_bytes';
import { sourceErrorOf, type SourceError } from './source_error';

/** A file that holds the map of one process at one moment of a trace. */
export interface SnapshotFile {
  /** Its file name without `.gz`, which also tells the pid and the order: `NN-LABEL.PID.smaps`. */
  readonly label: string;
  readonly path: string;
  /** Pid in the name; undefined for a file that is called otherwise. */
  readonly pid: number | undefined;
  readonly entries: readonly MapsEntry[];
  readonly problems: readonly ParseProblem[];
}

/** `00-before-fork.19.smaps`, also compressed */
const SNAPSHOT_NAME = /^\d+-.*\.(\d+)\.s?maps(?:\.gz)?$/s;

/** The pid that a snapshot's file name tells. */
function snapshotPid(fileName: string): number | undefined {
  const digits = SNAPSHOT_NAME.exec(fileName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export interface FoundSnapshots {
  readonly files: readonly SnapshotFile[];
  /** Files that are called like a snapshot and could not be read. */
  readonly errors: readonly SourceError[];
}

/** Reads every snapshot in a folder, in the order of their names. A folder that cannot be listed has none. */
export async function findSnapshots(folder: string, options: ReadOptions = {}): Promise<FoundSnapshots> {
  const names = await listNames(folder);
  const files: SnapshotFile[] = [];
  const errors: SourceError[] = [];
  for (const name of names.ok ? names.value : []) {
    if (snapshotPid(name) === undefined) continue;
    const file = await loadSnapshot(path.join(folder, name), options);
    if (file.ok) files.push(file.value);
    else errors.push(file.error);
  }
  return { files, errors };
}

/** Reads one snapshot, whatever it is called. */
export async function loadSnapshot(
  file: string,
  options: ReadOptions = {},
): Promise<Result<SnapshotFile, SourceError>> {
  const source = await readFileBytes(file, options);
  if (!source.ok) return source;
  const document = parseMaps(source.value.bytes);
  const label = path.basename(file).replace(/\.gz$/, '');
  return ok({
    label,
    path: file,
    pid: snapshotPid(label),
    entries: document.entries,
    problems: [...document.problems, ...source.value.problems],
  });
}

/** Names in a folder, sorted by code unit, the same everywhere. */
export async function listNames(folder: string): Promise<Result<readonly string[], SourceError>> {
  try {
    return ok((await readdir(folder)).sort());
  } catch (thrown) {
    return err(sourceErrorOf(folder, thrown));
  }
}
