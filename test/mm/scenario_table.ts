import { assert } from '../../src/base/assert';
import { isKernelVersion, KERNEL_VERSIONS, type KernelVersion } from '../../src/mm/kernel_rules';
import { scenario, type Scenario } from './scenario';

/**
 * One numbered scenario: what is done, and what each kernel makes of it.
 *
 * `gives` maps versions to what {@link Scenario.text} then says. Versions are written `all`, `6.12`, `6.12+`, `-6.11`
 * (up to) or several of these apart by spaces. What the script returns as a string stands for that text.
 */
export interface ScenarioRow {
  readonly number: number;
  readonly title: string;
  readonly script: (kernel: Scenario) => Scenario | string;
  readonly gives: Readonly<Record<string, string>>;
}

export function row(
  number: number,
  title: string,
  script: (kernel: Scenario) => Scenario | string,
  gives: Readonly<Record<string, string>>,
): ScenarioRow {
  return { number, title, script, gives };
}

/** Every version with what the row says of it. A version named twice is a mistake of the table. */
export function expectations({ number, gives }: ScenarioRow): ReadonlyMap<KernelVersion, string> {
  const found = new Map<KernelVersion, string>();
  for (const [columns, text] of Object.entries(gives)) {
    for (const version of columns.split(' ').flatMap(versionsOf)) {
      assert(!found.has(version), `scenario ${number} names ${version} once`);
      found.set(version, text);
    }
  }
  return found;
}

/** Runs the row's script on a fresh kernel. */
export function outcome({ script }: ScenarioRow, version: KernelVersion): string {
  const result = script(scenario(version));
  return typeof result === 'string' ? result : result.text();
}

function versionsOf(columns: string): readonly KernelVersion[] {
  if (columns === 'all') return KERNEL_VERSIONS;
  const name = columns.replace(/^-|\+$/, '');
  assert(isKernelVersion(name), `${columns} is a version`);
  const index = KERNEL_VERSIONS.indexOf(name);
  if (columns.startsWith('-')) return KERNEL_VERSIONS.slice(0, index + 1);
  return columns.endsWith('+') ? KERNEL_VERSIONS.slice(index) : [name];
}
