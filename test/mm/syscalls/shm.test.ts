import { describe } from 'vitest';
import { behaves } from '../behaves';

const SHM_RDONLY = 0x1000;
const SHM_REMAP = 0x4000;
const SYSV = '/SYSV00000000';

describe('attaching', () => {
  behaves('to write and to read', (k) => k.shmat(0, 2).shmat(4, 1, SHM_RDONLY), {
    all: `[0-2 rw sh ms ${SYSV}+0][4-5 r ms !mw ${SYSV}+0]`,
  });
  behaves(
    'where something is, with and without leave',
    (k) => k.nr(1, 2).shmat(0, 2).see().shmat(0, 2, SHM_REMAP),
    {
      all: `EINVAL [1-3 rw nr] ; [0-2 rw sh ms ${SYSV}+0][2-3 rw nr]`,
    },
  );
  behaves('over a seal', (k) => k.nr(0, 1).mseal(0, 1).shmat(0, 1, SHM_REMAP), {
    '6.10+': 'EPERM [0-1 rw nr sl]',
  });
  behaves('each is apart from the one beside it', (k) => k.shmat(0, 1).shmat(1, 1), {
    all: `[0-1 rw sh ms ${SYSV}+0][1-2 rw sh ms ${SYSV}+0]`,
  });
});

describe('detaching', () => {
  behaves(
    'all pieces of the attach and nothing else',
    (k) => k.shmat(0, 4).mprotect(1, 1, 'r').munmap(2, 1).nr(2, 1).shmat(4, 1).shmdt(0),
    {
      all: `[2-3 rw nr][4-5 rw sh ms ${SYSV}+0]`,
    },
  );
  behaves(
    'by the address of the attach, though its first page is gone',
    (k) => k.shmat(0, 3).munmap(0, 1).shmdt(0),
    { all: '' },
  );
  behaves('by no other address', (k) => k.shmat(0, 3).shmdt(1).see().shmdt(9), {
    all: `EINVAL [0-3 rw sh ms ${SYSV}+0] ; EINVAL [0-3 rw sh ms ${SYSV}+0]`,
  });
  behaves('a piece that moved away stays', (k) => k.shmat(0, 2).move(1, 1, 1, 20).shmdt(0), {
    all: `[20-21 rw sh ms ${SYSV}+1]`,
  });
});

describe('borders between pieces', () => {
  behaves('move where nothing disappears', (k) => k.shmat(0, 4).mprotect(2, 2, 'r').mprotect(1, 1, 'r'), {
    '6.1 6.10 6.11': `[0-1 rw sh ms ${SYSV}+0][1-2 r sh ms ${SYSV}+1][2-4 r sh ms ${SYSV}+2]`,
    '6.12+': `[0-1 rw sh ms ${SYSV}+0][1-4 r sh ms ${SYSV}+1]`,
  });
});
