import type { ProcessLimits, Rlimit } from '../mm/process_limits';
import type { Syscall } from '../trace/event';
import type { Life, World } from './world';

/** prlimit64, setrlimit, getrlimit and calls that change capabilities, all of them successful: what limits hold. */

type LimitName = 'as' | 'data' | 'memlock' | 'stack';

const RESOURCES: Readonly<Record<string, LimitName>> = {
  RLIMIT_AS: 'as',
  RLIMIT_DATA: 'data',
  RLIMIT_MEMLOCK: 'memlock',
  RLIMIT_STACK: 'stack',
};

/** Calls after which a process may have other capabilities than before. */
const CHANGES_CAPABILITIES = /^(?:set(?:re|res|fs)?uid|unshare|setns)(?:32)?$/;

/** What a successful call tells of the limits of `life`, or of the process that it names. */
export function noteLimits(world: World, life: Life, call: Syscall): void {
  if (call.name === 'prctl' && call.option === 'PR_CAPBSET_DROP') forgetCapability(life);
  if (call.name !== 'other') return;
  const [first = '', second = '', third = '', fourth = ''] = call.args;
  switch (call.syscall) {
    case 'prlimit64': {
      const pid = Number(/^(\d+)/.exec(first)?.[1] ?? NaN);
      const target = pid === 0 ? life : world.lifeOf(pid);
      if (target !== undefined) setLimit(target, second, limitOf(third) ?? limitOf(fourth));
      return;
    }
    case 'setrlimit':
    case 'getrlimit':
    case 'ugetrlimit':
      setLimit(life, first, limitOf(second));
      return;
    case 'capset':
      if (lacksIpcLock(second)) learnCapability(life, false);
      else forgetCapability(life);
      return;
    default:
      if (CHANGES_CAPABILITIES.test(call.syscall)) forgetCapability(life);
  }
}

/** Capabilities may be others from now on: after exec, or calls that change them. */
export function forgetCapability(life: Life): void {
  const { ipcLock: _forgotten, ...limits } = life.limits;
  life.limits = limits;
}

const CAP_IPC_LOCK = 14n;

/**
 * Does `{effective=1<<CAP_NET_RAW|0x1, permitted=…}` lack CAP_IPC_LOCK? What cannot be read does not, and a process that has
 * the capability may have it in a namespace where it lifts no limit.
 */
function lacksIpcLock(text: string): boolean {
  const words = /\beffective=([^,]+)/.exec(text)?.[1]?.split('|') ?? ['?'];
  return words.every((word) => {
    if (/^1<<CAP_[A-Z_]+$/.test(word)) return word !== '1<<CAP_IPC_LOCK';
    return /^(?:0|0x[0-9a-f]+)$/.test(word) && ((BigInt(word) >> CAP_IPC_LOCK) & 1n) === 0n;
  });
}

/** A call showed whether the process has CAP_IPC_LOCK. */
export function learnCapability(life: Life, ipcLock: boolean): void {
  life.limits = { ...life.limits, ipcLock };
}

function setLimit(life: Life, resource: string, limit: Rlimit | undefined): void {
  const name = RESOURCES[resource];
  if (name === undefined || limit === undefined) return;
  const limits: ProcessLimits = { ...life.limits, [name]: limit };
  life.limits = limits;
}

/** `{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}`; undefined for NULL and for what is not printed. */
function limitOf(text: string): Rlimit | undefined {
  const found = /^\{rlim_cur=([^,]+), rlim_max=([^}]+)\}$/.exec(text);
  const cur = bytesOf(found?.[1] ?? '');
  const max = bytesOf(found?.[2] ?? '');
  return cur === undefined || max === undefined ? undefined : { cur, max };
}

/** Bytes as strace prints them: `4096`, `8192*1024`, `RLIM64_INFINITY`. */
function bytesOf(text: string): number | undefined {
  if (/^RLIM(?:64)?_INFINITY$/.test(text)) return Infinity;
  const found = /^(\d+|0x[0-9a-f]+)(?:\*1024)?$/.exec(text);
  if (found === null) return undefined;
  return Number(found[1]) * (text.endsWith('*1024') ? 1024 : 1);
}
