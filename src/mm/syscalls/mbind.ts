import { ok } from '../../base/result';
import { pageAlignUp, pageAligned, VPN_END, vpnAdd, vpnOf, type U64, type Vpn } from '../addr';
import type { Mm } from '../mm';
import { DONE, refuse, type Prediction } from '../refusal';
import { untouchedOf } from '../vma';
import { modifyVma, vmaAt } from '../vma_modify';
import { visitVmas } from '../vma_walk';
import { coversRange } from './mseal';

/** Memory policies (mm/mempolicy.c). They show in maps only as borders between mappings. */

const MPOL_DEFAULT = 0;
const MPOL_PREFERRED = 1;
const MPOL_BIND = 2;
const MPOL_LOCAL = 4;
const MPOL_PREFERRED_MANY = 5;
/** The last that any kernel here knows: weighted interleaving. */
const MPOL_LAST = 6;
const MPOL_F_RELATIVE_NODES = 1 << 14;
const MPOL_F_STATIC_NODES = 1 << 15;
const MPOL_F_NUMA_BALANCING = 1 << 13;
const MPOL_MODE_FLAGS = MPOL_F_RELATIVE_NODES | MPOL_F_STATIC_NODES | MPOL_F_NUMA_BALANCING;
/** MPOL_MF_STRICT, _MOVE and _MOVE_ALL: they are about pages, not about mappings. */
const MPOL_MF_STRICT = 1;
const MPOL_MF_VALID = 7;

export interface MbindArgs {
  readonly addr: U64;
  readonly length: U64;
  /** MPOL_* with MPOL_F_* in one number. */
  readonly mode: number;
  /** One bit a node. */
  readonly nodes: bigint;
  readonly flags: number;
}

/**
 * mbind(addr, length, mode, nodes, maxnode, flags): do_mbind. Policies are compared by value. A hole is EFAULT and
 * nothing changes, but the default policy passes over holes. Which nodes there are, and on which of them pages lie, is not
 * known here.
 */
export function sysMbind(mm: Mm, { addr, length, mode, nodes, flags }: MbindArgs): Prediction {
  const modeFlags = mode & MPOL_MODE_FLAGS;
  const policy = mode & ~MPOL_MODE_FLAGS;
  const both = MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES;
  if (policy > MPOL_LAST || (modeFlags & both) === both) return refuse('EINVAL', 'no such memory policy');
  if ((modeFlags & MPOL_F_NUMA_BALANCING) !== 0 && !bindsToNodes(policy)) {
    return refuse('EINVAL', 'MPOL_F_NUMA_BALANCING is for policies that bind to nodes (sanitize_mpol_flags)');
  }
  if ((flags & ~MPOL_MF_VALID) !== 0) return refuse('EINVAL', 'unknown mbind flags');
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pageAlignUp(length));
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  if (end === start) return DONE;
  if (!nodesFit(policy, modeFlags, nodes)) {
    return refuse('EINVAL', 'the policy does not go with these nodes (mpol_new)');
  }
  const wanted = policyText(policy, modeFlags, nodes);
  if (mm.firstIn(start, end) === undefined || (wanted !== null && !coversRange(mm, start, end))) {
    return refuse('EFAULT', 'the range has a hole; nothing was changed (queue_pages_range)');
  }
  // No page lies on a node that a policy without nodes names: each that there is stands in the way (EIO).
  const misplaced =
    wanted !== null && nodes === 0n && flags === MPOL_MF_STRICT && mayHavePages(mm, start, end);
  const done = setPolicies(mm, start, end, () => wanted);
  return done.ok && misplaced ? ok('pages-decide') : done;
}

function mayHavePages(mm: Mm, start: Vpn, end: Vpn): boolean {
  return mm
    .vmasIn(start, end)
    .some((vma) => vma.file !== null || vma.anonVma !== 0 || untouchedOf(vma) !== 'sure');
}

/** mpol_new */
function nodesFit(policy: number, modeFlags: number, nodes: bigint): boolean {
  if (policy === MPOL_DEFAULT) return nodes === 0n;
  if (policy === MPOL_LOCAL) return nodes === 0n && modeFlags === 0;
  if (policy === MPOL_PREFERRED) return nodes !== 0n || modeFlags === 0;
  return nodes !== 0n;
}

/** What makes two policies equal (mpol_equal); null for the default. */
function policyText(policy: number, modeFlags: number, nodes: bigint): string | null {
  if (policy === MPOL_DEFAULT) return null;
  const local = policy === MPOL_PREFERRED && nodes === 0n;
  // One node is preferred, the first (mpol_new_preferred); with flags the nodes as given are compared also.
  const kept = policy === MPOL_PREFERRED && modeFlags === 0 ? nodes & -nodes : nodes;
  return `${local ? MPOL_LOCAL : policy}:${modeFlags}:${kept.toString(16)}`;
}

/**
 * set_mempolicy_home_node(addr, length, node, flags): only policies that bind to nodes have a home; memory without a policy
 * is passed over, and is ENOENT where there is no other.
 */
export function sysSetMempolicyHomeNode(
  mm: Mm,
  addr: U64,
  length: U64,
  node: number,
  flags: U64,
): Prediction {
  if (!pageAligned(addr)) return refuse('EINVAL', 'the address is not page aligned');
  if (flags !== 0) return refuse('EINVAL', 'set_mempolicy_home_node knows no flags');
  const start = vpnOf(addr);
  const end = vpnAdd(start, pageAlignUp(length));
  if (end >= VPN_END) return refuse('EINVAL', 'the range wraps around');
  if (end === start) return DONE;
  const known = mm.vmasIn(start, end).filter(({ policy }) => policy !== null);
  if (known.length === 0) return refuse('ENOENT', 'no memory of the range has a policy');
  const other = known.find(({ policy }) => !hasHome(policy ?? ''));
  const changed = setPolicies(mm, start, other?.start ?? end, (policy) =>
    policy === null ? null : `${policy.replace(/@.*/, '')}@${node}`,
  );
  if (!changed.ok || other === undefined) return changed;
  return refuse('EOPNOTSUPP', 'only policies that bind to nodes have a home node', other);
}

function hasHome(policy: string): boolean {
  return bindsToNodes(Number(policy.split(':')[0]));
}

function bindsToNodes(policy: number): boolean {
  return policy === MPOL_BIND || policy === MPOL_PREFERRED_MANY;
}

/** mbind_range for each VMA of the range. A refused split leaves what was changed before it. */
function setPolicies(
  mm: Mm,
  start: Vpn,
  end: Vpn,
  become: (policy: string | null) => string | null,
): Prediction {
  const walked = visitVmas(mm, start, end, 'pass', (index, from, until) => {
    const vma = vmaAt(mm, index);
    const policy = become(vma.policy);
    return policy === vma.policy ? ok(undefined) : modifyVma(mm, index, from, until, { policy });
  });
  return walked.ok ? DONE : walked;
}
