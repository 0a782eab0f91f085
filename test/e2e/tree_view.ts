import type { Locator, Page } from 'playwright-core';
import { poll } from './poll';

const SCROLL_MS = 2000;
const CLICK_MS = 1000;
/** A busy machine takes a second or two until a view has its children. */
const OPEN_MS = 3000;

export interface TreeRow {
  readonly label: string;
  readonly description: string;
  /** What a screen reader says. */
  readonly ariaLabel: string;
  /** 1 for a row of the first level. */
  readonly level: number;
  /** undefined for a row that has no children. */
  readonly expanded: boolean | undefined;
  readonly selected: boolean;
  /** How many rows its parent has, this one included. */
  readonly siblings: number;
  /** Names of codicons in the icon: `lock`, … */
  readonly icons: readonly string[];
  /** Position among all rows of the tree, from 0. */
  readonly index: number;
}

export type RowTest = (row: TreeRow) => boolean;

/** Rows with this label, whole or by a pattern. */
export function labelled(label: string | RegExp): RowTest {
  return (row) => (typeof label === 'string' ? row.label === label : label.test(row.label));
}

/**
 * One view of the side bar. The workbench keeps only the visible rows of a tree in the document, so looking for a
 * row scrolls.
 */
export class TreeView {
  readonly pane: Locator;
  private readonly header: Locator;
  private readonly list: Locator;

  constructor(
    private readonly page: Page,
    readonly title: string,
  ) {
    this.pane = page.locator('.sidebar .pane', {
      // With a description beside the title the label reads `Traces - description Section`.
      has: page.locator(
        `:scope > .pane-header:is([aria-label="${title} Section"], [aria-label^="${title} - "])`,
      ),
    });
    this.header = this.pane.locator('> .pane-header');
    this.list = this.pane.locator('.monaco-list');
  }

  /** Opens the section. */
  async open(): Promise<void> {
    await this.header.waitFor();
    if ((await this.header.getAttribute('aria-expanded')) !== 'true')
      await this.header.locator('.title').click();
  }

  /** Closes the section, which gives its room to the others. */
  async shut(): Promise<void> {
    await this.header.waitFor();
    if ((await this.header.getAttribute('aria-expanded')) === 'true')
      await this.header.locator('.title').click();
  }

  /** What stands beside the title, such as the name of the target; '' for nothing. */
  async description(): Promise<string> {
    return (await this.header.locator('.description').allTextContents())[0] ?? '';
  }

  /** The message above the tree, '' if there is none. */
  async message(): Promise<string> {
    return (await this.pane.locator('.message:visible').allTextContents())[0] ?? '';
  }

  /** Waits until the message above the tree is like this. */
  async waitForMessage(like: RegExp): Promise<void> {
    await poll(`the message ${like} in ${this.title}`, async () => like.test(await this.message()));
  }

  /** Waits until what stands beside the title is like this. */
  async waitForDescription(like: RegExp): Promise<void> {
    await poll(`${like} beside ${this.title}`, async () => like.test(await this.description()));
  }

  /** What an empty view says, '' while it does not show it. */
  async welcome(): Promise<string> {
    return (await this.pane.locator('.welcome-view-content:visible').allInnerTexts())[0] ?? '';
  }

  /** The buttons of the welcome content. */
  welcomeButtons(): Promise<string[]> {
    return this.pane.locator('.welcome-view-content .monaco-button').allTextContents();
  }

  async pressWelcomeButton(label: string): Promise<void> {
    await this.pane.locator('.welcome-view-content .monaco-button', { hasText: label }).click();
  }

  /** Titles of the actions in the header; they show when the pointer is over the section. */
  async titleActions(): Promise<string[]> {
    await this.header.hover();
    return this.header
      .locator('.actions .action-item .action-label')
      .evaluateAll((items) => items.map((item) => item.getAttribute('aria-label') ?? ''));
  }

  async pressTitleAction(label: string): Promise<void> {
    await this.header.hover();
    await this.header.locator(`.actions .action-item .action-label[aria-label^="${label}"]`).click();
  }

  /** The rows in the document: those that are in view and perhaps a few around them. */
  visibleRows(): Promise<TreeRow[]> {
    return this.list.locator('.monaco-list-rows > .monaco-list-row').evaluateAll((rows) =>
      rows
        .map((row) => {
          const text = (selector: string): string => row.querySelector(selector)?.textContent ?? '';
          const expanded = row.getAttribute('aria-expanded');
          const icon = row.querySelector('.custom-view-tree-node-item-icon');
          return {
            label: text('.monaco-icon-name-container'),
            description: text('.label-description'),
            ariaLabel: row.getAttribute('aria-label') ?? '',
            level: Number(row.getAttribute('aria-level')),
            expanded: expanded === null ? undefined : expanded === 'true',
            siblings: Number(row.getAttribute('aria-setsize')),
            selected: row.getAttribute('aria-selected') === 'true',
            icons: [...(icon?.classList ?? [])]
              .filter((name) => name.startsWith('codicon-') && name !== 'codicon-colored')
              .map((name) => name.slice('codicon-'.length)),
            index: Number(row.getAttribute('data-index')),
          };
        })
        .sort((a, b) => a.index - b.index),
    );
  }

  /** All rows, from the top to the bottom. */
  async rows(): Promise<TreeRow[]> {
    const found = new Map<number, TreeRow>();
    await this.walk((rows) => {
      for (const row of rows) found.set(row.index, row);
      return false;
    });
    return [...found.values()].sort((a, b) => a.index - b.index);
  }

