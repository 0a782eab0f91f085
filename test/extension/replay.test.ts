import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COMMANDS, CONTEXT_KEYS, SETTINGS } from '../../src/extension/ids';
import { lines } from '../present/rows';
import { Uri } from './fake_vscode';
import { FakeMemento, startExtension, type Running } from './running';

const mocked = vi.hoisted((): { module: Record<string, unknown> } => ({ module: {} }));
vi.mock('vscode', () => mocked.module);

let app: Running;

beforeEach(async () => {
  app = await startExtension(mocked.module);
  await app.run(COMMANDS.openExample);
});
afterEach(() => app.dispose());

describe('opening the example', () => {
  it('shows it in Traces and lets it drive the other views', async () => {
    const [trace] = await app.rows('traces');
    expect(trace?.label).toBe('pluginhost.strace');
    expect(trace?.description).toMatch(/^rules 7\.3 · 131 lines · \d+ steps$/);
    expect(app.window.contexts.get(CONTEXT_KEYS.hasTrace)).toBe(true);
    expect(app.window.contexts.get(CONTEXT_KEYS.targetKind)).toBe('replay');
    expect(app.view('addressSpace').description).toBe('24 pluginhost');
    expect(app.window.executed).toContain('vmaLens.traces.focus');
    expect(app.window.shown).toEqual([]);
  });

  it('begins where the first snapshot tells the whole map', async () => {
    const labels = (await app.rows('addressSpace')).map((row) => row.label);
    expect(labels).toEqual(expect.arrayContaining(['Sealed', 'Code', 'Heap', 'Stack']));
    expect(app.view('addressSpace').message).not.toContain('unknown');
  });

  it('tells where the replay stands in the status bar', () => {
    expect(app.window.statusBar?.visible).toBe(true);
    expect(app.window.statusBar?.text).toMatch(/^\$\(debug-rerun\) line \d+\/131 · pid 24 · step \d+\/\d+$/);
  });
});

