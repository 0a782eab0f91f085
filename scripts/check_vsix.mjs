/**
 * Checks the packaged extension: what runs and nothing else, and small.
 * `node scripts/check_vsix.mjs [FILE]` lists the content; exit status 1 with the reasons if it is wrong.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

export const MAX_BYTES = 500_000;

/** Everything that may be in the package. The first group must be there. */
const REQUIRED = [
  '[Content_Types].xml',
  'extension.vsixmanifest',
  'extension/package.json',
  'extension/readme.md',
  'extension/changelog.md',
  'extension/LICENSE.txt',
  'extension/dist/extension.cjs',
  'extension/dist/cli.cjs',
];
const ALLOWED = [
  /^extension\/package\.nls(\.[a-z-]+)?\.json$/,
  /^extension\/media\/[a-z0-9_-]+\.(svg|png|css)$/,
  /^extension\/media\/(icons|walkthrough)\/[a-z0-9_-]+\.(svg|png|css|md)$/,
  /^extension\/media\/example\/[a-z0-9_.-]+\.(strace|maps|smaps|json)$/,
];

/**
 * Names and uncompressed sizes of the entries of a zip file, from its central directory.
 * @param {Buffer} zip
 * @returns {{ name: string, size: number }[]}
 */
export function zipEntries(zip) {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new Error('not a zip file: it has no end-of-central-directory record');
  const entries = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error(`no central directory entry at byte ${at}`);
    const nameLength = zip.readUInt16LE(at + 28);
    const otherLength = zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    entries.push({ name, size: zip.readUInt32LE(at + 24) });
    at += 46 + nameLength + otherLength;
  }
  return entries;
}

/**
 * What is wrong with a package of these entries and this size; empty if nothing is.
 * @param {readonly string[]} names
 * @param {number} bytes
 * @returns {string[]}
 */
export function problemsOfPackage(names, bytes) {
  const unwanted = names.filter(
    (name) => !REQUIRED.includes(name) && !ALLOWED.some((allowed) => allowed.test(name)),
  );
  const missing = REQUIRED.filter((name) => !names.includes(name));
  return [
    ...unwanted.map((name) => `not expected in the package: ${name}`),
    ...missing.map((name) => `missing from the package: ${name}`),
    ...(bytes >= MAX_BYTES ? [`the package has ${bytes} bytes; the limit is ${MAX_BYTES}`] : []),
  ];
}

function main() {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const file = process.argv[2] ?? `${name}-${version}.vsix`;
  const entries = zipEntries(readFileSync(file));
  const bytes = statSync(file).size;
  for (const entry of entries) console.log(`${String(entry.size).padStart(9)}  ${entry.name}`);
  const problems = problemsOfPackage(
    entries.map((entry) => entry.name),
    bytes,
  );
  for (const problem of problems) console.error(problem);
  console.log(`${basename(file)}: ${entries.length} files, ${bytes} bytes`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
