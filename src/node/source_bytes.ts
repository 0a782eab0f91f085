import { constants } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { ParseProblem } from '../base/parse_problem';
import { err, ok, type Result } from '../base/result';
import { errorCode, sourceErrorOf, type SourceError } from './source_error';

/** How far a read has come: bytes read so far, before unpacking. */
export type ReadProgress = (bytesRead: number) => void;

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly progress?: ReadProgress;
}

/** The whole content of a file or stream as a byte string (one character a byte, see base/bytes). */
export interface SourceBytes {
  readonly bytes: string;
  /** Damage outside the text itself: a compressed file that ends early. Its line is the last one read. */
  readonly problems: readonly ParseProblem[];
}

/** Anything that yields chunks of bytes: a read stream, standard input. */
export type ByteStream = AsyncIterable<Uint8Array | string>;

/**
 * Reads a file to its end and unpacks it if it is gzip (known by its first bytes, not by its name).
 * Pipes and files of /proc, whose size is not known beforehand, work too.
 */
export async function readFileBytes(
  path: string,
  options: ReadOptions = {},
): Promise<Result<SourceBytes, SourceError>> {
  const signal = options.signal;
  const stream = createReadStream(path, signal === undefined ? {} : { signal });
  return readStreamBytes(path, stream, options);
}

/** The same for an open stream; `subject` is what a person calls it (`-` for standard input). */
export async function readStreamBytes(
  subject: string,
  stream: ByteStream,
  options: ReadOptions = {},
): Promise<Result<SourceBytes, SourceError>> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      if (options.signal?.aborted === true) return err({ code: 'cancelled', subject, text: 'cancelled' });
      const buffer = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : Buffer.from(chunk);
      chunks.push(buffer);
      length += buffer.length;
      if (length > constants.MAX_STRING_LENGTH) return err(tooLarge(subject));
      options.progress?.(length);
    }
  } catch (thrown) {
    return err(sourceErrorOf(subject, thrown));
  }
  return unpack(subject, Buffer.concat(chunks));
}

async function unpack(subject: string, raw: Buffer): Promise<Result<SourceBytes, SourceError>> {
  if (raw[0] === 0x1f && raw[1] === 0x8b) return gunzip(subject, raw);
  const packed = PACKED.find(({ magic }) => magic.every((byte, i) => raw[i] === byte));
  if (packed !== undefined) {
    return err({
      code: 'packed',
      subject,
      text: `is compressed with ${packed.name}, which is not unpacked here`,
      help: `unpack it first: ${packed.how}`,
    });
  }
  return ok({ bytes: raw.toString('latin1'), problems: [] });
}

const PACKED: readonly { readonly magic: readonly number[]; readonly name: string; readonly how: string }[] =
  [
    {
      magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
      name: 'xz',
      how: 'xz -dk FILE, or xz -dc FILE | vmalens … -',
    },
    { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd', how: 'zstd -d FILE' },
    { magic: [0x42, 0x5a, 0x68], name: 'bzip2', how: 'bzip2 -dk FILE' },
    { magic: [0x50, 0x4b, 0x03, 0x04], name: 'zip', how: 'unzip FILE' },
  ];

/** Unpacks gzip. A file cut in the middle gives what can be unpacked, with a problem. */
async function gunzip(subject: string, raw: Buffer): Promise<Result<SourceBytes, SourceError>> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = createGunzip();
  let damage = '';
  try {
    stream.end(raw);
    for await (const chunk of stream) {
      const buffer = Buffer.from(chunk as Uint8Array);
      chunks.push(buffer);
      length += buffer.length;
      if (length > constants.MAX_STRING_LENGTH) return err(tooLarge(subject));
    }
  } catch (thrown) {
    damage = errorCode(thrown) === 'Z_BUF_ERROR' ? 'the gzip file ends early' : 'the gzip file is damaged';
    if (length === 0) return err({ code: 'damaged', subject, text: damage });
  }
  const bytes = Buffer.concat(chunks).toString('latin1');
  if (damage === '') return ok({ bytes, problems: [] });
  const text = `${damage}; what follows this line is lost`;
  return ok({ bytes, problems: [{ line: lineCount(bytes), code: 'gzip-damaged', text }] });
}

function tooLarge(subject: string): SourceError {
  const mib = Math.floor(constants.MAX_STRING_LENGTH / 2 ** 20);
  return { code: 'too-large', subject, text: `is larger than ${mib} MiB, the most that can be read at once` };
}

/** Number of lines in a text, a last one without a newline counted. */
function lineCount(bytes: string): number {
  let lines = 0;
  for (let at = bytes.indexOf('\n'); at !== -1; at = bytes.indexOf('\n', at + 1)) lines++;
  return bytes.endsWith('\n') || bytes === '' ? lines : lines + 1;
}
