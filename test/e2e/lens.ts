import { COMMANDS, VIEWS, type CommandId } from '../../src/extension/ids';
import { containerTitle, paletteTitle, viewTitle } from './contributions';
import type { TreeView } from './tree_view';
import type { Workbench } from './workbench';

/** VMA Lens in a window: its views and commands by what they are, not by their titles. */
export class Lens {
  readonly processes: TreeView;
  readonly addressSpace: TreeView;
  readonly sharedNames: TreeView;
  readonly traces: TreeView;

  constructor(readonly workbench: Workbench) {
    this.processes = workbench.view(viewTitle(VIEWS.processes));
    this.addressSpace = workbench.view(viewTitle(VIEWS.addressSpace));
    this.sharedNames = workbench.view(viewTitle(VIEWS.sharedNames));
    this.traces = workbench.view(viewTitle(VIEWS.traces));
  }

  get views(): readonly TreeView[] {
    return [this.processes, this.addressSpace, this.sharedNames, this.traces];
  }

  async open(): Promise<void> {
    await this.workbench.openContainer(containerTitle());
  }

  /** Opens these sections and shuts the others, which gives them the whole side bar. */
  async showOnly(...views: readonly TreeView[]): Promise<void> {
    await this.open();
    for (const view of views) await view.open();
    for (const view of this.views) if (!views.includes(view)) await view.shut();
  }

  run(id: CommandId): Promise<void> {
    return this.workbench.runCommand(paletteTitle(id));
  }

  /** Runs a command that asks for text, and answers. */
  async runWith(id: CommandId, text: string): Promise<void> {
    await this.run(id);
    await this.workbench.quickInput.answer(text);
  }

  /** Runs a command that asks for a choice, and chooses. */
  async runAndChoose(id: CommandId, label: string | RegExp): Promise<void> {
    await this.run(id);
    await this.workbench.quickInput.choose(label);
  }

  /** Opens the example and waits until its replay is there: only then are its commands offered. */
  async openExample(): Promise<void> {
    await this.run(COMMANDS.openExample);
    await this.workbench.statusBar(/line \d+\//).waitFor();
  }

  /** Inspects a process as a person would who knows its number. */
  async inspect(pid: number): Promise<void> {
    await this.run(COMMANDS.inspectProcess);
    const { quickInput } = this.workbench;
    await quickInput.type(String(pid));
    await quickInput.chooseItem((item) => item.description.startsWith(`${pid} `), `process ${pid}`);
  }
}
