import { DASH, hexDigit, isBlank, LF, skipBlanks, skipHex } from './chars';
import { findPrefixedHeader, hasAllColumns, isPrefixEnd } from './log_prefix';
import { OUTSIDE, type MapsDocument, type MapsKind, type SmapsRollup } from './maps_document';
import {
  isFault,
  isPageAlignedHex,
  ROLLUP_PATH,
  scanHeader,
  type EntryDraft,
  type LineFault,
} from './maps_line';
import { describeNotMaps, readErrorIn } from './not_maps';
import { isGdbFrame, isSanitizerFrame, scanGdbRow, scanSanitizerRow } from './other_layouts';
import { ProblemList } from './problem_list';
import { isKilobyteField } from './smaps_fields';
import { FieldScanner, nameOfField, skipWord, type FieldLine } from './smaps_line';
import { incompleteRecords, isCompleteRollup, isCutField, SmapsRecord } from './smaps_record';
import { forEachLine, lineNumberAt, skipInvisible, trimCr, type LineCursor } from './text_lines';
import { findTornReads } from './torn_reads';

/**
 * Parses maps, smaps or smaps_rollup of any kernel since 3.0, what a logger or a cut made of them, gdb's
 * `info proc mappings` and the process map of sanitizers (docs/proc-formats.md).
 *
 * Never throws and never stops early: what cannot be taken as it stands is a problem with its line. Time and
 * memory are linear in the length of the text.
 *
 * @param bytes latin1 byte string (one character a byte)
 */
export function parseMaps(bytes: string): MapsDocument {
  const parser = new MapsParser(bytes);
  forEachLine(bytes, (line) => parser.takeLine(line));
  return parser.finish();
}

/** The mapping (or rollup) that field lines belong to. */
interface OpenMapping {
  /** What its lines are owned by: its index among the entries, or OUTSIDE for the rollup. */
  readonly owner: number;
  readonly line: number;
  /** '' for the rollup, which has no permissions of its own. */
  readonly perms: string;
  /** Characters that a logger put before the header, and so before its fields. */
  readonly prefixLength: number;
  /** Null until the first field. */
  record: SmapsRecord | null;
}

class MapsParser {
  private readonly entries: EntryDraft[] = [];
  /** Fields of the entry with the same index; null while it has none. */
  private readonly records: (SmapsRecord | null)[] = [];
  private rollup: { readonly header: EntryDraft; readonly record: SmapsRecord } | null = null;
  private readonly problems = new ProblemList();
  private readonly fields = new FieldScanner();
  private readonly blockEnds: number[] = [];
  private readonly blockOwners: number[] = [];
  /** Null before the first mapping, and where the one that field lines would belong to was refused or lost. */
  private current: OpenMapping | null = null;
  private hasFields = false;
  private layout: 'gdb' | 'sanitizer' | null = null;
  /** A mapping was refused or lost: something was there, even if no entry came of it. */
  private refused = false;
  /** There were fields before the first mapping. */
  private strayFields = false;

  constructor(private readonly text: string) {}

  takeLine(line: LineCursor): void {
    const owner = this.ownerOf(line);
    const last = this.blockOwners.length - 1;
    if (this.blockOwners[last] === owner) {
      this.blockEnds[last] = line.after;
    } else {
      this.blockOwners.push(owner);
      this.blockEnds.push(line.after);
    }
  }

  private ownerOf(line: LineCursor): number {
    const { text } = this;
    const from = line.number === 1 && text.startsWith(UTF8_BOM) ? line.from + UTF8_BOM.length : line.from;
    if (hexDigit(text.charCodeAt(from)) >= 0) {
      const scanned = scanHeader(text, from, line.to, line.number);
      if (!isFault(scanned)) return this.begin(scanned, from - line.from, line);
      if (hasAllColumns(scanned)) return this.refuse(scanned, line);
    }
    const field = this.fieldIn(from, line.to);
    if (field !== null && isSureField(field)) return this.takeField(field, line);
    const prefixed = findPrefixedHeader(text, from, line.to, line.number);
    if (prefixed !== null) {
      if (isFault(prefixed.scanned)) return this.refuse(prefixed.scanned, line);
      return this.begin(prefixed.scanned, from - line.from + prefixed.prefixLength, line);
    }
    if (field !== null && this.mayBeText(field)) return this.takeField(field, line);
    return this.takeOther(from, line);
  }

  /** Starts the entry of a header line. */
  private begin(scanned: EntryDraft, prefixLength: number, line: LineCursor): number {
    if (line.open && this.isCutHeader(scanned, line.to)) return this.refuse(CUT_HEADER, line);
    const { path, perms } = scanned;
    // Not every line ends in CR, yet nothing but CR is no path.
    const entry = path !== '' && trimCr(path, 0, path.length) === 0 ? { ...scanned, path: '' } : scanned;
    if (path === ROLLUP_PATH) {
      if (this.rollup !== null) return this.refuse(SECOND_ROLLUP, line);
      const record = new SmapsRecord(line.number);
      this.rollup = { header: entry, record };
      this.current = { owner: OUTSIDE, line: line.number, perms: '', prefixLength, record };
      return OUTSIDE;
    }
    const owner = this.entries.length;
    this.entries.push(entry);
    this.records.push(null);
    this.current = { owner, line: line.number, perms, prefixLength, record: null };
    return owner;
  }

