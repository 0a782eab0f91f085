/**
 * Who names anonymous memory, and how. Allocators and runtimes call prctl(PR_SET_VMA_ANON_NAME) (Android's
 * also name ashmem and memfd areas) with texts of their own; one row here turns a family of such texts into
 * one owner. The rules see the name only, so an owner is what the name says, not proof of who made it.
 *
 * First match wins. `prefix` is compared with the name as the kernel gives it, leading space included.
 */
export interface NameRule {
  /** Stable id, used in JSON and as part of tree ids. */
  readonly id: string;
  /** What a person reads. */
  readonly label: string;
  /** The name starts with one of these… */
  readonly prefixes?: readonly string[];
  /** …or is exactly one of these… */
  readonly names?: readonly string[];
  /** …or holds this word, whatever the case, with no letter on either side. */
  readonly word?: string;
}

export const NAME_RULES: readonly NameRule[] = [
  // Go 1.25 names its heap, its reservations and its metadata.
  { id: 'go', label: 'Go', prefixes: [' Go: ', 'Go: '] },
  // glibc 2.39 with glibc.mem.decorate_maps: arenas, large blocks, thread stacks, the loader.
  { id: 'glibc', label: 'glibc', prefixes: [' glibc: ', 'glibc: '] },
  { id: 'jemalloc', label: 'jemalloc', prefixes: ['jemalloc'] },
  { id: 'scudo', label: 'Scudo', prefixes: ['scudo:', 'scudo_'] },
  { id: 'tcmalloc', label: 'TCMalloc', prefixes: ['tcmalloc'] },
  { id: 'partition-alloc', label: 'PartitionAlloc', prefixes: ['partition_alloc'] },
  { id: 'mimalloc', label: 'mimalloc', prefixes: ['mimalloc'] },
  { id: 'absl', label: 'Abseil', names: ['absl'] },
  // The Android runtime: Java heaps, code caches, boot images.
  { id: 'dalvik', label: 'Android Runtime (dalvik)', prefixes: ['dalvik-'] },
  {
    id: 'bionic',
    label: 'bionic',
    prefixes: [
      'libc_malloc',
      'bionic',
      'stack_and_tls:',
      'thread signal stack',
      'linker',
      'GWP-ASan',
      'cfi shadow',
    ],
    names: ['.bss', 'arc4random data', 'atexit handlers', 'property context nodes', 'crash details'],
  },
  { id: 'v8', label: 'V8', prefixes: ['v8-', 'v8:'], names: ['v8', 'JS_V8'] },
  { id: 'spidermonkey', label: 'SpiderMonkey', prefixes: ['js-', 'wasm-reserved'] },
  { id: 'arkts', label: 'ArkTS', prefixes: ['ArkTS '] },
  { id: 'cpython', label: 'CPython', prefixes: ['cpython:'] },
  { id: 'php', label: 'PHP (Zend)', prefixes: ['zend_'] },
  // Last, because many of the above have a JIT of their own.
  { id: 'jit', label: 'JIT code', word: 'jit' },
];

/** The owner a name points to. */
export interface NameOwner {
  readonly id: string;
  readonly label: string;
}

/**
 * The owner that a name announces: by a rule, else by what stands before its first colon (`mylib: pool` gives
 * `mylib`), else undefined. Blanks around a prefix are dropped for the label only.
 */
export function ownerOfName(name: string, rules: readonly NameRule[] = NAME_RULES): NameOwner | undefined {
  for (const rule of rules) {
    if (ruleMatches(rule, name)) return { id: rule.id, label: rule.label };
  }
  const colon = name.indexOf(':');
  const prefix = colon > 0 ? name.slice(0, colon).trim() : '';
  return prefix === '' ? undefined : { id: `prefix:${prefix}`, label: prefix };
}

function ruleMatches(rule: NameRule, name: string): boolean {
  if (rule.names?.includes(name) === true) return true;
  if (rule.prefixes?.some((prefix) => name.startsWith(prefix)) === true) return true;
  return rule.word !== undefined && hasWord(name.toLowerCase(), rule.word);
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  }
  return false;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /\p{L}/u.test(character);
}
