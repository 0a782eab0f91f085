import { err, ok, type Result } from '../../base/result';
import { pageAligned, pageAlignUp, VPN_END, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import { anonVmaNameEq, type AnonVmaName } from '../anon_vma_name';
import type { Mm } from '../mm';
import { DONE, refuse, type Prediction, type Refusal } from '../refusal';
import { vmaIsAnonShmem } from '../vma';
import { modifyVma, setVma, vmaAt } from '../vma_modify';
import { splitRefusal, walkVmas } from './madvise';

/** ANON_VMA_NAME_MAX_LEN, with the NUL. */
const NAME_MAX_BYTES = 80;

/** What the naming call was given. `text` counts as printed bytes; see base/bytes. */
export type WantedName =
  | null
  | { readonly certainty: 'exact'; readonly text: string; readonly byteLength: number }
  /** At an address where nothing can be read. */
  | { readonly certainty: 'unreadable' }
  | { readonly certainty: 'prefix' | 'pointer'; readonly text: string };

/** prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, addr, length, name): prctl_set_vma in kernel/sys.c, madvise_set_anon_name. */
export function sysSetAnonName(
  mm: Mm,
  option: U64,
  addr: U64,
  length: U64,
  wanted: WantedName,
  createdAt: AnonVmaName['createdAt'],
): Prediction {
  if (!mm.has('anon-names')) return refuse('EINVAL', 'this kernel is built without CONFIG_ANON_VMA_NAME');
  if (option !== 0) return refuse('EINVAL', 'PR_SET_VMA knows PR_SET_VMA_ANON_NAME only');
  if (wanted?.certainty === 'unreadable') return refuse('EFAULT', 'the name cannot be read (strndup_user)');
  if (wanted?.certainty === 'exact' && !nameValid(wanted.text, wanted.byteLength)) {
    return refuse('EINVAL', 'the name is longer than 79 bytes or holds a character that names must not have');
  }
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  const pages = pageAlignUp(length);
  if (length !== 0 && pages === 0) return refuse('EINVAL', 'the length wraps around');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pages);
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  if (pages === 0) return DONE;
  // One object a call, whichever VMAs take it; without a taker it is gone when the call returns.
  const name =
    wanted === null
      ? null
      : mm.system.names.alloc({ text: wanted.text, certainty: wanted.certainty, createdAt, inferred: false });
  return walkVmas(mm, start, end, (index, from, to) => nameVma(mm, index, from, to, name));
}

/** is_valid_name_char for each: printable ASCII without \ ` $ [ ] */
function nameValid(text: string, byteLength: number): boolean {
  if (byteLength >= NAME_MAX_BYTES) return false;
  return /^[\x20-\x7e]*$/.test(text) && !/[\\`$[\]]/.test(text);
}

/** madvise_vma_anon_name, then replace_anon_vma_name for the VMA that holds the range afterwards. */
function nameVma(
  mm: Mm,
  index: number,
  start: Vpn,
  end: Vpn,
  name: AnonVmaName | null,
): Result<void, Refusal> {
  const vma = vmaAt(mm, index);
  if (vma.file !== null && !(mm.rules.shmemNames && vmaIsAnonShmem(vma))) {
    return refuse('EBADF', 'only anonymous memory can be named', vma);
  }
  // Equal text keeps the object that is there.
  if (anonVmaNameEq(vma.name, name)) return ok(undefined);
  const modified = modifyVma(mm, index, start, end, { name: mm.nameForHolder(name) });
  if (!modified.ok) return err(splitRefusal(modified.error));
  const now = vmaAt(mm, modified.value);
  if (!anonVmaNameEq(now.name, name)) setVma(mm, modified.value, { name });
  // madvise_update_vma then sets the flags of the VMA that it began with, so those of what joined are lost.
  if (now.flags !== vma.flags) setVma(mm, modified.value, { flags: vma.flags });
  return ok(undefined);
}
