import { describe, expect, it } from 'vitest';
import { parseMaps } from '../../src/procfs/maps';
import { inferFeatures, inferRules } from '../../src/replay/features';
import { readTrace } from '../../src/trace/read_trace';
import { p } from './traced';

const STACK = `mmap(NULL, 8392704, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK, -1, 0) = ${p(0)}\n`;

/** One snapshot of mappings written `page perms path | flags`. */
function shown(
  line: number,
  ...mappings: readonly string[]
): { line: number; entries: ReturnType<typeof parseMaps>['entries'] } {
  const text = mappings.map((mapping) => {
    const [, page = '0', perms = '', path = '', flags = ''] =
      /^(\d+) (\S+) ?(\S*) \| (.*)$/.exec(mapping) ?? [];
    const start = Number(page);
    return `${p(start).slice(2)}-${p(start + 1).slice(2)} ${perms} 00000000 00:00 0 ${path}\nVmFlags: ${flags} \n`;
  });
  return { line, entries: parseMaps(text.join('')).entries };
}

describe('huge pages, by what a snapshot shows of memory with MAP_STACK', () => {
  const has = (...snapshots: ReturnType<typeof shown>[]): boolean =>
    inferFeatures(readTrace(STACK).events, snapshots, []).has('thp');

  it.each<[string, ReturnType<typeof shown>[], boolean]>([
    ['nothing', [], true],
    ['the mark', [shown(2, '0 ---p | mr mw me nh')], true],
    ['no mark', [shown(2, '0 ---p | mr mw me')], false],
    ['no mark, but huge pages elsewhere', [shown(2, '0 ---p | mr mw me', '9 rw-p | rd wr hg')], true],
    ['what was there before', [shown(0, '0 ---p | mr mw me')], true],
    ['other memory', [shown(2, '5 ---p | mr mw me')], true],
  ])('%s', (_, snapshots, thp) => {
    expect(has(...snapshots)).toBe(thp);
  });
});

describe('an executable heap', () => {
  it.each<[string, string[], object]>([
    [
      'is one of a kernel that makes it so',
      ['0 rwxp [heap] | rd wr ex', '3 rw-p | rd wr'],
      { heapExecutable: true },
    ],
    ['is not where all memory is executable', ['0 rwxp [heap] | rd wr ex', '3 rwxp | rd wr ex'], {}],
    [
      'is not where a part of it is not',
      ['0 rwxp [heap] | rd wr ex', '1 rw-p [heap] | rd wr', '3 rw-p | rd wr'],
      {},
    ],
    ['is not without a heap', ['3 rw-p | rd wr'], {}],
  ])('%s', (_, mappings, rules) => {
    expect(inferRules([shown(1, ...mappings)])).toEqual(rules);
  });
});
