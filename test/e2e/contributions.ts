import { readFileSync } from 'node:fs';
import type { CommandId } from '../../src/extension/ids';

interface Manifest {
  readonly displayName: string;
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category?: string;
    }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string; readonly name: string }[]>>;
    readonly viewsContainers: { readonly activitybar: readonly { readonly title: string }[] };
  };
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

const manifest = readJson('package.json') as Manifest;

/** The title of a command as the command palette shows it. */
export function paletteTitle(id: CommandId): string {
  const command = manifest.contributes.commands.find((each) => each.command === id);
  if (command === undefined) throw new Error(`package.json has no command ${id}`);
  return command.category === undefined ? command.title : `${command.category}: ${command.title}`;
}

/** The title of a command as menus and buttons show it. */
export function commandTitle(id: CommandId): string {
  return paletteTitle(id).replace(/^[^:]*: /, '');
}

/** The title of a view. */
export function viewTitle(id: string): string {
  const views = Object.values(manifest.contributes.views).flat();
  const view = views.find((each) => each.id === id);
  if (view === undefined) throw new Error(`package.json has no view ${id}`);
  return view.name;
}

export function containerTitle(): string {
  return manifest.contributes.viewsContainers.activitybar[0]?.title ?? '';
}
