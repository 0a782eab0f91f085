import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { commandTitle } from './contributions';
import { Lens } from './lens';
import { poll } from './poll';
import type { TreeView } from './tree_view';
import { useWorkbench } from './workbench';

const workbench = useWorkbench();

function welcomeOf(view: TreeView): Promise<string> {
  return poll(`what the empty ${view.title} says`, () => view.welcome());
}

it('says in each empty view what to do', async () => {
  const lens = new Lens(workbench());
  await lens.showOnly(lens.addressSpace, lens.sharedNames, lens.traces);
  expect(await welcomeOf(lens.addressSpace)).toContain('Choose whose memory to look at');
  expect(await lens.addressSpace.welcomeButtons()).toEqual([
    commandTitle(COMMANDS.inspectProcess),
    commandTitle(COMMANDS.openMaps),
    commandTitle(COMMANDS.openExample),
  ]);
  expect(await welcomeOf(lens.sharedNames)).toContain('Names of anonymous memory');
  expect(await lens.sharedNames.welcomeButtons()).toEqual([commandTitle(COMMANDS.openExample)]);
  expect(await welcomeOf(lens.traces)).toContain('made with strace');
  expect(await lens.traces.welcomeButtons()).toEqual([
    commandTitle(COMMANDS.replayTrace),
    commandTitle(COMMANDS.openExample),
  ]);
  await workbench().screenshot('empty-views');
});

it('lists processes before anything is chosen', async () => {
  const lens = new Lens(workbench());
  await lens.showOnly(lens.processes);
  await lens.processes.findRow((row) => row.description.startsWith(`${process.pid} `), 'this test');
  await lens.processes.waitForDescription(/^[\d,]+ processes$/);
});

it('does not offer to step or to group before there is something', async () => {
  const offered = await workbench().offeredCommands('VMA Lens:');
  expect(offered).toContain('VMA Lens: Open Example');
  expect(offered).not.toContain('VMA Lens: Step Forward');
  expect(offered).not.toContain('VMA Lens: Group Address Space By…');
});

it('opens the example by the button of an empty view', async () => {
  const lens = new Lens(workbench());
  await lens.showOnly(lens.sharedNames, lens.traces);
  await lens.sharedNames.pressWelcomeButton(commandTitle(COMMANDS.openExample));
  await lens.traces.findRow((row) => row.label === 'pluginhost.strace', 'the example');
  await poll('the welcome to go', async () => (await lens.sharedNames.welcome()) === '');
});
