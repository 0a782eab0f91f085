import * as vscode from 'vscode';
import type { ParseProblem } from '../base/parse_problem';
import { err, ok, type Result } from '../base/result';
import { errorCode, type SourceError } from '../node/source_error';
import { loadMaps, loadTrace } from '../node/sources';
import { parseMaps } from '../procfs/maps';
import type { MapsDocument } from '../procfs/maps_document';
import type { SnapshotFile } from '../replay/snapshot_splice';
import type { Trace } from '../trace/event';
import { readTrace } from '../trace/read_trace';

/**
 * Files of any file system that VS Code knows. Those on this machine's disk go the same way as on the command
 * line (compressed files, progress, snapshots beside a trace); others are read whole through VS Code.
 */

export interface LoadedMapsFile {
  readonly document: MapsDocument;
  readonly problems: readonly ParseProblem[];
}

export async function readMapsUri(
  uri: vscode.Uri,
  signal: AbortSignal,
): Promise<Result<LoadedMapsFile, SourceError>> {
  if (uri.scheme === 'file') return loadMaps({ kind: 'file', path: uri.fsPath }, { signal });
  const bytes = await readBytes(uri);
  if (!bytes.ok) return bytes;
  const document = parseMaps(bytes.value);
  return ok({ document, problems: document.problems });
}

export interface LoadedTraceFile {
  readonly trace: Trace;
  readonly problems: readonly ParseProblem[];
  /** Snapshots that lie beside it. */
  readonly files: readonly SnapshotFile[];
}

export async function readTraceUri(
  uri: vscode.Uri,
  signal: AbortSignal,
): Promise<Result<LoadedTraceFile, SourceError>> {
  if (uri.scheme !== 'file') {
    const bytes = await readBytes(uri);
    if (!bytes.ok) return bytes;
    const trace = readTrace(bytes.value);
    return ok({ trace, problems: trace.problems, files: [] });
  }
  const loaded = await loadTrace(uri.fsPath, { signal });
  if (!loaded.ok) return loaded;
  const { trace, problems, snapshots, snapshotErrors } = loaded.value;
  const unread = snapshotErrors.map((error) => ({
    line: 0,
    code: 'snapshot-unreadable',
    text: `${error.subject}: ${error.text}; the snapshot is left out`,
  }));
  return ok({ trace, problems: [...problems, ...unread], files: snapshots });
}

async function readBytes(uri: vscode.Uri): Promise<Result<string, SourceError>> {
  try {
    return ok(Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('latin1'));
  } catch (thrown) {
    return err(fileSystemError(uri, thrown));
  }
}

function fileSystemError(uri: vscode.Uri, thrown: unknown): SourceError {
  const subject = uri.toString(true);
  switch (errorCode(thrown)) {
    case 'FileNotFound':
      return { code: 'not-found', subject, text: 'no such file' };
    case 'NoPermissions':
      return { code: 'not-permitted', subject, text: 'not permitted' };
    case 'FileIsADirectory':
      return { code: 'is-directory', subject, text: 'is a directory' };
    default: {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      return { code: 'unreadable', subject, text: `cannot be read: ${text}` };
    }
  }
}
