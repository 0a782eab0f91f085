import { describe, expect, it } from 'vitest';
import { MADV_COLD, MADV_DONTFORK, MADV_DONTNEED } from '../../../src/mm/advice';
import { KERNEL_VERSIONS, kernelRules } from '../../../src/mm/kernel_rules';
import { sysProcessMadvise } from '../../../src/mm/syscalls/process_madvise';
import { at, scenario } from '../scenario';

const page = (number: number) => ({ addr: at(number), length: 4096 });

describe('process_madvise', () => {
  it.each(KERNEL_VERSIONS)('on %s: any advice for oneself, little for others', (version) => {
    const { mm } = scenario(version).nr(0, 1);
    const any = kernelRules(version).processMadviseSelfAny ? { ok: true, value: 4096 } : { ok: false };
    expect(sysProcessMadvise(mm, [page(0)], MADV_COLD, 0, false)).toEqual({ ok: true, value: 4096 });
    expect(sysProcessMadvise(mm, [page(0)], MADV_DONTNEED, 0, true)).toMatchObject(any);
    expect(sysProcessMadvise(mm, [page(0)], MADV_DONTNEED, 0, false)).toMatchObject({
      ok: false,
      error: { errno: 'EINVAL' },
    });
  });

  it('takes no flags', () => {
    const { mm } = scenario('7.3').nr(0, 1);
    expect(sysProcessMadvise(mm, [page(0)], MADV_COLD, 1, true)).toMatchObject({
      error: { errno: 'EINVAL' },
    });
  });

  it('says how much was done before a range that it could not do', () => {
    const kernel = scenario('7.3').nr(0, 1).nr(2, 1);
    const ranges = [page(0), page(1), page(2)];
    expect(sysProcessMadvise(kernel.mm, ranges, MADV_DONTFORK, 0, true)).toEqual({ ok: true, value: 4096 });
    expect(kernel.text()).toBe('[0-1 rw dc nr][2-3 rw nr]');
    expect(sysProcessMadvise(kernel.mm, ranges.slice(1), MADV_DONTFORK, 0, true)).toMatchObject({
      error: { errno: 'ENOMEM' },
    });
  });
});
