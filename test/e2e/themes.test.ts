import { statSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { Lens } from './lens';
import { poll } from './poll';
import { Target } from './target';
import { labelled } from './tree_view';
import { ALL_THEMES, useWorkbench } from './workbench';

/** Pictures for a person to look at: an empty or unchanged one is noticed here, an ugly one is not. */
const workbench = useWorkbench();
let target: Target;
let lens: Lens;

beforeAll(async () => {
  target = await Target.start(inject('workbench').workspace, 'mapped.bin');
  lens = new Lens(workbench());
  await lens.open();
});

afterAll(async () => {
  await target.stop();
});

async function inAllThemes(name: string): Promise<void> {
  const sizes: number[] = [];
  for (const theme of ALL_THEMES) {
    await workbench().setTheme(theme);
    sizes.push(statSync(await workbench().screenshot(`${name}-${theme}`)).size);
  }
  expect(Math.min(...sizes)).toBeGreaterThan(10_000);
  expect(new Set(sizes).size).toBe(ALL_THEMES.length);
}

it('a live process', async () => {
  await lens.showOnly(lens.processes, lens.addressSpace);
  await lens.inspect(target.facts.pid);
  await poll('the target', async () =>
    (await lens.addressSpace.description()).includes(String(target.facts.pid)),
  );
  await lens.runAndChoose(COMMANDS.groupBy, 'Kind');
  for (const group of ['Sealed', 'Anonymous', 'Heap', 'Stack']) {
    await lens.addressSpace.expand(labelled(group), group);
  }
  await lens.addressSpace.toTop();
  await inAllThemes('theme-live');
});

it('its tooltip', async () => {
  for (const theme of ALL_THEMES) {
    await workbench().setTheme(theme);
    await lens.addressSpace.tooltip((row) => row.label === '[heap]', 'the heap');
    await workbench().screenshot(`theme-tooltip-${theme}`, { keepPointer: true });
  }
});

it('a replay at a fork', async () => {
  await lens.openExample();
  await lens.showOnly(lens.addressSpace, lens.sharedNames, lens.traces);
  await lens.runWith(COMMANDS.goToLine, '47');
  await lens.sharedNames.expand(labelled('"plugin arena"'), '"plugin arena"');
  await inAllThemes('theme-fork');
});

it('a replay at a refused call', async () => {
  await lens.runWith(COMMANDS.goToLine, '82');
  await lens.showOnly(lens.addressSpace, lens.traces);
  await lens.traces.expand(labelled('Denied calls'), 'Denied calls');
  await inAllThemes('theme-denied');
});
