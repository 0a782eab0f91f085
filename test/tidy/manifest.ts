/** The part of package.json that VS Code reads, as far as the rule below needs it. */
export interface Manifest {
  readonly activationEvents?: readonly string[];
  readonly contributes: {
    readonly commands?: readonly { readonly command: string; readonly enablement?: string }[];
    readonly viewsContainers?: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly views?: Readonly<Record<string, readonly { readonly id: string; readonly when?: string }[]>>;
    readonly viewsWelcome?: readonly {
      readonly view: string;
      readonly contents: string;
      readonly when?: string;
    }[];
    readonly menus?: Readonly<
      Record<string, readonly { readonly command?: string; readonly when?: string }[]>
    >;
    readonly keybindings?: readonly { readonly command: string; readonly when?: string }[];
    readonly configuration?: { readonly properties: Readonly<Record<string, unknown>> };
    readonly colors?: readonly { readonly id: string }[];
  };
}

/** The ids as src/extension/ids.ts has them: each a table of names to ids. */
export interface Ids {
  readonly commands: Readonly<Record<string, string>>;
  readonly views: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly contextKeys: Readonly<Record<string, string>>;
  readonly colors: Readonly<Record<string, string>>;
  readonly viewContainer: string;
}

/** Every id that VS Code knows us by exists in package.json and in ids.ts, and is used where it can be. */
export function manifestProblems(manifest: Manifest, ids: Ids): readonly string[] {
  const { contributes } = manifest;
  const commands = (contributes.commands ?? []).map(({ command }) => command);
  const views = Object.values(contributes.views ?? {}).flatMap((list) => list.map(({ id }) => id));
  const containers = Object.values(contributes.viewsContainers ?? {}).flatMap((list) =>
    list.map(({ id }) => id),
  );
  const whens = whenClauses(manifest);
  const keys = new Set(whens.flatMap((when) => contextKeysOf(when)));
  const inWhens = (name: string): readonly string[] =>
    whens.flatMap((when) =>
      [...when.matchAll(new RegExp(`\\b${name} ==+ ([\\w.-]+)`, 'g'))].map((m) => m[1] ?? ''),
    );
  return [
    ...bothWays('command', commands, Object.values(ids.commands)),
    ...bothWays('view', views, Object.values(ids.views)),
    ...bothWays(
      'setting',
      Object.keys(contributes.configuration?.properties ?? {}),
      Object.values(ids.settings),
    ),
    ...bothWays('context key', [...keys], Object.values(ids.contextKeys)),
    ...bothWays(
      'colour',
      (contributes.colors ?? []).map(({ id }) => id),
      Object.values(ids.colors),
    ),
    ...bothWays('view container', containers, [ids.viewContainer]),
    ...unknown('command', commandsNamed(manifest), commands),
    ...unknown(
      'view',
      [...inWhens('view'), ...(contributes.viewsWelcome ?? []).map(({ view }) => view)],
      views,
    ),
  ];
}

function bothWays(what: string, manifest: readonly string[], ids: readonly string[]): readonly string[] {
  return [
    ...manifest
      .filter((id) => !ids.includes(id))
      .map((id) => `${what} ${id} is in package.json but not in ids.ts`),
    ...ids
      .filter((id) => !manifest.includes(id))
      .map((id) => `${what} ${id} is in ids.ts but not in package.json`),
  ];
}

/** Uses of an id of ours that nothing contributes. */
function unknown(what: string, used: readonly string[], known: readonly string[]): readonly string[] {
  const ours = used.filter((id) => OURS.test(id) && !known.includes(id));
  return [...new Set(ours)].map((id) => `${what} ${id} is used in package.json but not contributed`);
}

const OURS = /^vma-?lens\b/i;

function whenClauses({ contributes }: Manifest): readonly string[] {
  const clauses = [
    ...(contributes.commands ?? []).map(({ enablement }) => enablement),
    ...Object.values(contributes.views ?? {}).flatMap((list) => list.map(({ when }) => when)),
    ...Object.values(contributes.menus ?? {}).flatMap((list) => list.map(({ when }) => when)),
    ...(contributes.viewsWelcome ?? []).map(({ when }) => when),
    ...(contributes.keybindings ?? []).map(({ when }) => when),
  ];
  return clauses.filter((when) => when !== undefined);
}

/** Our keys in a when clause: what stands to the right of a comparison is a value, `config.x` a setting. */
function contextKeysOf(when: string): readonly string[] {
  const operands = when.split(/&&|\|\|/).map((term) => term.replaceAll(/[!()]/g, '').trim());
  return operands.map((term) => term.split(/\s/)[0] ?? '').filter((key) => OURS.test(key));
}

/** Commands that menus, key bindings and welcome texts name. */
function commandsNamed({ contributes }: Manifest): readonly string[] {
  const inText = (contributes.viewsWelcome ?? []).flatMap(({ contents }) =>
    [...contents.matchAll(/\(command:([\w.-]+)/g)].map((match) => match[1] ?? ''),
  );
  const inMenus = Object.values(contributes.menus ?? {}).flatMap((list) =>
    list.map(({ command }) => command),
  );
  return [...inText, ...inMenus, ...(contributes.keybindings ?? []).map(({ command }) => command)].filter(
    (command) => command !== undefined,
  );
}