  /** Waits for a row that fits, and scrolls to it. */
  async findRow(fits: RowTest, what: string): Promise<TreeRow> {
    return poll(`a row in ${this.title}: ${what}`, async () => {
      let found: TreeRow | undefined;
      await this.walk((rows) => {
        found = rows.find(fits);
        return found !== undefined;
      });
      return found;
    });
  }

  /** Opens a row and waits for its children. */
  async expand(fits: RowTest, what: string): Promise<TreeRow> {
    return poll(`${what} in ${this.title} to open`, async () => {
      const row = await this.findRow(fits, what);
      // A click is lost where the tree is drawn anew in that moment: it is made again.
      if (row.expanded === false) {
        const twistie = this.locate(row).locator('.monaco-tl-twistie');
        await twistie.click({ timeout: CLICK_MS }).catch(() => undefined);
      }
      return poll(`${what} to show its children`, () => this.opened(fits), OPEN_MS).catch(() => undefined);
    });
  }

  /** The row, once it is open and a row below it is there, as far as that is in view. */
  private async opened(fits: RowTest): Promise<TreeRow | undefined> {
    const rows = await this.visibleRows();
    const row = rows.find((each) => fits(each) && each.expanded === true);
    if (row === undefined) return undefined;
    const below = rows.find((each) => each.index === row.index + 1);
    const isLast = rows.at(-1)?.index === row.index;
    return isLast || (below?.level ?? 0) > row.level ? row : undefined;
  }

  /** Waits for the rows one level below this one, which must be open. */
  async children(fits: RowTest, what: string): Promise<TreeRow[]> {
    return poll(`the rows below ${what} in ${this.title}`, async () => {
      const all = await this.rows();
      const parent = all.findIndex(fits);
      const top = all[parent];
      if (top === undefined) return false;
      const after = all.slice(parent + 1);
      const end = after.findIndex((row) => row.level <= top.level);
      const below = after.slice(0, end < 0 ? undefined : end).filter((row) => row.level === top.level + 1);
      return below.length > 0 && below;
    });
  }

  async click(fits: RowTest, what: string): Promise<void> {
    await this.locate(await this.findRow(fits, what)).click();
  }

  /** Rests the pointer on a row and returns what the tooltip says. */
  async tooltip(fits: RowTest, what: string): Promise<string> {
    const row = this.locate(await this.findRow(fits, what));
    // The pointer comes from elsewhere, else the workbench sees no entering.
    await this.page.mouse.move(900, 890);
    await this.page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
    await row.locator('.monaco-icon-label').hover();
    const hover = this.page.locator('.monaco-hover:visible');
    await hover.waitFor();
    return poll(`a tooltip of ${what}`, async () => {
      const text = await hover.first().innerText();
      return text.trim() !== '' && text.trim() !== 'Loading...' && text;
    });
  }

  /** Presses an inline action of a row. */
  async pressRowAction(fits: RowTest, what: string, action: string): Promise<void> {
    const row = this.locate(await this.findRow(fits, what));
    await row.hover();
    await row.locator(`.actions .action-label[aria-label^="${action}"]`).click();
  }

  /** Opens the context menu of a row and chooses. */
  async chooseFromMenu(fits: RowTest, what: string, item: string): Promise<void> {
    await this.locate(await this.findRow(fits, what)).click({ button: 'right' });
    const menu = this.page.locator('.monaco-menu-container');
    // A menu that has just opened takes no click: it might be the one that opened it.
    await poll(`the menu to take "${item}"`, async () => {
      if (!(await menu.first().isVisible())) return true;
      await menu
        .locator('.action-item', { hasText: item })
        .first()
        .click({ timeout: 1000 })
        .catch(() => undefined);
      return false;
    });
  }

  /** Scrolls to the first row. */
  async toTop(): Promise<void> {
    while (await this.scroll(-5000));
  }

  private locate(row: TreeRow): Locator {
    return this.list.locator(`.monaco-list-rows > .monaco-list-row[data-index="${row.index}"]`);
  }

  /** Shows the tree page after page from the top, until `look` has seen enough or the end is there. */
  private async walk(look: (rows: readonly TreeRow[]) => boolean): Promise<void> {
    if ((await this.list.count()) === 0 || !(await this.list.isVisible())) return;
    if (look(await this.visibleRows())) return;
    await this.toTop();
    for (;;) {
      const done = look(await this.visibleRows());
      const height = (await this.list.boundingBox())?.height ?? 0;
      if (done || !(await this.scroll(Math.max(22, height - 44)))) return;
    }
  }

  /** Turns the wheel over the tree; false if it stands at the end, also when it has just shrunk to there. */
  private async scroll(pixels: number): Promise<boolean> {
    const box = await this.list.boundingBox();
    const before = await this.position();
    if (box === null || (pixels < 0 ? before.top <= 0 : before.top >= before.end)) return false;
    // At the edge, where no row shows a tooltip.
    await this.page.mouse.move(box.x + 2, box.y + Math.min(12, box.height / 2));
    await this.page.mouse.wheel(0, pixels);
    const moved = poll(
      `${this.title} to scroll`,
      async () => (await this.position()).top !== before.top,
      SCROLL_MS,
    );
    return moved.catch(() => false);
  }

  /** How far the tree is scrolled, and how far it can be, in pixels. */
  private position(): Promise<{ top: number; end: number }> {
    return this.list.evaluate((list) => {
      const rows = list.querySelector<HTMLElement>('.monaco-list-rows');
      const pixels = (text: string | undefined): number => Number.parseFloat(text ?? '') || 0;
      return { top: -pixels(rows?.style.top), end: pixels(rows?.style.height) - list.clientHeight };
    });
  }
}
