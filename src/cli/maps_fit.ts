import type { LoadedMaps } from '../node/sources';
import { detectTrace } from '../trace/detect';
import { formatCount } from '../present/units';
import { InputError } from './failure';

/** Ends the command for a text that is something else, in one line that says what, and what reads it. */
export function refuseOther({ label, document, problems }: LoadedMaps): void {
  const other = problems.find((problem) => problem.code === 'not-maps');
  if (document.kind !== 'unknown' || other === undefined) return;
  const { format, advice } = detectTrace(document.source.text);
  if (format === 'strace') {
    throw new InputError(
      `${label}: looks like a log of strace, not like maps: vmalens replay ${label} reads it`,
    );
  }
  throw new InputError(`${label}: ${advice === '' ? other.text : advice}`);
}

/** For a text that holds mappings among much else (a crash report, a README); undefined for any other. */
export function mixedRemark({ document }: LoadedMaps): string | undefined {
  if (document.kind !== 'maps') return undefined;
  const lines = document.source.text.split('\n').filter((line) => line.trim() !== '').length;
  const found = document.entries.length;
  if (found * 2 >= lines) return undefined;
  return `only ${formatCount(found)} of its ${formatCount(lines)} lines are mappings: is it a maps file?`;
}
