/** Words of strerror(3) that end up in files saved by a script instead of what it wanted to read. */
const READ_ERRORS: readonly string[] = [
  'no such process',
  'no such file or directory',
  'permission denied',
  'operation not permitted',
  'input/output error',
  'not a directory',
  'is a directory',
  'invalid argument',
];

/** How much of a text is looked at. */
const SAMPLE = 2000;

/** The read error that a line speaks of, in lower case; null if none. */
export function readErrorIn(line: string): string | null {
  const lower = line.slice(0, SAMPLE).toLowerCase();
  return READ_ERRORS.find((words) => lower.includes(words)) ?? null;
}

/** One sentence for a text without a single mapping: what it looks like, and what to do where we know. */
export function describeNotMaps(text: string): string {
  const sample = text.slice(0, SAMPLE);
  if (sample.startsWith('\xff\xfe') || sample.startsWith('\xfe\xff') || isMostlyNul(sample)) {
    return 'not maps: looks like UTF-16 text, which some shells write; save it again as plain bytes';
  }
  const error = readErrorIn(sample);
  if (error !== null) return `not a maps line; looks like a read error: ${error}`;
  if (sample.includes('\0')) return 'not maps: looks like binary data';
  if (/^[0-9a-f]{1,16} (?:default|bind|interleave|prefer|local|weighted)/.test(sample)) {
    return 'not maps: looks like numa_maps, which has no ranges or permissions; save maps or smaps';
  }
  if (/^(?:\[pid +\d+\] |\d+ +)?[a-z_0-9]+\(/.test(sample)) {
    return 'not maps: looks like a system-call trace; open it as a trace';
  }
  return 'not a maps or smaps file: no line begins with an address range';
}

function isMostlyNul(sample: string): boolean {
  let count = 0;
  for (let i = 0; i < sample.length; i++) if (sample.charCodeAt(i) === 0) count++;
  return count > 0 && count >= sample.length * 0.4;
}
