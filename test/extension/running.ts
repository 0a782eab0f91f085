import type { TreeNode } from '../../src/present/tree_node';
import { VIEWS } from '../../src/extension/ids';
import { FakeWindow, Uri, fakeVscode, type FakeTreeView } from './fake_vscode';

/** The workspace's memory, kept over a restart of the extension. */
export class FakeMemento {
  private readonly values = new Map<string, unknown>();
  get(key: string): unknown {
    return this.values.get(key);
  }
  update(key: string, value: unknown): Promise<void> {
    // As VS Code does it: what is kept is JSON.
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, JSON.parse(JSON.stringify(value)));
    return Promise.resolve();
  }
}

type ViewName = keyof typeof VIEWS;

/** The extension, activated in a window that is not there. */
export class Running {
  private readonly subscriptions: { dispose(): unknown }[] = [];

  constructor(
    readonly window: FakeWindow,
    readonly memory = new FakeMemento(),
  ) {}

  async activate(): Promise<this> {
    const { activate } = await import('../../src/extension/extension');
    const extensionUri = Uri.file(new URL('../..', import.meta.url).pathname.replace(/\/$/, ''));
    activate({ subscriptions: this.subscriptions, extensionUri, workspaceState: this.memory } as never);
    return this;
  }

  dispose(): void {
    for (const subscription of this.subscriptions.reverse()) subscription.dispose();
  }

  /** Runs a command as a menu, a link or the palette does. */
  async run(id: string, ...args: readonly unknown[]): Promise<void> {
    const handler = this.window.commands.get(id);
    if (handler === undefined) throw new Error(`no command ${id}`);
    await handler(...args);
    await this.settle();
  }

  /** Lets promises that nobody waits for come to their end. */
  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  view(name: ViewName): FakeTreeView {
    const view = this.window.views.get(VIEWS[name]);
    if (view === undefined) throw new Error(`no view ${name}`);
    return view;
  }

  /** Looks at a view: its rows, or those below the labels. */
  async rows(name: ViewName, ...labels: readonly string[]): Promise<readonly TreeNode[]> {
    const { provider } = this.view(name);
    let rows = (await provider.getChildren()) as TreeNode[];
    for (const label of labels) {
      const parent = rows.find((row) => row.label === label);
      if (parent === undefined)
        throw new Error(`no row ${label} among ${rows.map((row) => row.label).join(', ')}`);
      rows = (await provider.getChildren(parent)) as TreeNode[];
    }
    return rows;
  }

  /** The row that the labels lead to. */
  async row(name: ViewName, ...labels: readonly [...string[], string]): Promise<TreeNode> {
    const last = labels.at(-1);
    const rows = await this.rows(name, ...labels.slice(0, -1));
    const row = rows.find(({ label }) => label === last);
    if (row === undefined)
      throw new Error(`no row ${last ?? ''} among ${rows.map(({ label }) => label).join(', ')}`);
    return row;
  }

  /** Clicks on a row. */
  async click(name: ViewName, row: TreeNode): Promise<void> {
    const item = this.view(name).provider.getTreeItem(row);
    const command = item['command'] as { command: string; arguments: unknown[] } | undefined;
    if (command === undefined) throw new Error(`a click on ${row.label} does nothing`);
    await this.run(command.command, ...command.arguments);
  }
}

/** Puts a fresh window behind the mocked module and starts the extension in it. */
export async function startExtension(
  module: Record<string, unknown>,
  memory?: FakeMemento,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Running> {
  const window = new FakeWindow();
  window.settings = settings;
  Object.assign(module, fakeVscode(window));
  return new Running(window, memory).activate();
}
