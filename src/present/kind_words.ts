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
  /** One sentence for a tooltip. */
  readonly words: string;
}

/** How each kind is called and drawn. */
const KIND_ROWS: Readonly<Record<Kind, KindRow>> = {
  code: { label: 'Code', icon: 'file-code', words: 'Executable mappings of files: programs and libraries.' },
  data: {
    label: 'Data',
    icon: 'file-binary',
    words: 'Other private pieces of files that have code here: constants, tables, variables.',
  },
  heap: { label: 'Heap', icon: 'database', words: 'Memory that brk hands out, the first heap of malloc.' },
  stack: {
    label: 'Stack',
    icon: 'layers',
    words: 'The stack of the first thread. Stacks of other threads are ordinary mappings.',
  },
  anonymous: {
    label: 'Anonymous',
    icon: 'circle-large-outline',
    words: 'Private memory without a file and without a name.',
  },
  generated: {
    label: 'Generated code',
    icon: 'zap',
    words: 'Private executable memory without a file and without a name: code made at run time.',
  },
  named: {
    label: 'Named anonymous',
    icon: 'tag',
    words: 'Private memory that was given a name with PR_SET_VMA_ANON_NAME.',
  },
  shared: {
    label: 'Shared',
    icon: 'references',
    words: 'Memory that several processes can write to: shared mappings of files, or without any file.',
  },
  memfd: {
    label: 'memfd',
    icon: 'file-submodule',
    words: 'Files in memory without a place in any folder (memfd_create).',
  },
  sysv: { label: 'System V shared memory', icon: 'references', words: 'Segments of shmget and shmat.' },
  hugetlb: {
    label: 'Huge pages',
    icon: 'primitive-square',
    words: 'Memory in huge pages set aside by the administrator (hugetlbfs).',
  },
  file: { label: 'Files', icon: 'file', words: 'Private mappings of files that have no code here.' },
  device: { label: 'Devices', icon: 'chip', words: 'Mappings of devices.' },
  socket: { label: 'Sockets', icon: 'plug', words: 'Ring buffers of sockets.' },
  'anon-inode': {
    label: 'Anonymous inodes',
    icon: 'symbol-event',
    words: 'Mappings of kernel objects that only have a descriptor: io_uring, perf events, …',
  },
  special: {
    label: 'Mapped by the kernel',
    icon: 'gear',
    words: 'What the kernel itself maps into every process: [vdso], [vvar] and the like.',
  },
};

export function kindLabel(kind: Kind): string {
  return KIND_ROWS[kind].label;
}

/** What a kind is, in one sentence. */
export function kindInWords(kind: Kind): string {
  return KIND_ROWS[kind].words;
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
      if (group.owner === undefined) return group.kind === undefined ? '' : kindLabel(group.kind);
      return `${group.kind === 'named' ? 'Named' : 'Shared'}: ${printable(group.owner)}`;
    }
    case 'perms':
      return printable(group.entries[0]?.perms ?? '') || 'not told';
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
