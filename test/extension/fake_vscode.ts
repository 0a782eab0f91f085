/**
 * As much of the module `vscode` as the extension uses, in memory: what it shows can be asked for, what a person
 * would answer can be laid out beforehand. For `vi.mock('vscode', …)`.
 */

interface Listener<T> {
  (event: T): unknown;
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(event: T): void {
    for (const listener of this.listeners) listener(event);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

class Disposable {
  static from(...all: readonly { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((each) => each.dispose()));
  }
  constructor(private readonly onDispose: () => unknown) {}
  dispose(): void {
    this.onDispose();
  }
}

class ThemeColor {
  constructor(readonly id: string) {}
}

class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

class MarkdownString {
  isTrusted = false;
  supportHtml = false;
  supportThemeIcons = false;
  constructor(readonly value: string) {}
}

class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState: number,
  ) {}
}

const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
const QuickPickItemKind = { Separator: -1, Default: 0 };
const ProgressLocation = { Notification: 15 };
const StatusBarAlignment = { Left: 1, Right: 2 };

export class Uri {
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static parse(text: string): Uri {
    const [scheme = '', path = ''] = text.split('://');
    return new Uri(scheme, path);
  }
  static joinPath(base: Uri, ...parts: readonly string[]): Uri {
    return new Uri(base.scheme, [base.path, ...parts].join('/'));
  }
  constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
}

class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}

/** A tree view as far as somebody outside sees it. */
export interface FakeTreeView {
  message: string;
  description: string;
  badge: { value: number; tooltip: string } | undefined;
  readonly provider: FakeProvider;
}

interface FakeProvider {
  getChildren(node?: unknown): Promise<unknown[]>;
  getTreeItem(node: unknown): TreeItem & Record<string, unknown>;
  getParent(node: unknown): unknown;
  resolveTreeItem(item: unknown, node: unknown): Promise<Record<string, unknown>>;
}

/** What the extension has shown, and what it will be answered. */
export class FakeWindow {
  readonly views = new Map<string, FakeTreeView>();
  readonly contexts = new Map<string, unknown>();
  readonly commands = new Map<string, (...args: unknown[]) => unknown>();
  readonly executed: string[] = [];
  readonly shown: { readonly severity: 'error' | 'warning'; readonly text: string }[] = [];
  readonly logged: string[] = [];
  readonly opened: { readonly uri: Uri; readonly line: number }[] = [];
  statusBar: { text: string; tooltip: string; visible: boolean } | undefined;
  statusMessage = '';
  clipboard = '';
  settings: Readonly<Record<string, unknown>> = {};
  /** Answer to the next input box or list: the text, or the label of the row. */
  answers: (string | undefined)[] = [];
  dialog: Uri | undefined;
}

/** The module, around a fresh window. */
export function fakeVscode(window: FakeWindow): Record<string, unknown> {
  return {
    ...{ EventEmitter, Disposable, ThemeColor, ThemeIcon, MarkdownString, TreeItem, Uri, Position, Range },
    ...{ TreeItemCollapsibleState, QuickPickItemKind, ProgressLocation, StatusBarAlignment },
    window: windowOf(window),
    commands: commandsOf(window),
    env: {
      clipboard: {
        writeText: (text: string) => {
          window.clipboard = text;
          return Promise.resolve();
        },
      },
    },
    workspace: {
      getConfiguration: () => ({ get: (key: string) => window.settings[key] }),
      fs: { readFile: () => Promise.reject(Object.assign(new Error('gone'), { code: 'FileNotFound' })) },
    },
  };
}

function commandsOf(window: FakeWindow): Record<string, unknown> {
  return {
    registerCommand: (id: string, handler: (...args: unknown[]) => unknown) => {
      window.commands.set(id, handler);
      return new Disposable(() => window.commands.delete(id));
    },
    executeCommand: (id: string, ...args: unknown[]) => {
      if (id === 'setContext') window.contexts.set(String(args[0]), args[1]);
      else window.executed.push(id);
      return Promise.resolve();
    },
  };
}

function windowOf(window: FakeWindow): Record<string, unknown> {
  const message =
    (severity: 'error' | 'warning') =>
    (text: string): Promise<undefined> => {
      window.shown.push({ severity, text });
      return Promise.resolve(undefined);
    };
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: () => new Disposable(() => undefined),
  };
  return {
    createOutputChannel: () => {
      const log = (text: string): void => void window.logged.push(text);
      return { info: log, warn: log, error: log, show: () => undefined, dispose: () => undefined };
    },
    createTreeView: (id: string, options: { readonly treeDataProvider: FakeProvider }) => {
      const view = {
        message: '',
        description: '',
        badge: undefined,
        visible: true,
        provider: options.treeDataProvider,
        onDidChangeVisibility: () => new Disposable(() => undefined),
        dispose: () => undefined,
      };
      window.views.set(id, view);
      return view;
    },
    createStatusBarItem: () => {
      const item = { text: '', tooltip: '', visible: false, show, hide, dispose: () => undefined };
      function show(): void {
        item.visible = true;
      }
      function hide(): void {
        item.visible = false;
      }
      window.statusBar = item;
      return item;
    },
    withProgress: (_options: unknown, work: (progress: unknown, token: unknown) => unknown) =>
      work({ report: () => undefined }, token),
    showErrorMessage: message('error'),
    showWarningMessage: message('warning'),
    setStatusBarMessage: (text: string) => {
      window.statusMessage = text;
    },
    showInputBox: () => Promise.resolve(window.answers.shift()),
    showQuickPick: (items: readonly { readonly label: string }[]) => {
      const answer = window.answers.shift();
      return Promise.resolve(items.find((item) => item.label === answer));
    },
    createQuickPick: () => fakeQuickPick(window),
    showOpenDialog: () => Promise.resolve(window.dialog === undefined ? undefined : [window.dialog]),
    showTextDocument: (uri: Uri, options: { readonly selection: Range }) => {
      window.opened.push({ uri, line: options.selection.start.line + 1 });
      return Promise.resolve();
    },
  };
}

/** Accepts the row whose label is the next answer as soon as it is there; without an answer it is hidden. */
function fakeQuickPick(window: FakeWindow): Record<string, unknown> {
  const accepted = new EventEmitter<undefined>();
  const hidden = new EventEmitter<undefined>();
  const changed = new EventEmitter<string>();
  let items: readonly { readonly label: string }[] = [];
  const pick = {
    value: '',
    selectedItems: [] as { readonly label: string }[],
    onDidAccept: accepted.event,
    onDidHide: hidden.event,
    onDidChangeValue: changed.event,
    show: () => undefined,
    dispose: () => undefined,
    get items() {
      return items;
    },
    set items(value: readonly { readonly label: string }[]) {
      items = value;
      const answer = window.answers[0];
      const row = items.find((item) => item.label === answer);
      if (row !== undefined) {
        window.answers.shift();
        pick.selectedItems = [row];
        accepted.fire(undefined);
      } else if (answer === undefined) {
        hidden.fire(undefined);
      } else if (pick.value !== answer.replace(/^Process /, '')) {
        pick.value = answer.replace(/^Process /, '');
        changed.fire(pick.value);
      }
    },
  };
  return pick;
}