  /**
   * A header without its newline whose end is missing for sure: a file's inode without a path, the blanks
   * before a name without the name, a bracket that does not close.
   */
  private isCutHeader(entry: EntryDraft, to: number): boolean {
    if (entry.path !== '') return entry.path.startsWith('[') && !entry.path.endsWith(']');
    if (entry.inode === '') return false;
    return (
      entry.inode !== '0' || (isBlank(this.text.charCodeAt(to - 1)) && isBlank(this.text.charCodeAt(to - 2)))
    );
  }

  private refuse(fault: LineFault, line: LineCursor): number {
    this.problems.add(line.number, fault.code, `${fault.text}: this mapping is left out`);
    return this.skip();
  }

  /** Field lines that follow belong to nothing that could be read. */
  private skip(): number {
    this.refused = true;
    this.current = null;
    return OUTSIDE;
  }

  /** The field line in `text[from, to)`, perhaps behind the prefix that its header had. */
  private fieldIn(from: number, to: number): FieldLine | null {
    const nth = this.current?.record?.count ?? 0;
    const behind = from + (this.current?.prefixLength ?? 0);
    if (behind > from && behind < to && isPrefixEnd(this.text, behind - 1)) {
      const field = this.fields.scan(this.text, behind, to, nth);
      if (field !== null) return field;
    }
    return this.fields.scan(this.text, from, to, nth);
  }

  /** Text after a colon may be anything: it is a field only among fields, or as Android's `Name:`. */
  private mayBeText(field: FieldLine): boolean {
    if (field.kind === 'flags') return false;
    if (field.value.kind === 'text' && readErrorIn(field.value.text) !== null) return false;
    if (this.current === null) return this.refused;
    return this.current.record !== null || field.name === 'Name';
  }

  private takeField(field: FieldLine, line: LineCursor): number {
    const current = this.current;
    if (current === null) {
      if (this.refused) return OUTSIDE;
      if (!isTypicalField(field)) return this.takeStray(line);
      this.strayFields = true;
      this.problems.addToRun(line.number, 'field-without-mapping', 'an smaps field before any address range');
      return OUTSIDE;
    }
    if (current.record === null && !this.hasFields && !isTypicalField(field)) return this.takeStray(line);
    const record = current.record ?? this.startRecord(current);
    if (line.open && isCutField(field, current.perms)) return this.cutIn(current, record, line);
    if (record.add(field, line.number, this.problems)) return current.owner;
    const what = `${nameOfField(field)} a second time in the mapping of line ${current.line}`;
    this.problems.add(
      line.number,
      'lost-header',
      `${what}: the address range before it must be lost, fields are left out up to the next one`,
    );
    return this.skip();
  }

  /** `Threads: 5` below the maps in a crash report does not make it an smaps. */
  private takeStray(line: LineCursor): number {
    this.problems.addToRun(line.number, 'not-a-maps-line', 'neither an address range nor an smaps field');
    return OUTSIDE;
  }

  private startRecord(current: OpenMapping): SmapsRecord {
    const record = new SmapsRecord(current.line);
    current.record = record;
    this.records[current.owner] = record;
    this.hasFields = true;
    return record;
  }

  private cutIn(current: OpenMapping, record: SmapsRecord, line: LineCursor): number {
    record.cut = true;
    const lacks = `what the mapping of line ${current.line} lacks is unknown`;
    this.problems.add(line.number, 'cut-off', `the text ends inside line ${line.number}: ${lacks}`);
    return current.owner;
  }

  /** A line that is neither a maps line nor a field. */
  private takeOther(from: number, line: LineCursor): number {
    if (skipInvisible(this.text, from, line.to) === line.to) return OUTSIDE;
    const row = this.text.slice(from, line.to);
    if (isSanitizerFrame(row) || isGdbFrame(row)) return OUTSIDE;
    const gdb = scanGdbRow(row, line.number);
    if (gdb !== null) return this.takeRow(gdb, 'gdb', line);
    const sanitizer = scanSanitizerRow(row, line.number);
    if (sanitizer !== null) return this.takeRow(sanitizer, 'sanitizer', line);
    if (line.open && this.isCutOff(from, line.to)) {
      const record = this.current?.record ?? null;
      if (this.current !== null && record !== null && record.vmFlags === null) {
        return this.cutIn(this.current, record, line);
      }
      this.problems.add(line.number, 'cut-off', `the text ends inside line ${line.number}`);
      return this.skip();
    }
    return this.takeJunk(row, from, line);
  }

  private takeRow(row: EntryDraft | LineFault, layout: 'gdb' | 'sanitizer', line: LineCursor): number {
    if (isFault(row)) return this.refuse(row, line);
    if (this.layout === null) {
      this.layout = layout;
      this.problems.add(line.number, `${layout}-layout`, LAYOUT_WORDS[layout]);
    }
    return this.begin(row, 0, line);
  }

