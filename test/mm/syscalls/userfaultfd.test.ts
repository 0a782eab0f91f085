import { expect, it } from 'vitest';
import { u64 } from '../../../src/mm/addr';
import { releaseUffd, sysUffdRegister, sysUffdUnregister } from '../../../src/mm/syscalls/userfaultfd';
import { unionOf, VM_MAYWRITE, VM_READ, VM_WRITE } from '../../../src/mm/vm_flags';
import { mmOf, systemOf, vmaOf } from '../vmas';

const flags = unionOf(VM_READ, VM_WRITE, VM_MAYWRITE);
const bytes = (pages: number) => u64(BigInt(pages) * 4096n);

it('registering splits, closing joins again', () => {
  const mm = mmOf([vmaOf(16, 24, { flags })]);
  expect(sysUffdRegister(mm, 1, bytes(18), bytes(2), 1).ok).toBe(true);
  expect(mm.tree.all().map(({ uffd }) => uffd)).toEqual([null, 1, null]);
  expect(sysUffdRegister(mm, 2, bytes(16), bytes(8), 1)).toMatchObject({ error: { errno: 'EBUSY' } });
  releaseUffd(mm, 1);
  expect(mm.tree.count).toBe(1);
});

it.each([
  ['no mode', 16, 1, 0],
  ['no length', 16, 0, 1],
  ['minor faults of private memory', 16, 1, 4],
  ['a hole', 30, 1, 1],
])('refuses %s', (_, start, pages, mode) => {
  const mm = mmOf([vmaOf(16, 24, { flags })]);
  expect(sysUffdRegister(mm, 1, bytes(start), bytes(pages), mode)).toMatchObject({
    error: { errno: 'EINVAL' },
  });
  expect(mm.tree.count).toBe(1);
});

it('unregistering a part leaves the rest, unregistering all joins again', () => {
  const mm = mmOf([vmaOf(16, 24, { flags })]);
  sysUffdRegister(mm, 1, bytes(18), bytes(2), 1);
  expect(sysUffdUnregister(mm, 1, bytes(18), bytes(1)).ok).toBe(true);
  expect(mm.tree.all().map(({ start, uffd }) => [start, uffd])).toEqual([
    [16, null],
    [19, 1],
    [20, null],
  ]);
  expect(sysUffdUnregister(mm, 1, bytes(16), bytes(8)).ok).toBe(true);
  expect(mm.tree.count).toBe(1);
});

it.each([
  ['6.12', true],
  ['6.18', false],
] as const)('unregistering what another registered, on %s', (version, done) => {
  const mm = mmOf([vmaOf(16, 24, { flags })], systemOf(version));
  sysUffdRegister(mm, 1, bytes(18), bytes(2), 1);
  expect(sysUffdUnregister(mm, 2, bytes(18), bytes(1)).ok).toBe(done);
});