describe('moving through a replay', () => {
  it('steps over the fork and shows names with their new holders', async () => {
    await app.run(COMMANDS.goToLine);
    app.window.answers = ['46'];
    await app.run(COMMANDS.goToLine);
    const before = await app.row('sharedNames', '"plugin arena"');
    expect(before.description).toBe('#1 · 3 references');
    app.window.answers = [];
    await app.run(COMMANDS.nextFork);
    expect(app.window.statusBar?.text).toContain('line 47/131 · pid 24');
    expect((await app.row('sharedNames', '"plugin arena"')).description).toBe(
      '#1 · 6 references · shared by 2 processes',
    );
    // The child renames its first piece: the object loses a holder, and there is a new one.
    await app.run(COMMANDS.stepForward);
    expect(app.view('addressSpace').description).toBe('26 pluginhost');
    expect((await app.row('sharedNames', '"plugin arena"')).description).toBe(
      '#1 · 5 references · shared by 2 processes',
    );
    expect((await app.row('sharedNames', '"worker 1 arena"')).description).toMatch(/^#\d+ · 1 reference$/);
    const named = await app.row('addressSpace', 'Named anonymous', '[anon:worker 1 arena]');
    expect(named.description).toMatch(/ · changed · /);
    await app.run(COMMANDS.stepBack);
    expect(app.window.statusBar?.text).toContain('line 47/131');
  });

  it('goes to a line that another command gives', async () => {
    await app.run(COMMANDS.goToLine, 81);
    expect(app.window.statusBar?.text).toContain('line 81/131');
  });

  it('goes to denied calls, by command and by a click', async () => {
    await app.run(COMMANDS.nextDenied);
    expect(app.window.statusBar?.text).toContain('line 60/131');
    const denied = await app.rows('traces', 'pluginhost.strace', 'Denied calls');
    const line81 = denied.find((row) => row.label.startsWith('81 '));
    if (line81 === undefined) throw new Error('line 81 was refused');
    await app.click('traces', line81);
    expect(app.window.statusBar?.text).toContain('line 81/131 · pid 29');
    expect(app.view('addressSpace').message).toMatch(/^Line 81: mprotect\(.* = EPERM, refused by /);
  });

  it('says so where there is nothing further, and stays', async () => {
    app.window.answers = ['131'];
    await app.run(COMMANDS.goToLine);
    const text = app.window.statusBar?.text;
    await app.run(COMMANDS.nextFork);
    expect(app.window.statusMessage).toBe('There is no fork after this step.');
    expect(app.window.statusBar?.text).toBe(text);
  });

  it('stops at both ends', async () => {
    app.window.answers = ['131', '1'];
    await app.run(COMMANDS.goToLine);
    for (let i = 0; i < 3; i++) await app.run(COMMANDS.stepForward);
    expect(app.window.statusBar?.text).toMatch(/step (\d+)\/\1$/);
    await app.run(COMMANDS.goToLine);
    for (let i = 0; i < 3; i++) await app.run(COMMANDS.stepBack);
    expect(app.window.statusBar?.text).toMatch(/^\$\(debug-rerun\) start · step 0\//);
  });

  it.each(['', '0', '132', '-1', '7.5', 'x'])('takes no line %j', async (answer) => {
    const text = app.window.statusBar?.text;
    app.window.answers = [answer];
    await app.run(COMMANDS.goToLine);
    expect(app.window.statusBar?.text).toBe(text);
  });
});

describe('choosing what to look at', () => {
  it('holds on to a chosen process until told to follow the steps', async () => {
    app.window.answers = ['47'];
    await app.run(COMMANDS.goToLine);
    await app.click('traces', await app.row('traces', 'pluginhost.strace', 'Processes', '24 pluginhost'));
    await app.run(COMMANDS.stepForward);
    expect(app.view('addressSpace').description).toBe('24 pluginhost');
    app.window.answers = ['Follow the steps'];
    await app.run(COMMANDS.selectProcess);
    expect(app.view('addressSpace').description).toBe('26 pluginhost');
    app.window.answers = ['28 pluginhost'];
    await app.run(COMMANDS.selectProcess);
    expect(app.view('addressSpace').message).toContain('28 pluginhost starts at line 59.');
  });

  it('replays under the rules of another kernel at the same line', async () => {
    app.window.answers = ['81', '6.10'];
    await app.run(COMMANDS.goToLine);
    const changedBy = async (): Promise<boolean> =>
      (await app.rows('addressSpace', 'Named anonymous')).some((row) =>
        row.description.includes(' · changed · '),
      );
    expect(await changedBy()).toBe(true);
    await app.run(COMMANDS.chooseKernel);
    expect((await app.rows('traces'))[0]?.description).toMatch(/^rules 6\.10 /);
    expect(app.window.statusBar?.text).toContain('line 81/131');
    // With the check before the work a refused mprotect changes nothing.
    expect(await changedBy()).toBe(false);
    // The recording was made on a kernel that checks on the way: one snapshot tells.
    expect(app.view('traces').badge?.tooltip).toMatch(/differs? from the replay$/);
  });

  it('takes the rules from the setting', async () => {
    app.dispose();
    app = await startExtension(mocked.module, undefined, { [SETTINGS.replayKernel]: '6.12' });
    await app.run(COMMANDS.openExample);
    expect((await app.rows('traces'))[0]?.description).toMatch(/^rules 6\.12 /);
  });

  it('goes to the line of a step in the text', async () => {
    const [denied] = await app.rows('traces', 'pluginhost.strace', 'Denied calls');
    await app.run(COMMANDS.revealLine, denied);
    expect(app.window.opened.map(({ uri, line }) => [uri.path.split('/').at(-1), line])).toEqual([
      ['pluginhost.strace', 60],
    ]);
  });
});

describe('closing and coming back', () => {
  it('empties the views that the trace drove', async () => {
    await app.run(COMMANDS.closeTrace, await app.row('traces', 'pluginhost.strace'));
    expect(await app.rows('traces')).toEqual([]);
    expect(await app.rows('addressSpace')).toEqual([]);
    expect(app.window.statusBar?.visible).toBe(false);
    expect(app.window.contexts.get(CONTEXT_KEYS.targetKind)).toBeUndefined();
    expect(app.window.contexts.get(CONTEXT_KEYS.hasTrace)).toBe(false);
    await app.run(COMMANDS.stepForward);
    expect(app.window.shown.map(({ text }) => text)).toEqual([
      'No trace is open. Replay Trace… or Open Example opens one.',
    ]);
  });

  it('opens again what was open, where it stood, and only when somebody looks', async () => {
    const memory = new FakeMemento();
    app.dispose();
    app = await startExtension(mocked.module, memory);
    await app.rows('traces');
    await app.run(COMMANDS.openExample);
    app.window.answers = ['81', '6.12'];
    await app.run(COMMANDS.goToLine);
    await app.run(COMMANDS.chooseKernel);
    app.dispose();

    app = await startExtension(mocked.module, memory);
    await app.settle();
    expect(app.window.statusBar?.visible).toBe(false);
    await app.rows('traces');
    await vi.waitFor(() => expect(app.window.statusBar?.text).toContain('line 81/131'));
    expect(lines(await app.rows('traces'))[0]).toMatch(/^pluginhost\.strace: rules 6\.12 /);
  });

  it('says nothing when a restored file is gone', async () => {
    const memory = new FakeMemento();
    await memory.update('openSources', {
      traces: [
        { uri: 'file:///nowhere/x.strace', kernel: '7.3', line: 1, current: true },
        'nonsense',
        { uri: 7 },
      ],
      file: 'file:///nowhere/y.maps',
    });
    app.dispose();
    app = await startExtension(mocked.module, memory);
    await app.rows('traces');
    await vi.waitFor(() => expect(app.window.logged).toHaveLength(2));
    expect(app.window.shown).toEqual([]);
    expect(app.window.contexts.get(CONTEXT_KEYS.targetKind)).toBeUndefined();
  });
});

describe('what is no trace', () => {
  it('is said with the file and what to do', async () => {
    await app.run(COMMANDS.replayTrace, Uri.file(new URL(import.meta.url).pathname));
    expect(app.window.shown).toHaveLength(1);
    expect(app.window.shown[0]?.text).toMatch(/^replay\.test\.ts: is not a trace that can be replayed\. /);
  });

  it('makes no link of a path', async () => {
    await app.run(COMMANDS.replayFile, Uri.file('/nowhere/[x](command:y).strace'));
    expect(app.window.shown[0]?.text).toContain('no such file');
    expect(app.window.shown[0]?.text).not.toContain('](');
  });

  it('is nothing when the dialog is cancelled', async () => {
    await app.run(COMMANDS.replayTrace);
    await app.run(COMMANDS.openMaps);
    expect(app.window.shown).toEqual([]);
  });
});