  /** Is the last line, without its newline, the beginning of a maps line or of a field? */
  private isCutOff(from: number, to: number): boolean {
    const scanned = scanHeader(this.text, from, to, 0);
    if (isFault(scanned) && scanned.code === 'cut-off') return true;
    return this.hasFields && skipWord(this.text, from, to) === to;
  }

  private takeJunk(row: string, from: number, line: LineCursor): number {
    const error = readErrorIn(row);
    if (error !== null) {
      this.problems.addToRun(line.number, 'read-error', `not a maps line; looks like a read error: ${error}`);
      return OUTSIDE;
    }
    if (beginsWithRange(this.text, from, line.to)) {
      const fault = scanHeader(this.text, from, line.to, 0);
      this.problems.addToRun(line.number, 'bad-columns', isFault(fault) ? fault.text : 'not a maps line');
      return this.skip();
    }
    return this.takeStray(line);
  }

  finish(): MapsDocument {
    const { text, entries } = this;
    if (this.hasFields) this.finishRecords();
    const rollup = this.finishRollup();
    findTornReads(entries, this.problems);
    const found = entries.length > 0 || rollup !== null || this.refused || this.strayFields;
    return {
      kind: this.kind(),
      entries,
      rollup,
      problems: found ? this.problems.finish() : [nothingFound(text)],
      source: {
        text,
        blockEnds: this.blockEnds,
        blockOwners: this.blockOwners,
        noFinalNewline: text !== '' && text.charCodeAt(text.length - 1) !== LF,
      },
    };
  }

  /**
   * Hands the fields to their entries and says which records end early. In an smaps every mapping has
   * fields: where there are none they are missing, not zero.
   */
  private finishRecords(): void {
    const records = this.entries.map((entry, index) => this.records[index] ?? new SmapsRecord(entry.line));
    const incomplete = incompleteRecords(records);
    this.entries.forEach((entry, index) => {
      const record = records[index];
      if (record === undefined) return;
      entry.smaps = record.finish(!incomplete.has(record));
      if (incomplete.has(record)) this.tellIncomplete(record, index === records.length - 1);
    });
  }

  private finishRollup(): SmapsRollup | null {
    if (this.rollup === null) return null;
    const { header, record } = this.rollup;
    const complete = isCompleteRollup(record);
    if (!complete) this.tellIncomplete(record, true);
    return { line: header.line, start: header.start, end: header.end, smaps: record.finish(complete) };
  }

  private tellIncomplete(record: SmapsRecord, isLast: boolean): void {
    if (record.cut) return;
    const what = `${isLast ? 'the text ends inside' : 'lines are missing from'} the mapping of line ${record.headerLine}`;
    this.problems.add(record.lastLine, 'incomplete-mapping', `${what}: fields that it lacks are unknown`);
  }

  private kind(): MapsKind {
    if (this.entries.length === 0) return this.rollup === null ? 'unknown' : 'smaps_rollup';
    return this.hasFields ? 'smaps' : (this.layout ?? 'maps');
  }
}

const UTF8_BOM = '\xef\xbb\xbf';

const CUT_HEADER: LineFault = { code: 'cut-off', text: 'the text ends inside this line' };

const SECOND_ROLLUP: LineFault = { code: 'second-rollup', text: 'a second rollup in one text' };

const LAYOUT_WORDS = {
  gdb: "gdb's info proc mappings: device and inode are not in it",
  sanitizer: 'a process map printed by a sanitizer: permissions, offset, device and inode are not in it',
} as const;

/** A number or flags: nothing else that follows `NAME:` can be mistaken for them. */
function isSureField(field: FieldLine): boolean {
  return field.kind === 'flags' || field.value.kind === 'number';
}

/** Can it be the first field of an smaps? */
function isTypicalField(field: FieldLine): boolean {
  if (field.kind === 'flags' || isKilobyteField(field.name) || field.name === 'Name') return true;
  return field.value.kind === 'number' && field.value.unit === 'kB';
}

/** The one problem of a text in which nothing was found. */
function nothingFound(text: string): { line: number; code: string; text: string } {
  const from = skipInvisible(text, 0, text.length);
  if (from < text.length) {
    return { line: lineNumberAt(text, from), code: 'not-maps', text: describeNotMaps(text.slice(from)) };
  }
  const words = 'no mappings: a kernel thread, a zombie and a process that has exited have none';
  return { line: 1, code: 'empty-text', text: words };
}

/** Two page-aligned hex numbers with a dash: what is left of a maps line, unlike `06-27` of a date. */
function beginsWithRange(text: string, from: number, to: number): boolean {
  const startTo = skipHex(text, from, to);
  if (startTo - from < 4 || text.charCodeAt(startTo) !== DASH || !isPageAlignedHex(text, from, startTo))
    return false;
  const endTo = skipHex(text, startTo + 1, to);
  return endTo - startTo > 4 && (endTo === to || skipBlanks(text, endTo, to) > endTo);
}
