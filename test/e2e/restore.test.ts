import { beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { Lens } from './lens';
import { poll } from './poll';
import { labelled } from './tree_view';
import { useWorkbench } from './workbench';

const workbench = useWorkbench();
let lens: Lens;

beforeAll(async () => {
  lens = new Lens(workbench());
  await lens.open();
  await lens.openExample();
  await lens.runWith(COMMANDS.goToLine, '47');
  await lens.runAndChoose(COMMANDS.groupBy, 'Permissions');
  await workbench()
    .statusBar(/line 47\//)
    .waitFor();
});

it('comes back with the window: the trace, its place and the grouping', async () => {
  await workbench().reload();
  await lens.showOnly(lens.addressSpace, lens.sharedNames);
  await workbench()
    .statusBar(/line 47\//)
    .waitFor();
  await lens.sharedNames.findRow(
    (row) => row.label === '"plugin arena"' && row.description.includes('6 references'),
    'the name object after the fork',
  );
  await lens.addressSpace.findRow(labelled('rw-p'), 'a group of permissions');
});

it('does not come back once it is closed', async () => {
  await lens.run(COMMANDS.closeTrace);
  await poll('the welcome of Address Space', () => lens.addressSpace.welcome());
  await workbench().reload();
  await lens.showOnly(lens.traces);
  await poll('the welcome of Traces', () => lens.traces.welcome());
  expect(
    await workbench()
      .statusBar(/line 47\//)
      .count(),
  ).toBe(0);
});
