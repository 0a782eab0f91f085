import { constants } from 'node:buffer';
import { open, type FileHandle } from 'node:fs/promises';
import { err, ok, type Result } from '../base/result';
import type { ReadOptions } from './source_bytes';

/** The text of one /proc file, and how the kernel handed it out. */
export interface ProcText {
  /** latin1 byte string. */
  readonly text: string;
  /**
   * Index in `text` at which each read() ended. Mappings are consistent with each other within one read at
   * most (docs/proc-formats.md).
   */
  readonly readEnds: readonly number[];
}

/** `errno` is a code such as `ENOENT`. */
export type PageFault =
  | { readonly kind: 'errno'; readonly errno: string; readonly message: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'too-large'; readonly limit: number };

/**
 * Larger than what the kernel gives at once: a page of whole lines, more only for a line that is longer. A
 * buffer below a page would make it cut lines.
 */
const BUFFER_BYTES = 64 * 1024;

/**
 * Reads a /proc file to its end, read() by read(). The file descriptor is closed in every case. The kernel
 * makes the text while it is read, so nothing is known of its length: `limit` bytes are the most that is kept.
 */
export async function readPages(
  path: string,
  options: ReadOptions = {},
  limit: number = constants.MAX_STRING_LENGTH,
): Promise<Result<ProcText, PageFault>> {
  const pages: string[] = [];
  const readEnds: number[] = [];
  let length = 0;
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    for (;;) {
      if (options.signal?.aborted === true) return err({ kind: 'cancelled' });
      // No position: /proc files are read on from where the last read ended.
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES, null);
      if (bytesRead === 0) return ok({ text: pages.join(''), readEnds });
      length += bytesRead;
      if (length > limit) return err({ kind: 'too-large', limit });
      pages.push(buffer.toString('latin1', 0, bytesRead));
      readEnds.push(length);
      options.progress?.(length);
    }
  } catch (thrown) {
    return err(errnoFault(thrown));
  } finally {
    await file?.close();
  }
}

/** An exception of node:fs as a fault. Anything that is not the file system's goes on as an exception. */
export function errnoFault(thrown: unknown): PageFault & { readonly kind: 'errno' } {
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') {
    return { kind: 'errno', errno: thrown.code, message: thrown.message };
  }
  throw thrown;
}
