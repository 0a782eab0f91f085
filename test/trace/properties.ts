import { expect } from 'vitest';
import { StraceImporter, parseStrace } from '../../src/trace/strace/importer';
import type { Trace } from '../../src/trace/event';

/** What holds for every capture, however broken: checked on each fixture and on random input. */
export function expectSoundTrace(bytes: string): Trace {
  const trace = parseStrace(bytes);
  expect(trace.format).toBe('strace');
  expect(trace.lineCount).toBe(bytes === '' ? 0 : bytes.split('\n').length - (bytes.endsWith('\n') ? 1 : 0));
  let last = 0;
  for (const event of trace.events) {
    expect(event.line).toBeGreaterThanOrEqual(last);
    expect(event.line).toBeLessThanOrEqual(trace.lineCount);
    expect(event.pid).toBeGreaterThanOrEqual(0);
    last = event.line;
    if (event.kind === 'syscall') {
      expect(event.entryLine).toBeLessThanOrEqual(event.line);
      expect(event.entryLine).toBeGreaterThan(0);
    }
  }
  for (const { line, code, text } of trace.problems) {
    expect(line).toBeGreaterThan(0);
    expect(line).toBeLessThanOrEqual(trace.lineCount);
    expect(code).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(text).not.toBe('');
  }
  const codes = [...trace.problems, ...trace.lacks].map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  return trace;
}

/** The trace of the same bytes cut at the given places. */
export function parseInChunks(bytes: string, cuts: readonly number[]): Trace {
  const importer = new StraceImporter();
  const places = [...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  let from = 0;
  for (const place of [...places, bytes.length]) {
    importer.push(bytes.slice(from, place));
    from = place;
  }
  return importer.end();
}
