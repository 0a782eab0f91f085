import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import type { ProvidedWorkbench } from './provided';
import { poll } from './poll';
import { QuickInput } from './quick_input';
import { TreeView } from './tree_view';

const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The defaults of this version of VS Code: name in the settings, and the class that the workbench then has. */
const THEMES = {
  dark: ['Dark 2026', 'vs-dark'],
  light: ['Light 2026', 'vs'],
  'high-contrast': ['Default High Contrast', 'hc-black'],
} as const;

export type Theme = keyof typeof THEMES;
export const ALL_THEMES = Object.keys(THEMES) as Theme[];

/** The window of VS Code, seen from its user. Every method waits until the workbench has done what it asks. */
export class Workbench {
  readonly quickInput: QuickInput;

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    private readonly provided: ProvidedWorkbench,
  ) {
    this.quickInput = new QuickInput(page);
  }

  /** Opens a new window with an extension host of its own; nothing is remembered of earlier ones. */
  static async open(provided: ProvidedWorkbench): Promise<Workbench> {
    writeFileSync(provided.machineSettings, '{}');
    const browser = await chromium.launch({ executablePath: provided.chromium, args: BROWSER_ARGUMENTS });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
    await page.goto(provided.url);
    const workbench = new Workbench(browser, page, provided);
    await workbench.waitUntilReady();
    return workbench;
  }

  /** Closes and opens the window, with a new extension host, as somebody who comes back the next day. */
  async reload(): Promise<void> {
    // What was remembered a moment ago is written with a delay; VS Code flushes it when it reloads by itself.
    await this.page.keyboard.press('F1');
    await this.quickInput.waitUntilOpen();
    await this.quickInput.type('>Developer: Reload Window');
    const left = this.page.waitForEvent('load');
    await this.quickInput.choose('Developer: Reload Window');
    await left;
    await this.waitUntilReady();
  }

  private async waitUntilReady(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor();
    // The connection to the extension host is there when the remote indicator says so.
    await this.page.locator('.statusbar-item[id="status.host"]').waitFor();
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** Runs a command as a person does: by its title, in the command palette. */
  async runCommand(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.quickInput.waitUntilOpen();
    await this.quickInput.type(`>${title}`);
    await this.quickInput.choose(title);
  }

  /** The titles that the command palette offers for this text. */
  async offeredCommands(text: string): Promise<string[]> {
    await this.page.keyboard.press('F1');
    await this.quickInput.waitUntilOpen();
    await this.quickInput.type(`>${text}`);
    const labels = await poll(`commands like ${text}`, async () => {
      const found = (await this.quickInput.items()).map((item) => item.label);
      return found[0]?.includes(text) === true && found;
    });
    await this.quickInput.cancel();
    return labels;
  }

  /** Shows the container of the activity bar with this title. */
  async openContainer(title: string): Promise<void> {
    const entry = this.page.locator('.activitybar .action-item', {
      has: this.page.locator(`[aria-label^="${title}"]`),
    });
    await entry.waitFor();
    const heading = this.page.locator('.sidebar .composite.title h2', { hasText: title }).first();
    // A window that has just come back may open it by itself a moment later: the click then closes it again.
    await poll(`${title} in the side bar`, async () => {
      if ((await entry.getAttribute('aria-expanded')) !== 'true') await entry.click();
      return heading.waitFor({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
  }

  /** The view with this title in the side bar. */
  view(title: string): TreeView {
    return new TreeView(this.page, title);
  }

  /** Sets the colour theme and waits until the window shows it. */
  async setTheme(theme: Theme): Promise<void> {
    const [name, className] = THEMES[theme];
    await this.setSettings({ 'workbench.colorTheme': name, 'window.autoDetectColorScheme': false });
    await this.page.locator(`.monaco-workbench.${className}`).waitFor();
  }

  /** Replaces the settings of the remote machine, which go before the user's; the window follows the file. */
  setSettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
    writeFileSync(this.provided.machineSettings, JSON.stringify(settings, null, 2));
    return Promise.resolve();
  }

  /** Waits for a notification with this text and returns the whole of it. */
  async notification(text: string | RegExp): Promise<string> {
    const message = this.page.locator('.notification-list-item-message', { hasText: text }).first();
    await message.waitFor();
    return (await message.textContent()) ?? '';
  }

  /** What the visible notifications say. */
  notifications(): Promise<string[]> {
    return this.page.locator('.notification-list-item-message').allTextContents();
  }

  async clearNotifications(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
    await this.page
      .locator('.notifications-toasts .notification-list-item')
      .first()
      .waitFor({ state: 'detached' });
  }

  /** The title of the active editor's tab. */
  activeTab(): Promise<string | null> {
    return this.page.locator('.editor-group-container.active .tab.active').getAttribute('aria-label');
  }

  /** The status bar entry with this text. */
  statusBar(text: string | RegExp): Locator {
    return this.page.locator('.statusbar-item', { hasText: text });
  }

  /** Saves a picture of the window and returns its path. */
  async screenshot(name: string, { keepPointer = false } = {}): Promise<string> {
    const path = join(this.provided.out, `${name.replaceAll(/[^\w.-]+/g, '-')}.png`);
    mkdirSync(dirname(path), { recursive: true });
    // The pointer leaves, so that no row is drawn as hovered and no tooltip covers anything.
    if (!keepPointer) await this.page.mouse.move(900, 890);
    await this.page.screenshot({ path });
    return path;
  }

  /** Where files of the open folder are. */
  get workspace(): string {
    return this.provided.workspace;
  }
}

/** Opens a window for all tests of the file. After a test that failed, a picture of it is kept. */
export function useWorkbench(): () => Workbench {
  let workbench: Workbench | undefined;
  beforeAll(async () => {
    workbench = await Workbench.open(inject('workbench'));
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await workbench?.screenshot(`failed-${task.name}`);
  });
  afterAll(async () => {
    await workbench?.close();
  });
  return () => {
    if (workbench === undefined) throw new Error('The window opens in beforeAll.');
    return workbench;
  };
}
