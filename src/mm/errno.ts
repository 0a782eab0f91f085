/** Errors that memory calls return, by name. Numbers are those of x86-64 and arm64 (asm-generic). */
export const ERRNO_NUMBERS = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EIO: 5,
  E2BIG: 7,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EFAULT: 14,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  EINVAL: 22,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSYS: 38,
  EOVERFLOW: 75,
  EOPNOTSUPP: 95,
  EHWPOISON: 133,
} as const;

export type Errno = keyof typeof ERRNO_NUMBERS;

const NAMES: ReadonlyMap<number, Errno> = new Map(
  Object.entries(ERRNO_NUMBERS).map(([name, number]) => [number, name as Errno]),
);

/** The name of an error number, or undefined for one that no memory call returns. */
export function errnoName(number: number): Errno | undefined {
  return NAMES.get(number);
}
