import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The version in package.json of the installed product; `unknown` where there is none. */
export async function productVersion(productRoot: string): Promise<string> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path.join(productRoot, 'package.json'), 'utf8'));
    if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
      if (typeof manifest.version === 'string') return manifest.version;
    }
  } catch {
    // A bundle that was copied out of its product: no version to tell.
  }
  return 'unknown';
}

/** The folder of the example trace that ships with the product. */
export function exampleFolder(productRoot: string): string {
  return path.join(productRoot, 'media', 'example');
}
