import { KERNEL_VERSIONS, type KernelVersion } from '../mm/kernel_rules';

/** The column of rules that a release is replayed by. */
export interface RulesVersion {
  readonly version: KernelVersion;
  /** The column is that of the release itself; false where an earlier one (or the first) stands in. */
  readonly exact: boolean;
}

/**
 * The rules for a kernel release as `uname -r` prints it (`6.18.44-foo`), also with a leading v: by its first two
 * numbers the newest column of {@link KERNEL_VERSIONS} that is not newer, for what is older than all of them the
 * first. Undefined for a text that does not begin with two numbers.
 */
export function rulesVersionFor(release: string): RulesVersion | undefined {
  const asked = numbersOf(/^v?(\d{1,4}\.\d{1,4})(?!\d|[a-z])/i.exec(release)?.[1] ?? '');
  if (asked === undefined) return undefined;
  const version =
    KERNEL_VERSIONS.findLast((column) => compare(numbersOf(column) ?? [0, 0], asked) <= 0) ??
    KERNEL_VERSIONS[0];
  return { version, exact: compare(numbersOf(version) ?? [0, 0], asked) === 0 };
}

type Numbers = readonly [major: number, minor: number];

function numbersOf(version: string): Numbers | undefined {
  const [major = '', minor = ''] = version.split('.');
  return major === '' || minor === '' ? undefined : [Number(major), Number(minor)];
}

/** Below zero where `a` is the older one. */
function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1];
}
