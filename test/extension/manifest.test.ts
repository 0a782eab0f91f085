import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, SETTINGS, VIEWS } from '../../src/extension/ids';
import { KERNEL_VERSIONS } from '../../src/mm/kernel_rules';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly menus: Readonly<
      Record<string, readonly { readonly command: string; readonly when: string; readonly group?: string }[]>
    >;
    readonly configuration: {
      readonly properties: Readonly<
        Record<string, { readonly enum?: readonly string[]; readonly enumDescriptions?: readonly string[] }>
      >;
    };
  };
}

const manifest = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as Manifest;
const { contributes } = manifest;

describe('settings', () => {
  it('offer the kernel versions that there are rules for', () => {
    const setting = contributes.configuration.properties[SETTINGS.replayKernel];
    expect(setting?.enum).toEqual(KERNEL_VERSIONS);
    expect(setting?.enumDescriptions).toHaveLength(KERNEL_VERSIONS.length);
  });
});

describe('commands and menus', () => {
  it('have one category and titles in title case without a full stop', () => {
    for (const { category, title } of contributes.commands) {
      expect(category).toBe('VMA Lens');
      expect(title).not.toMatch(/\.$/);
    }
  });

  it('put at most three actions beside a view\u2019s title at a time', () => {
    const title = contributes.menus['view/title'] ?? [];
    for (const view of Object.values(VIEWS)) {
      const places = title
        .filter(
          ({ when, group }) => when.startsWith(`view == ${view}`) && group?.startsWith('navigation') === true,
        )
        .map(({ group }) => group);
      expect(new Set(places).size).toBeLessThanOrEqual(3);
    }
  });

  it('never show a row action without a view and a row', () => {
    for (const { when } of contributes.menus['view/item/context'] ?? [])
      expect(when).toMatch(/^view == .* && viewItem =~ /);
  });

  it('hide commands that need a row from the palette', () => {
    const hidden = (contributes.menus['commandPalette'] ?? []).filter(({ when }) => when === 'false');
    expect(hidden.map(({ command }) => command)).toEqual(
      expect.arrayContaining([
        COMMANDS.inspect,
        COMMANDS.copyAddress,
        COMMANDS.goToInstant,
        COMMANDS.selectLife,
      ]),
    );
  });
});
