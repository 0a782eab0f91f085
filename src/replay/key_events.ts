import { learnPkey } from '../mm/pkeys';
import type { Life, World } from './world';

/** pkey_alloc and pkey_free, both successful: they change no mapping, but which keys pkey_mprotect takes. */
export function notePkeys(
  world: World,
  life: Life,
  syscall: string,
  args: readonly string[],
  value: number,
): void {
  if (life.mm === null || (syscall !== 'pkey_alloc' && syscall !== 'pkey_free')) return;
  world.system.pkeys.traced = true;
  if (syscall === 'pkey_alloc') learnPkey(life.mm, value, true);
  else if (/^\d+$/.test(args[0] ?? '')) learnPkey(life.mm, Number(args[0]), false);
}
