import { ok, type Result } from '../base/result';
import { ProcReader } from './proc_reader';
import type { ProcRefusal, ProcRefusalKind } from './proc_refusal';
import type { ReadOptions } from './source_bytes';
import type { SourceError, SourceErrorCode } from './source_error';

/** Where the text of a live process came from. */
export interface LiveSource {
  readonly pid: number;
  /** Text of base/bytes; '' where it could not be read. */
  readonly command: string;
  readonly file: 'maps' | 'smaps';
  /** Release of the running kernel, '' where it could not be read. */
  readonly release: string;
}

export interface LiveMaps {
  /** As read, a byte string. */
  readonly bytes: string;
  readonly source: LiveSource;
  /** Why it is not what was wanted. */
  readonly remark?: string;
}

/** Reads a live process: `best` is smaps where that can be read, else maps. */
export async function readLiveMaps(
  pid: number,
  file: 'best' | 'maps' | 'smaps',
  options: ReadOptions = {},
  reader: ProcReader = new ProcReader(),
): Promise<Result<LiveMaps, SourceError>> {
  if (file === 'maps') return readOne(reader, pid, 'maps', options);
  const smaps = await readOne(reader, pid, 'smaps', options);
  if (smaps.ok || file === 'smaps' || !ONLY_SMAPS.has(smaps.error.code)) return smaps;
  const maps = await readOne(reader, pid, 'maps', options);
  // Where maps is refused as well, what was said of smaps is the whole truth.
  if (!maps.ok) return smaps;
  return ok({ ...maps.value, remark: `smaps cannot be read (${smaps.error.text}); this is maps only` });
}

/** Refusals that maps may not share: another permission, a kernel built without smaps. */
const ONLY_SMAPS: ReadonlySet<SourceErrorCode> = new Set(['not-permitted', 'not-found', 'unreadable']);

async function readOne(
  reader: ProcReader,
  pid: number,
  file: 'maps' | 'smaps',
  options: ReadOptions,
): Promise<Result<LiveMaps, SourceError>> {
  const read = file === 'maps' ? await reader.readMaps(pid, options) : await reader.readSmaps(pid, options);
  if (!read.ok) return { ok: false, error: sourceErrorOfProcess(pid, read.error) };
  const comm = await reader.comm(pid);
  const release = await reader.kernelRelease();
  return ok({
    bytes: read.value.text,
    source: { pid, file, command: comm.ok ? comm.value : '', release: release ?? '' },
  });
}

function sourceErrorOfProcess(pid: number, refusal: ProcRefusal): SourceError {
  // The subject has the pid already.
  const text = refusal.text.replace(new RegExp(`^process ${pid} `), '');
  const error = { code: CODES[refusal.kind], subject: `pid ${pid}`, text };
  return refusal.help.length === 0 ? error : { ...error, help: refusal.help.join('; or ') };
}

const CODES: Readonly<Record<ProcRefusalKind, SourceErrorCode>> = {
  gone: 'not-found',
  exited: 'not-found',
  replaced: 'unreadable',
  'not-permitted': 'not-permitted',
  'kernel-thread': 'no-memory-map',
  zombie: 'no-memory-map',
  'no-proc': 'unsupported',
  'too-large': 'too-large',
  cancelled: 'cancelled',
  failed: 'unreadable',
};
