import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { Lens } from './lens';
import { poll } from './poll';
import { labelled, type TreeRow } from './tree_view';
import { useWorkbench } from './workbench';

const EXAMPLE = readFileSync(new URL('../../media/example/pluginhost.strace', import.meta.url), 'latin1');
const LINES = EXAMPLE.split('\n').length - 1;

/** What media/example/README.md tells of pluginhost.strace is what is expected here. */
const workbench = useWorkbench();
let lens: Lens;

beforeAll(async () => {
  lens = new Lens(workbench());
  await lens.open();
  await lens.openExample();
});

/** Waits until the status bar says that the replay stands at this line. */
async function waitForLine(line: number): Promise<void> {
  await workbench()
    .statusBar(new RegExp(`line ${line}/`))
    .waitFor();
}

async function goToLine(line: number): Promise<void> {
  await lens.runWith(COMMANDS.goToLine, String(line));
  await waitForLine(line);
}

/** Waits for a name object with so many references. */
function nameRow(text: string, refs: number): Promise<TreeRow> {
  const count = refs === 1 ? '1 reference' : `${refs} references`;
  return lens.sharedNames.findRow(
    (row) => row.label === `"${text}"` && new RegExp(`· ${count}\\b`).test(row.description),
    `"${text}" with ${count}`,
  );
}

async function holdersOf(text: string): Promise<Record<string, string>> {
  const name = labelled(`"${text}"`);
  await lens.sharedNames.expand(name, text);
  const rows = await lens.sharedNames.children(name, text);
  const holders = rows.filter((row) => row.label !== 'created');
  return Object.fromEntries(holders.map((row) => [row.label, row.description.split(' · ')[0] ?? '']));
}

describe('the example', () => {
  it('opens with its processes, forks, refused calls and snapshots', async () => {
    await lens.showOnly(lens.traces);
    const row = await lens.traces.findRow(labelled('pluginhost.strace'), 'the example');
    expect(row.description).toContain(`${LINES} lines`);
    const rows = await lens.traces.rows();
    const levelOf = (pid: number): number | undefined =>
      rows.find((each) => each.label.startsWith(`${pid} `))?.level;
    const host = levelOf(24) ?? 0;
    expect([26, 27, 29, 30].map(levelOf)).toEqual([host + 1, host + 1, host + 1, host + 1]);
    expect(levelOf(28)).toBe(host + 2);
    await lens.traces.expand(labelled('Forks'), 'Forks');
    const forks = await lens.traces.children(labelled('Forks'), 'Forks');
    expect(forks.map((fork) => fork.label)).toEqual(['24 → 26', '24 → 27', '27 → 28', '24 → 29', '24 → 30']);
    await lens.traces.expand(labelled('Snapshots'), 'Snapshots');
    const snapshots = await lens.traces.children(labelled('Snapshots'), 'Snapshots');
    expect(snapshots).toHaveLength(8);
    expect(snapshots.filter((each) => each.icons.includes('error'))).toEqual([]);
    // Two begin a program that the trace does not show whole: they are taken over, all others compared.
    expect(snapshots.filter((each) => each.description.includes('taken over'))).toHaveLength(2);
    expect(snapshots.filter((each) => each.description.includes('equal'))).toHaveLength(6);
    await workbench().screenshot('traces');
  });

  it('tells where it had to infer memory that the trace does not show', async () => {
    await lens.traces.expand(labelled('Mismatches'), 'Mismatches');
    const rows = await lens.traces.children(labelled('Mismatches'), 'Mismatches');
    const lines = rows.map((row) => Number(/^\d+/.exec(row.label)?.[0]));
    expect(lines).toEqual([7, 8, 112, 113]);
    const fits = (row: TreeRow): boolean => row.index === rows[0]?.index;
    expect(await lens.traces.tooltip(fits, 'the first mismatch')).toContain('inferred');
  });
});

