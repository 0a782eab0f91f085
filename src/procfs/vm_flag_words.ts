import { VM_FLAG_TABLE } from '../mm/vm_flags';

/** What a two-letter mnemonic of smaps' VmFlags line means. */
export interface VmFlagWords {
  readonly mnemonic: string;
  /** Kernel name (`VM_DONTCOPY`); null where we know none. */
  readonly name: string | null;
  /** A sentence fragment for a person. */
  readonly words: string;
}

/**
 * Explains a mnemonic: the flags that the simulation knows, those that other kernels print (older ones, and
 * arm64), and `??`, which a kernel prints for a bit that it has no mnemonic for.
 */
export function explainVmFlag(mnemonic: string): VmFlagWords {
  return (
    FLAG_WORDS.get(mnemonic) ?? {
      mnemonic,
      name: null,
      words: 'a flag that this version of VMA Lens does not know',
    }
  );
}

/** show_smap_vma_flags in fs/proc/task_mmu.c of kernels and machines that the simulation has no rules for. */
const OTHER_KERNELS: readonly VmFlagWords[] = [
  { mnemonic: 'dw', name: 'VM_DENYWRITE', words: 'the mapped file may not be written (until 5.14)' },
  { mnemonic: 'nl', name: 'VM_NONLINEAR', words: 'pages in another order than in the file (until 3.19)' },
  { mnemonic: 'mp', name: 'VM_MPX', words: 'bounds tables of MPX (3.19 to 5.5)' },
  {
    mnemonic: 'bt',
    name: 'VM_ARM64_BTI',
    words: 'arm64: indirect branches only to their landing pads (BTI)',
  },
  { mnemonic: 'mt', name: 'VM_MTE', words: 'arm64: memory tags are checked (MTE)' },
  { mnemonic: '??', name: null, words: 'a flag that the kernel itself had no letters for' },
];

const FLAG_WORDS: ReadonlyMap<string, VmFlagWords> = new Map(
  [
    ...VM_FLAG_TABLE.flatMap(({ mnemonic, name, words }) =>
      mnemonic === null ? [] : [{ mnemonic, name, words }],
    ),
    ...OTHER_KERNELS,
  ].map((row) => [row.mnemonic, row]),
);
