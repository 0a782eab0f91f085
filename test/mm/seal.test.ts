import { describe, expect, it } from 'vitest';
import * as madv from '../../src/mm/advice';
import { vpn } from '../../src/mm/addr';
import { canModifyMm, canModifyMmMadv, canModifyVma, canModifyVmaMadv } from '../../src/mm/seal';
import { union, unionOf, VM_MAYWRITE, VM_READ, VM_SEALED, VM_SHARED, VM_WRITE } from '../../src/mm/vm_flags';
import { scenario } from './scenario';
import { fileOf, mmOf, systemOf, vmaOf } from './vmas';

const READ = unionOf(VM_READ, VM_MAYWRITE, VM_SEALED);
const sealed = (start: number, end: number) => vmaOf(start, end, { flags: READ });

describe('who looks, and where', () => {
  it('6.1 never does', () => {
    const system = systemOf('6.1');
    const mm = mmOf([sealed(0, 2)], system);
    expect(canModifyMm(mm, vpn(0), vpn(2)).ok).toBe(true);
    expect(canModifyVma(mm, sealed(0, 2)).ok).toBe(true);
    expect(canModifyMmMadv(mm, vpn(0), vpn(2), madv.MADV_DONTNEED).ok).toBe(true);
    expect(canModifyVmaMadv(mm, sealed(0, 2), madv.MADV_DONTNEED).ok).toBe(true);
    expect(system.sealVisits).toEqual({ prePass: 0, inLoop: 0 });
  });

  it('6.10 walks the range first, up to the first seal', () => {
    const system = systemOf('6.10');
    const mm = mmOf([vmaOf(0, 2), vmaOf(2, 3), sealed(3, 4), sealed(4, 6), vmaOf(8, 9)], system);
    const refused = canModifyMm(mm, vpn(1), vpn(9));
    expect(refused).toMatchObject({ ok: false, error: { errno: 'EPERM', vma: { start: 3, end: 4 } } });
    expect(system.sealVisits).toEqual({ prePass: 3, inLoop: 0 });
    expect(canModifyMm(mm, vpn(0), vpn(3)).ok).toBe(true);
    expect(canModifyVma(mm, sealed(3, 4)).ok).toBe(true);
    expect(system.sealVisits).toEqual({ prePass: 5, inLoop: 1 });
  });

  it('6.12 asks one after the other', () => {
    const mm = mmOf([vmaOf(0, 2), sealed(3, 4)], systemOf('6.12'));
    expect(canModifyMm(mm, vpn(0), vpn(4)).ok).toBe(true);
    expect(canModifyVma(mm, vmaOf(0, 2)).ok).toBe(true);
    expect(canModifyVma(mm, sealed(3, 4))).toMatchObject({ error: { errno: 'EPERM', vma: { start: 3 } } });
  });

  it('both costs are counted whichever rule is in force', () => {
    const visits = (version: '6.10' | '6.12'): unknown => {
      const kernel = scenario(version).nr(0, 1).nr(1, 1, 'r').nr(2, 1);
      const { sealVisits } = kernel.world.system;
      const before = { ...sealVisits };
      kernel.munmap(0, 3);
      return { prePass: sealVisits.prePass - before.prePass, inLoop: sealVisits.inLoop - before.inLoop };
    };
    expect(visits('6.10')).toEqual({ prePass: 3, inLoop: 3 });
    expect(visits('6.12')).toEqual({ prePass: 3, inLoop: 3 });
  });
});

describe('throwing pages away', () => {
  const WRITABLE = union(READ, VM_WRITE);
  const SHARED = union(READ, VM_SHARED);
  it.each([
    ['anonymous memory that cannot be written', {}, false, false],
    ['that can', { flags: WRITABLE }, true, true],
    ['shared memory', { flags: SHARED, file: fileOf(1, { ops: 'anon-shmem' as const }) }, true, true],
    ['a private file', { file: fileOf(1) }, true, true],
    ['private /dev/zero', { file: fileOf(1, { ops: 'dev-zero' as const }) }, true, false],
    ['a mapping that the kernel made', { special: '[vdso]' }, false, true],
  ])('%s', (_, other, until616, since617) => {
    const vma = vmaOf(0, 2, { flags: READ, ...other });
    const allowed = (version: '6.12' | '7.3'): boolean =>
      canModifyVmaMadv(mmOf([vma], systemOf(version)), vma, madv.MADV_DONTNEED).ok;
    expect([allowed('6.12'), allowed('7.3')]).toEqual([until616, since617]);
  });

  it('other advice is nothing that a seal minds', () => {
    const vma = sealed(0, 2);
    const system = systemOf('7.3');
    expect(canModifyVmaMadv(mmOf([vma], system), vma, madv.MADV_DONTDUMP).ok).toBe(true);
    expect(system.sealVisits.inLoop).toBe(0);
  });

  it('the walk refuses for the first mapping that is protected, not for the first seal', () => {
    const mm = mmOf(
      [vmaOf(0, 1, { flags: WRITABLE }), vmaOf(1, 2), sealed(2, 3), sealed(3, 4)],
      systemOf('6.11'),
    );
    expect(canModifyMmMadv(mm, vpn(0), vpn(4), madv.MADV_FREE)).toMatchObject({
      error: { vma: { start: 2 } },
    });
  });
});

it('a refusal says which mapping refused and why', () => {
  const kernel = scenario('7.3').nr(0, 4).mseal(2, 1).munmap(0, 4);
  expect(kernel.refusal).toMatchObject({ errno: 'EPERM', vma: { start: 0x1000002, end: 0x1000003 } });
  expect(kernel.refusal?.why).toContain('can_modify_vma');
  const old = scenario('6.10').nr(0, 4).mseal(2, 1).munmap(0, 4);
  expect(old.refusal?.why).toContain('can_modify_mm');
});
