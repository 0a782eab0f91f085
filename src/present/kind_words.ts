import type { Group } from '../analysis/grouping';
import { nameOf } from '../analysis/grouping';
import type { Kind } from '../analysis/kind';
import { printable } from '../base/bytes';
import { shortName } from './entry_text';
import type { NodeIcon } from './tree_node';
import { permsInWords } from './words';

interface KindRow {
  readonly label: string;
  readonly icon: string;
}

/** How each kind is called and drawn. */
const KIND_ROWS: Readonly<Record<Kind, KindRow>> = {
  code: { label: 'Code', icon: 'file-code' },
  data: { label: 'Data of programs and libraries', icon: 'file-binary' },
  heap: { label: 'Heap', icon: 'database' },
  stack: { label: 'Stack', icon: 'layers' },
  anonymous: { label: 'Anonymous', icon: 'circle-large-outline' },
  generated: { label: 'Generated code', icon: 'zap' },
  named: { label: 'Named anonymous', icon: 'tag' },
  shared: { label: 'Shared', icon: 'references' },
  memfd: { label: 'memfd', icon: 'file-submodule' },
  sysv: { label: 'System V shared memory', icon: 'references' },
  hugetlb: { label: 'Huge pages', icon: 'primitive-square' },
  file: { label: 'Files', icon: 'file' },
  device: { label: 'Devices', icon: 'chip' },
  socket: { label: 'Sockets', icon: 'plug' },
  'anon-inode': { label: 'Anonymous inodes', icon: 'symbol-event' },
  special: { label: 'Mapped by the kernel', icon: 'gear' },
};

export function kindLabel(kind: Kind): string {
  return KIND_ROWS[kind].label;
}

export function kindIcon(kind: Kind): NodeIcon {
  return { id: KIND_ROWS[kind].icon };
}

/** The label of a group of mappings. */
export function groupLabel(group: Group): string {
  switch (group.by) {
    case 'address':
      return 'Mappings';
    case 'kind': {
      const kind = group.kind === undefined ? '' : kindLabel(group.kind);
      return group.owner === undefined ? kind : `${kind}: ${printable(group.owner)}`;
    }
    case 'perms':
      return printable(group.entries[0]?.perms ?? '');
    case 'mapping':
      return shortName(nameOf(group));
    case 'name':
      return nameOf(group) === '' ? 'no name' : shortName(nameOf(group));
  }
}

/** What a person reads beside the label: permissions in words, the folder of a file; '' for nothing. */
export function groupDetail(group: Group): string {
  if (group.by === 'perms') return permsInWords(group.entries[0]?.perms ?? '');
  return '';
}
