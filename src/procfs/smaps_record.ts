import { FIELDS_BEFORE_VM_FLAGS, isKilobyteField, LAST_BEFORE_VM_FLAGS } from './smaps_fields';
import { VM_FLAGS, type FieldLine } from './smaps_line';
import type { SmapsFields, SmapsValue } from './maps_entry';
import type { ProblemList } from './problem_list';

/** The field lines of one entry (or of the rollup) while they are read. */
export class SmapsRecord {
  readonly fields = new Map<string, SmapsValue>();
  vmFlags: readonly string[] | null = null;
  /** Field lines so far, VmFlags included. */
  count = 0;
  /** Line of the last field. */
  lastLine: number;
  /** The text ended inside one of its lines. */
  cut = false;

  constructor(readonly headerLine: number) {
    this.lastLine = headerLine;
  }

  /**
   * Adds a field. False when the record has it already: the header of another record must have been lost.
   * Tells of values that totals must leave out.
   */
  add(field: FieldLine, line: number, problems: ProblemList): boolean {
    if (field.kind === 'flags') {
      if (this.vmFlags !== null) return false;
      this.vmFlags = field.flags;
    } else {
      if (this.fields.has(field.name)) return false;
      this.fields.set(field.name, field.value);
      if (field.value.kind === 'text' || field.value.unit !== 'kB')
        tellOddValue(field.name, field.value, line, problems);
    }
    this.count++;
    this.lastLine = line;
    return true;
  }

  /** Names in printed order; VmFlags, if there, counts as the last. */
  names(): readonly string[] {
    return this.vmFlags === null ? [...this.fields.keys()] : [...this.fields.keys(), VM_FLAGS];
  }

  finish(complete: boolean): SmapsFields {
    return { fields: this.fields, vmFlags: this.vmFlags, complete };
  }
}

function tellOddValue(name: string, value: SmapsValue, line: number, problems: ProblemList): void {
  if (value.kind === 'number' && value.unit !== '') {
    problems.add(line, 'odd-unit', `${name} is not in kB: it is kept as it is and left out of totals`);
  } else if (isKilobyteField(name)) {
    const what = value.kind === 'text' ? 'is not a number' : 'has no unit';
    problems.add(line, 'odd-value', `${name} ${what}: it is kept as it is and left out of totals`);
  }
}

/** A rollup ends in Locked. */
export function isCompleteRollup(record: SmapsRecord): boolean {
  return !record.cut && record.fields.has('Locked');
}

/**
 * Would a last line without its newline be cut? A line of flags is whole when it has the flags that the
 * permissions ask for and no half mnemonic; a number when its unit is there. Whether more flags followed
 * cannot be told.
 */
export function isCutField(field: FieldLine, perms: string): boolean {
  if (field.kind === 'value') return field.value.kind === 'text' || field.value.unit !== 'kB';
  const last = field.flags.at(-1);
  if (last === undefined || last.length < 2) return true;
  return PERMISSION_FLAGS.some(([letter, flag]) => perms.includes(letter) && !field.flags.includes(flag));
}

const PERMISSION_FLAGS: readonly (readonly [string, string])[] = [
  ['r', 'rd'],
  ['w', 'wr'],
  ['x', 'ex'],
];

/**
 * Records that end too early, for a text whose kernel is not known: fields come and go with versions, and a
 * person may have kept only some of them.
 *
 * - Some record has VmFlags: then each has, it is the last line of a record since 3.8.
 * - None has: a record is too short when it is the beginning of the one before it.
 * - There is only one: too short when it begins as the kernel prints it and lacks what has to follow.
 */
export function incompleteRecords(records: readonly SmapsRecord[]): ReadonlySet<SmapsRecord> {
  const incomplete = new Set<SmapsRecord>();
  const flagsPrinted = records.some((record) => record.vmFlags !== null);
  let previous: readonly string[] | null = null;
  for (const record of records) {
    if (record.cut) incomplete.add(record);
    if (flagsPrinted) {
      if (record.vmFlags === null) incomplete.add(record);
      continue;
    }
    const names = record.names();
    if (previous === null ? records.length === 1 && endsEarly(names) : isBeginningOf(names, previous)) {
      incomplete.add(record);
    } else {
      previous = names;
    }
  }
  return incomplete;
}

function isBeginningOf(names: readonly string[], whole: readonly string[]): boolean {
  return names.length < whole.length && names.every((name, i) => name === whole[i]);
}

function endsEarly(names: readonly string[]): boolean {
  if (names[0] !== 'Size') return false;
  const last = names.at(-1);
  const mayEnd = last !== undefined && LAST_BEFORE_VM_FLAGS.has(last);
  return !mayEnd || names.some((name) => !FIELDS_BEFORE_VM_FLAGS.has(name));
}
