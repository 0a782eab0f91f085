import { describe, expect, it } from 'vitest';
import { sealCoverage, sealReportingOf, sealReportingOfRelease, sealedOf } from '../../src/analysis/seals';
import { entriesOf, entry } from './entries';

describe('what a source can tell of seals', () => {
  it('plain maps tell nothing', () => {
    expect(sealReportingOf(entriesOf({}, {}))).toBe('unknown');
    // The name of a younger kernel's mapping proves the kernel, not that this text would show a seal.
    expect(sealReportingOf(entriesOf({ path: '[vvar_vclock]' }))).toBe('unknown');
  });

  it('smaps without a trace of a new kernel may come from one that prints no seals', () => {
    expect(sealReportingOf(entriesOf({ flags: 'rd wr mr mw me ac' }))).toBe('unknown');
  });

  it.each(['sl', 'gu', 'dp', 'ur'])('the flag %s proves a kernel that prints seals', (flag) => {
    expect(sealReportingOf(entriesOf({ flags: 'rd' }, { flags: `rd ${flag}` }))).toBe('reported');
  });

  it('[vvar_vclock] in smaps proves it too', () => {
    expect(sealReportingOf(entriesOf({ flags: 'rd' }, { path: '[vvar_vclock]', flags: 'rd' }))).toBe(
      'reported',
    );
  });

  it.each([
    ['6.1.0-18-amd64', 'impossible'],
    ['5.15.167.4-microsoft-standard-WSL2', 'impossible'],
    ['6.9.12', 'impossible'],
    ['6.10.0', 'reported'],
    ['6.18.44', 'reported'],
    ['7.0-rc1', 'reported'],
    ['10.1', 'reported'],
    ['', 'unknown'],
    ['mystery', 'unknown'],
  ])('release %j: %s', (release, expected) => {
    expect(sealReportingOfRelease(release)).toBe(expected);
  });
});

describe('sealedOf', () => {
  const plain = entry();
  const flagged = entry({ flags: 'rd wr' });
  const sealed = entry({ flags: 'rd sl' });

  it('believes sl from any source', () => {
    expect(sealedOf(sealed, 'unknown')).toBe(true);
    expect(sealedOf(sealed, 'impossible')).toBe(true);
  });

  it('says false only where the absence of sl means something', () => {
    expect(sealedOf(flagged, 'reported')).toBe(false);
    expect(sealedOf(flagged, 'unknown')).toBeNull();
    expect(sealedOf(plain, 'reported')).toBeNull();
    expect(sealedOf(plain, 'impossible')).toBe(false);
  });
});

describe('sealCoverage', () => {
  it('tells none from unknown', () => {
    const entries = entriesOf({ flags: 'rd' }, { flags: 'rd wr' });
    expect(sealCoverage(entries, 'reported').state).toBe('none');
    expect(sealCoverage(entries, 'unknown').state).toBe('unknown');
    expect(sealCoverage(entries, 'impossible').state).toBe('none');
    expect(sealCoverage([], 'unknown').state).toBe('unknown');
    expect(sealCoverage([], 'reported').state).toBe('none');
  });

  it('is unknown where one of the mappings was cut off before its flags', () => {
    expect(sealCoverage(entriesOf({ flags: 'rd gu' }, { kB: { Rss: 4 } }), 'reported')).toMatchObject({
      state: 'unknown',
      unknownCount: 1,
    });
  });

  it('gives what is sealed, in mappings and bytes', () => {
    const entries = entriesOf({ pages: 2, flags: 'rd sl' }, { pages: 6, flags: 'rd' });
    expect(sealCoverage(entries, 'reported')).toMatchObject({
      state: 'some',
      sealed: [entries[0]],
      sealedBytes: 8192,
      totalCount: 2,
      totalBytes: 32768,
      unknownCount: 0,
    });
  });
});
