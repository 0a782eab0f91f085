import type { Locator, Page } from 'playwright-core';
import { poll } from './poll';

export interface QuickItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** Position among all items, from 0. */
  readonly index: number;
}

/** The box that drops from the top of the window: the command palette, quick picks and input boxes. */
export class QuickInput {
  readonly box: Locator;
  private readonly input: Locator;

  constructor(private readonly page: Page) {
    this.box = page.locator('.quick-input-widget');
    this.input = this.box.locator('.quick-input-box input');
  }

  async waitUntilOpen(): Promise<void> {
    await this.input.waitFor({ state: 'visible' });
  }

  async waitUntilClosed(): Promise<void> {
    await this.box.waitFor({ state: 'hidden' });
  }

  /** Replaces the text of the box. */
  async type(text: string): Promise<void> {
    await this.waitUntilOpen();
    await this.input.fill(text);
  }

  async title(): Promise<string> {
    return (await this.box.locator('.quick-input-title').textContent()) ?? '';
  }

  async placeholder(): Promise<string> {
    return (await this.input.getAttribute('placeholder')) ?? '';
  }

  /** What an input box says about its text: a validation message, or the prompt. */
  async message(): Promise<string> {
    return (await this.box.locator('.quick-input-message').textContent()) ?? '';
  }

  /** The visible items, top to bottom. */
  items(): Promise<QuickItem[]> {
    return this.box.locator('.quick-input-list .monaco-list-row').evaluateAll((rows) =>
      rows
        .map((row) => ({ row, top: Number.parseFloat((row as HTMLElement).style.top) }))
        .sort((a, b) => a.top - b.top)
        .map(({ row }) => {
          const text = (selector: string): string => row.querySelector(selector)?.textContent ?? '';
          return {
            label: text('.quick-input-list-label .label-name'),
            description: text('.quick-input-list-label .label-description'),
            detail: text('.quick-input-list-label-meta'),
            index: Number(row.getAttribute('data-index')),
          };
        }),
    );
  }

  /** Waits for an item that fits and returns it. */
  async waitForItem(fits: (item: QuickItem) => boolean, what: string): Promise<QuickItem> {
    return poll(`an item of the quick pick: ${what}`, async () => (await this.items()).find(fits));
  }

  /** Waits for the item with this label (a string is the whole label) and accepts it. */
  async choose(label: string | RegExp): Promise<void> {
    const fits = (text: string): boolean => (typeof label === 'string' ? text === label : label.test(text));
    await this.chooseItem((item) => fits(item.label.trim()), String(label));
  }

  /** Waits for an item that fits and accepts it. */
  async chooseItem(fits: (item: QuickItem) => boolean, what: string): Promise<void> {
    await poll(`the quick pick to take ${what}`, async () => {
      const item = (await this.items()).find(fits);
      if (item === undefined) return false;
      const row = this.box.locator(`.quick-input-list .monaco-list-row[data-index="${item.index}"]`);
      // A list that fills in makes its rows anew: then it is looked for again.
      return row.click({ timeout: 1000 }).then(
        () => true,
        () => false,
      );
    });
  }

  /** Waits for an input box, replaces its text and accepts it. */
  async answer(text: string): Promise<void> {
    await this.type(text);
    await this.accept();
    await this.waitUntilClosed();
  }

  /** Answers the workbench's own file dialog with the path of a file. */
  async answerFile(path: string): Promise<void> {
    await this.waitUntilOpen();
    // While it still lists a folder, the dialog takes no answer and puts the folder back into the box.
    await poll(`the file dialog to take ${path}`, async () => {
      await this.input.fill('');
      await this.input.fill(path);
      await this.accept();
      const closed = this.box.waitFor({ state: 'hidden', timeout: 500 });
      return closed.then(
        () => true,
        () => false,
      );
    });
  }

  /** Accepts what is typed or focused. */
  async accept(): Promise<void> {
    await this.input.press('Enter');
  }

  async cancel(): Promise<void> {
    await this.page.keyboard.press('Escape');
    await this.waitUntilClosed();
  }
}
