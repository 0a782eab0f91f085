import * as vscode from 'vscode';
import { bytesOfText } from '../../base/bytes';
import { filterProblem } from '../../analysis/filter';
import { GROUPINGS, type GroupBy } from '../../analysis/grouping';
import { addressText, mappingName, rangeText } from '../../present/entry_text';
import type { MapsEntry } from '../../procfs/maps_entry';
import { formatMapsLine } from '../../procfs/format_maps';
import type { App, CommandTable } from '../app';
import { COMMANDS } from '../ids';
import { subjectOfKind } from './arguments';

export function addressSpaceCommands(app: App): CommandTable {
  const copying =
    (text: (entry: MapsEntry) => string) =>
    async (argument: unknown): Promise<void> => {
      const mapping = subjectOfKind(argument, 'mapping');
      if (mapping !== undefined) await vscode.env.clipboard.writeText(text(mapping.entry));
    };
  return {
    [COMMANDS.refresh]: () => refresh(app),
    [COMMANDS.groupBy]: () => chooseGrouping(app),
    [COMMANDS.filterAddressSpace]: () => filterAddressSpace(app),
    [COMMANDS.clearAddressSpaceFilter]: () => app.views.addressSpace.setFilter(''),
    [COMMANDS.closeTarget]: () => app.target.clear(),
    [COMMANDS.copyAddress]: copying((entry) => `0x${addressText(entry.start).replace(/^0+(?=.)/, '')}`),
    [COMMANDS.copyRange]: copying(rangeText),
    [COMMANDS.copyName]: copying(mappingName),
    [COMMANDS.copyMapsLine]: copying(mapsLine),
  };
}

/** The maps line as text: a clipboard holds text, not bytes. */
function mapsLine(entry: MapsEntry): string {
  const line = formatMapsLine(entry);
  const path = bytesOfText(entry.path).replaceAll('\n', '\\012');
  return path === '' ? line : line.replace(path, () => mappingName(entry).replace(/ \(deleted\)$/, ''));
}

async function refresh(app: App): Promise<void> {
  app.views.processes.refresh();
  const error = await app.target.refresh();
  if (error !== undefined) await app.reporter.report({ kind: 'source', error });
}

const GROUPING_WORDS: Readonly<Record<GroupBy, { readonly label: string; readonly detail: string }>> = {
  address: { label: 'Address', detail: 'Every mapping in order, as maps lists them' },
  mapping: { label: 'Mapping', detail: 'All pieces of a file; neighbours of equal name' },
  kind: { label: 'Kind', detail: 'Code, data, heap, stack, names by their owner, shared memory, …' },
  name: { label: 'Name', detail: 'The last column of maps' },
  perms: { label: 'Permissions', detail: 'Writable and executable memory first' },
};

async function chooseGrouping(app: App): Promise<void> {
  const current = app.views.addressSpace.groupBy;
  const items = GROUPINGS.map((groupBy) => ({
    groupBy,
    label: GROUPING_WORDS[groupBy].label,
    detail: GROUPING_WORDS[groupBy].detail,
    ...(groupBy === current ? { description: 'current' } : {}),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Group Address Space By',
    placeHolder: `Now by ${GROUPING_WORDS[current].label.toLowerCase()}`,
  });
  if (picked !== undefined) await app.views.addressSpace.setGroupBy(picked.groupBy);
}

async function filterAddressSpace(app: App): Promise<void> {
  const filter = await vscode.window.showInputBox({
    title: 'Filter Address Space',
    prompt: 'Text, an address, perm:wx, flag:sl, name:"jit code". All words must match. Empty shows all.',
    value: app.views.addressSpace.filter,
    validateInput: filterProblem,
  });
  if (filter !== undefined) await app.views.addressSpace.setFilter(filter.trim());
}
