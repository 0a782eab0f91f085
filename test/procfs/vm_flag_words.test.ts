import { expect, test } from 'vitest';
import { VM_FLAG_TABLE } from '../../src/mm/vm_flags';
import { explainVmFlag } from '../../src/procfs/vm_flag_words';

test('every flag of the table is explained by its own row', () => {
  for (const { mnemonic, name, words } of VM_FLAG_TABLE) {
    if (mnemonic !== null) expect(explainVmFlag(mnemonic)).toEqual({ mnemonic, name, words });
  }
});

test.each([
  ['dw', 'VM_DENYWRITE'],
  ['nl', 'VM_NONLINEAR'],
  ['mp', 'VM_MPX'],
  ['bt', 'VM_ARM64_BTI'],
  ['mt', 'VM_MTE'],
])('%s of other kernels is %s', (mnemonic, name) => {
  expect(explainVmFlag(mnemonic).name).toBe(name);
});

test('?? is the kernel not knowing, anything else is us not knowing', () => {
  expect(explainVmFlag('??')).toMatchObject({
    name: null,
    words: expect.stringContaining('the kernel itself'),
  });
  expect(explainVmFlag('zz')).toMatchObject({
    mnemonic: 'zz',
    name: null,
    words: expect.stringContaining('VMA Lens'),
  });
});