describe('names over a fork', () => {
  it('are held by one process before it', async () => {
    await lens.showOnly(lens.sharedNames);
    await goToLine(41);
    await nameRow('plugin arena', 3);
    await nameRow('code cache', 4);
    await nameRow('config', 1);
    const arena = await nameRow('host journal', 1);
    expect(arena.description).not.toContain('shared');
    expect(Object.keys(await holdersOf('plugin arena'))).toEqual(['24 pluginhost']);
  });

  it('are shared after it: no name is copied, the counts double', async () => {
    await lens.run(COMMANDS.nextFork);
    await waitForLine(47);
    const arena = await nameRow('plugin arena', 6);
    expect(arena.description).toContain('shared by 2 processes');
    await nameRow('code cache', 8);
    await nameRow('config', 2);
    await nameRow('host journal', 1);
    expect(await holdersOf('plugin arena')).toEqual({
      '24 pluginhost': '3 mappings',
      '26 pluginhost': '3 mappings',
    });
    await workbench().screenshot('shared-names-after-fork');
  });

  it('part when the child renames', async () => {
    await lens.run(COMMANDS.nextRename);
    await waitForLine(48);
    await nameRow('worker 1 arena', 1);
    await nameRow('plugin arena', 5);
    expect(await holdersOf('plugin arena')).toEqual({
      '24 pluginhost': '3 mappings',
      '26 pluginhost': '2 mappings',
    });
  });

  it('come back when stepping back', async () => {
    await lens.run(COMMANDS.stepBack);
    await waitForLine(47);
    await nameRow('plugin arena', 6);
    await poll('the new name to go', async () =>
      (await lens.sharedNames.rows()).every((row) => row.label !== '"worker 1 arena"'),
    );
  });

  it('are as told at every line of the story', async () => {
    const story: [number, Record<string, number>][] = [
      [58, { 'code cache': 11 }],
      [59, { 'plugin arena': 11, 'code cache': 14, config: 4 }],
      [61, { 'grandchild arena': 3, 'plugin arena': 8 }],
      [83, { 'config (inspected)': 1, config: 3, 'code cache': 16 }],
      [98, { 'plugin arena': 3, 'code cache': 4, config: 1 }],
    ];
    for (const [line, names] of story) {
      await goToLine(line);
      for (const [name, refs] of Object.entries(names)) await nameRow(name, refs);
    }
  });
});

describe('the address space of a replay', () => {
  it('follows the step and shows what is sealed', async () => {
    await lens.showOnly(lens.addressSpace);
    await goToLine(75);
    await lens.run(COMMANDS.nextDenied);
    await waitForLine(76);
    await lens.addressSpace.expand(labelled('Sealed'), 'Sealed');
    const sealed = await lens.addressSpace.children(labelled('Sealed'), 'Sealed');
    expect(sealed.map((row) => row.label)).toEqual(['[anon:config]', '[anon:code cache]']);
    expect(sealed.every((row) => row.icons.includes('lock'))).toBe(true);
    await lens.addressSpace.waitForMessage(/^Line 76: munmap.*EPERM.*seal/is);
    await workbench().screenshot('replay-denied');
  });

  it('stays with a process that was chosen', async () => {
    await lens.runAndChoose(COMMANDS.selectProcess, '24 pluginhost');
    await poll('pid 24', async () => (await lens.addressSpace.description()).includes('24'));
    await lens.run(COMMANDS.stepForward);
    await waitForLine(77);
    expect(await lens.addressSpace.description()).toContain('24');
    await lens.runAndChoose(COMMANDS.selectProcess, 'Follow the steps');
    await poll('pid 29', async () => (await lens.addressSpace.description()).includes('29'));
  });
});

describe('going through a trace', () => {
  it('refuses a line that is not there', async () => {
    await lens.run(COMMANDS.goToLine);
    const { quickInput } = workbench();
    await quickInput.type('4711');
    await quickInput.accept();
    await poll('the reason', async () =>
      (await quickInput.message()).includes(`A number from 1 to ${LINES}`),
    );
    await quickInput.cancel();
    await waitForLine(77);
  });

  it('goes to a step that is clicked, and to its line in the text', async () => {
    await lens.showOnly(lens.traces);
    await lens.traces.expand(labelled('Denied calls'), 'Denied calls');
    const denied = await lens.traces.children(labelled('Denied calls'), 'Denied calls');
    const last = denied.at(-1);
    expect(last?.label).toMatch(/^82 munmap/);
    expect(last?.description).toMatch(/^= EPERM · .* · pid 29$/);
    await lens.traces.click((row) => row.index === last?.index, 'the last refused call');
    await waitForLine(82);
    await lens.run(COMMANDS.revealLine);
    await workbench()
      .statusBar(/^Ln 82, Col 1$/)
      .waitFor();
    expect(await workbench().activeTab()).toContain('pluginhost.strace');
  });

  it('tells the difference under the rules of another kernel', async () => {
    await lens.runAndChoose(COMMANDS.chooseKernel, '6.11');
    await lens.traces.findRow(
      (row) => row.label === 'pluginhost.strace' && row.description.includes('rules 6.11'),
      'the example under other rules',
    );
    await lens.traces.expand(labelled('Snapshots'), 'Snapshots');
    const snapshots = await lens.traces.children(labelled('Snapshots'), 'Snapshots');
    const refused = snapshots.find((row) => row.label.startsWith('05-refused'));
    expect(refused?.description).toContain('differs');
    await workbench().screenshot('traces-other-kernel');
  });

  it('closes', async () => {
    await lens.run(COMMANDS.closeTrace);
    await poll('the welcome of Traces', () => lens.traces.welcome());
    await lens.showOnly(lens.addressSpace);
    await poll('the welcome of Address Space', () => lens.addressSpace.welcome());
  });
});
