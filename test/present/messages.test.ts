import { describe, expect, it } from 'vitest';
import { addressSpaceMessage, type AddressSpaceRemarks } from '../../src/present/messages';

function message(remarks: Partial<AddressSpaceRemarks>): string {
  return addressSpaceMessage({
    step: undefined,
    reading: false,
    failure: undefined,
    notes: [],
    problems: [],
    filter: '',
    shown: 0,
    total: 0,
    ...remarks,
  });
}

describe('the message above Address Space', () => {
  it('is empty when all is well', () => {
    expect(message({})).toBe('');
  });

  it('says one thing a line', () => {
    expect(
      message({
        step: 'Line 1: brk(NULL) = 0',
        notes: ['Not the whole map.'],
        problems: [
          { line: 7, code: 'x', text: 'odd' },
          { line: 9, code: 'x', text: 'odder' },
        ],
        filter: 'heap',
        shown: 1,
        total: 1200,
      }),
    ).toBe(
      [
        'Line 1: brk(NULL) = 0',
        'Not the whole map.',
        '2 problems, first in line 7: odd.',
        'Filter "heap": 1 of 1,200 mappings.',
      ].join('\n'),
    );
  });

  it('says only the failure, printable', () => {
    expect(message({ failure: 'pid 1: \u001b[1m', notes: ['x'], filter: 'y' })).toBe('pid 1: \\x1b[1m');
    expect(message({ reading: true, notes: ['x'] })).toBe('Reading…');
    expect(message({ problems: [{ line: 3, code: 'x', text: 'odd' }] })).toBe('Problem in line 3: odd.');
  });
});
