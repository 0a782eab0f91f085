import type { Syscall } from '../event';
import type { CallArgs } from './call_args';
import { UFFD_FEATURE, UFFD_MODE } from './flag_tables';
import { parseFlags } from './flags';

/** Requests of userfaultfd by number, as `-X raw` prints them (linux/userfaultfd.h). */
const REQUESTS: ReadonlyMap<number, string> = new Map([
  [0xc018aa3f, 'UFFDIO_API'],
  [0xc020aa00, 'UFFDIO_REGISTER'],
  [0x8010aa01, 'UFFDIO_UNREGISTER'],
  [0xc028aa03, 'UFFDIO_COPY'],
  [0xc020aa04, 'UFFDIO_ZEROPAGE'],
  [0xc020aa07, 'UFFDIO_CONTINUE'],
]);

/** `ioctl(fd, UFFDIO_…, {…})`; undefined for any other ioctl. */
export function uffdIoctl(a: CallArgs): Syscall | undefined {
  switch (requestOf(a)) {
    case 'UFFDIO_API':
      return api(a);
    case 'UFFDIO_REGISTER':
      return {
        name: 'uffd_register',
        fd: a.fd(0),
        ...range(a, 'range='),
        mode: a.fieldFlags(2, 'mode=', UFFD_MODE) ?? 0,
      };
    case 'UFFDIO_UNREGISTER':
      return { name: 'uffd_unregister', fd: a.fd(0), ...range(a) };
    case 'UFFDIO_COPY':
      return { name: 'uffd_fill', fd: a.fd(0), addr: a.fieldU64(2, 'dst='), length: a.fieldU64(2, 'len=') };
    case 'UFFDIO_ZEROPAGE':
    case 'UFFDIO_CONTINUE':
      return { name: 'uffd_fill', fd: a.fd(0), ...range(a, 'range=') };
    default:
      return undefined;
  }
}

function requestOf(a: CallArgs): string | undefined {
  const number = a.number(1);
  if (number !== undefined) return REQUESTS.get(Number(number));
  return /\bUFFDIO_[A-Z]+\b/.exec(a.raw(1))?.[0];
}

function range(
  a: CallArgs,
  ...within: readonly string[]
): Pick<Syscall & { name: 'uffd_fill' }, 'addr' | 'length'> {
  return { addr: a.fieldU64(2, ...within, 'start='), length: a.fieldU64(2, ...within, 'len=') };
}

/** `{api=0xaa, features=ASKED => features=OFFERED, ioctls=…}` */
function api(a: CallArgs): Syscall | undefined {
  const found = /\bfeatures=([^,}]*?)(?: => features=([^,}]*))?[,}]/.exec(a.raw(2));
  const features = parseFlags(found?.[1] ?? '', UFFD_FEATURE);
  if (features === undefined) return undefined;
  const offered = found?.[2] === undefined ? undefined : parseFlags(found[2], UFFD_FEATURE);
  return { name: 'uffd_api', fd: a.fd(0), features: features.value, offered: offered?.value };
}
