import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GROUPINGS } from '../../src/analysis/grouping';
import { kindContext, kindOf } from '../../src/analysis/kind';
import { sealReportingOf } from '../../src/analysis/seals';
import { addressSpaceTree } from '../../src/present/address_space_tree';
import { nameObjectsTree } from '../../src/present/shared_names_tree';
import { traceRow } from '../../src/present/traces_tree';
import { parseMaps } from '../../src/procfs/maps';
import { expectGoodTree } from './rows';
import { replayedAt } from './small_replay';

const SHARED = join(import.meta.dirname, '../../../shared');
const CASES = join(SHARED, 'cases');

function filesIn(folder: string, pattern: RegExp): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));
}

function kindsOf(file: string): readonly string[] {
  const { entries } = parseMaps(readFileSync(join(CASES, file), 'latin1'));
  const context = kindContext(entries);
  return entries.map((entry) => kindOf(entry, context));
}

describe.skipIf(!existsSync(SHARED))('collected inputs', () => {
  it.each(filesIn(CASES, /\.s?maps$/))('%s makes a good tree in every grouping', (file) => {
    const { entries } = parseMaps(readFileSync(file, 'latin1'));
    for (const groupBy of GROUPINGS) {
      const sealing = sealReportingOf(entries);
      expectGoodTree(addressSpaceTree({ entries, sealing, groupBy, filter: '', changed: new Set() }).roots);
    }
  });

  it('are of the kinds that their notes tell', () => {
    expect(kindsOf('005.maps')).toEqual(['memfd', 'memfd']);
    expect(new Set(kindsOf('016.maps'))).toEqual(new Set(['special']));
    expect(kindsOf('025.maps')).toEqual(['sysv', 'sysv', 'sysv']);
    expect(kindsOf('026.maps')).toEqual(['socket', 'anon-inode', 'hugetlb', 'anonymous']);
  });

  it.each(filesIn(CASES, /\.strace$/))('%s makes good trees of a trace and its names', (file) => {
    const input = replayedAt(Infinity, { text: readFileSync(file, 'latin1') });
    expectGoodTree([traceRow(input)]);
    expectGoodTree(nameObjectsTree(input.replay, input.replay.at(input.position), input.traceId));
  });
});
