import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COMMANDS, CONTEXT_KEYS } from '../../src/extension/ids';
import { allRows } from '../present/rows';
import { Uri } from './fake_vscode';
import { FakeMemento, startExtension, type Running } from './running';

const mocked = vi.hoisted((): { module: Record<string, unknown> } => ({ module: {} }));
vi.mock('vscode', () => mocked.module);

const MAPS = [
  '00400000-00401000 r-xp 00000000 08:01 7                                  /usr/bin/demo',
  '00401000-00403000 rw-p 00001000 08:01 7                                  /usr/bin/demo',
  'not a line of maps at all',
  '01000000-01010000 rw-p 00000000 00:00 0                                  [anon:<b>$(bug)</b>]',
  '01010000-01020000 rwxp 00000000 00:00 0 ',
  '',
].join('\n');

let app: Running;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vma-lens-test-'));
  file = join(folder, 'demo.maps');
  writeFileSync(file, MAPS);
  app = await startExtension(mocked.module);
});
afterEach(() => {
  app.dispose();
  rmSync(folder, { recursive: true });
});

describe('a saved maps file', () => {
  beforeEach(() => app.run(COMMANDS.openMaps, Uri.file(file)));

  it('is shown with its problems', async () => {
    expect(app.view('addressSpace').description).toBe('demo.maps');
    expect(app.view('addressSpace').message).toBe(
      'Problem in line 3: neither an address range nor an smaps field.',
    );
    expect((await app.rows('addressSpace')).map((row) => `${row.label}: ${row.description}`)).toEqual([
      'Sealed: unknown: plain maps do not show seals',
      'Code: 1 mapping · 4 kB',
      'Data: 1 mapping · 8 kB',
      'Generated code: 1 mapping · 64 kB',
      'Named anonymous: 1 mapping · 64 kB',
    ]);
    expect(app.window.contexts.get(CONTEXT_KEYS.targetKind)).toBe('file');
  });

  it('has names without objects', async () => {
    expect((await app.rows('sharedNames')).map((row) => row.label)).toEqual(['"<b>$(bug)</b>"']);
    expect(app.view('sharedNames').message).toContain('which of them share one object is unknown');
  });

  it('makes tooltips late, as Markdown in which names are text', async () => {
    const row = await app.row('addressSpace', 'Named anonymous', '[anon:<b>$(bug)</b>]');
    const { provider } = app.view('addressSpace');
    const item = provider.getTreeItem(row);
    expect(item['tooltip']).toBeUndefined();
    const resolved = await provider.resolveTreeItem(item, row);
    const tooltip = resolved['tooltip'] as Record<string, unknown>;
    expect(tooltip).toMatchObject({ isTrusted: false, supportHtml: false, supportThemeIcons: false });
    expect(tooltip['value']).toContain('\\<b\\>\\$\\(bug\\)\\<\\/b\\>');
  });

  it('knows the parent of every row', async () => {
    const row = await app.row('addressSpace', 'Data', 'demo');
    const parent = app.view('addressSpace').provider.getParent(row);
    expect(parent).toMatchObject({ label: 'Data' });
  });

  it('is grouped as chosen, also the next time', async () => {
    app.window.answers = ['Address'];
    await app.run(COMMANDS.groupBy);
    expect((await app.rows('addressSpace')).map((row) => row.label)).toEqual([
      'Sealed',
      'demo',
      'demo',
      '[anon:<b>$(bug)</b>]',
      'anonymous',
    ]);
    expect(app.memory.get('groupBy')).toBe('address');
  });

  it('is filtered until the filter is cleared', async () => {
    app.window.answers = ['perm:wx'];
    await app.run(COMMANDS.filterAddressSpace);
    expect((await app.rows('addressSpace')).map((row) => row.label)).toEqual(['Sealed', 'Generated code']);
    expect(app.view('addressSpace').message).toContain('Filter "perm:wx": 1 of 4 mappings.');
    expect(app.window.contexts.get(CONTEXT_KEYS.addressSpaceFilter)).toBe(true);
    await app.run(COMMANDS.clearAddressSpaceFilter);
    expect(await app.rows('addressSpace')).toHaveLength(5);
    expect(app.window.contexts.get(CONTEXT_KEYS.addressSpaceFilter)).toBe(false);
  });

  it('gives addresses, ranges, names and lines to the clipboard', async () => {
    const row = await app.row('addressSpace', 'Data', 'demo');
    const copied = async (id: string): Promise<string> => {
      await app.run(id, row);
      return app.window.clipboard;
    };
    expect(await copied(COMMANDS.copyAddress)).toBe('0x401000');
    expect(await copied(COMMANDS.copyRange)).toBe('00401000-00403000');
    expect(await copied(COMMANDS.copyName)).toBe('/usr/bin/demo');
    expect(await copied(COMMANDS.copyMapsLine)).toBe(MAPS.split('\n')[1]);
  });

  it('leads to the line of a mapping', async () => {
    await app.run(COMMANDS.revealLine, await app.row('addressSpace', 'Generated code', 'anonymous'));
    expect(app.window.opened).toMatchObject([{ line: 5, uri: { path: file } }]);
  });

  it('is read again on refresh, and says what happened to it', async () => {
    writeFileSync(file, MAPS.split('\n').slice(0, 2).join('\n'));
    await app.run(COMMANDS.refresh);
    expect((await app.rows('addressSpace')).map((row) => row.label)).toEqual(['Sealed', 'Code', 'Data']);
    rmSync(file);
    await app.run(COMMANDS.refresh);
    expect(await app.rows('addressSpace')).toEqual([]);
    expect(app.view('addressSpace').message).toContain('no such file');
    expect(app.window.shown.at(-1)?.text).toContain('no such file');
  });

  it('is closed', async () => {
    await app.run(COMMANDS.closeTarget);
    expect(await app.rows('addressSpace')).toEqual([]);
    // Without a message the view shows what to do.
    expect(app.view('addressSpace').message).toBe('');
    expect(await app.rows('sharedNames')).toEqual([]);
  });
});

describe('what is no maps file', () => {
  it('is refused with its line', async () => {
    const other = join(folder, 'other.txt');
    writeFileSync(other, 'hello\nworld\n');
    await app.run(COMMANDS.openMaps, Uri.file(other));
    expect(app.window.shown[0]?.text).toMatch(/^other\.txt: line 1: /);
    expect(await app.rows('addressSpace')).toEqual([]);
  });

  it('is read through VS Code where it is not on this disk', async () => {
    await app.run(COMMANDS.openMaps, new Uri('vscode-vfs', '/github/x/a.maps'));
    expect(app.window.shown[0]?.text).toBe('vscode-vfs:///github/x/a.maps: no such file.');
  });
});

describe('a mistake of ours', () => {
  it('is said to be one and goes to the log', async () => {
    app.memory.update = () => Promise.reject(new Error('disk on fire'));
    app.window.answers = ['Address'];
    await app.run(COMMANDS.groupBy);
    expect(app.window.shown[0]?.text).toContain('this is not your input');
    expect(app.window.logged[0]).toContain('disk on fire');
  });
});

describe.runIf(process.platform === 'linux')('live processes', () => {
  it('are read only when somebody looks', async () => {
    expect(app.window.contexts.get(CONTEXT_KEYS.noProc)).toBe(false);
    expect(app.view('processes').description).toBe('');
    expect(await app.rows('processes')).not.toEqual([]);
    expect(app.view('processes').description).toMatch(/^[\d,]+ processes$/);
  });

  it('are found, filtered and inspected', async () => {
    app.window.answers = [String(process.pid)];
    await app.run(COMMANDS.filterProcesses);
    const found = await app.rows('processes');
    expect(app.view('processes').message).toMatch(/: 1 of [\d,]+ processes\.$/);
    const find = async (rows: readonly { subject: { kind: string } }[]): Promise<boolean> => {
      for (const row of rows) {
        const node = row as Parameters<Running['click']>[1];
        if (node.subject.kind === 'process' && node.subject.pid === process.pid) {
          await app.click('processes', node);
          return true;
        }
        if (await find(node.children())) return true;
      }
      return false;
    };
    expect(await find(found)).toBe(true);
    // The sums are read when somebody looks at the tooltip.
    const { provider } = app.view('processes');
    const own = allRows(found).find(
      (row) => row.subject.kind === 'process' && row.subject.pid === process.pid,
    );
    const resolved = own === undefined ? {} : await provider.resolveTreeItem(provider.getTreeItem(own), own);
    expect((resolved['tooltip'] as { value: string } | undefined)?.value).toMatch(
      /\| PSS \| [\d\\.]+\u00a0MiB \|/,
    );
    expect(app.window.contexts.get(CONTEXT_KEYS.targetKind)).toBe('live');
    expect(app.view('addressSpace').description).toMatch(new RegExp(`^${process.pid} `));
    const labels = (await app.rows('addressSpace')).map((row) => row.label);
    expect(labels).toEqual(expect.arrayContaining(['Sealed', 'Code', 'Heap', 'Stack', 'Anonymous']));
    await app.run(COMMANDS.clearProcessFilter);
    expect(app.view('processes').message).toContain('Filter');
    await app.rows('processes');
    expect(app.view('processes').message).toBe('');
  });

  it('are picked from a list, also by a typed number', async () => {
    app.window.answers = [`Process ${2 ** 22 + 5}`];
    await app.run(COMMANDS.inspectProcess);
    expect(app.window.shown[0]?.text).toMatch(/^(?:pid|process) 4194309: .*does not exist/);
  });

  it('say that they have ended, and keep apart who has the number now', async () => {
    const child = spawn('sleep', ['60']);
    try {
      await vi.waitFor(async () => {
        await app.run(COMMANDS.inspectProcess, child.pid);
        expect(app.view('addressSpace').description).toBe(`${child.pid ?? ''} sleep`);
      });
      expect(app.view('addressSpace').message).toBe('');
    } finally {
      child.kill('SIGKILL');
    }
    await new Promise((resolve) => child.once('close', resolve));
    await app.run(COMMANDS.refresh);
    expect(app.view('addressSpace').message).toMatch(/^(?:pid|process) \d+: .*(does not exist|ended)/);
    expect(await app.rows('addressSpace')).toEqual([]);
  });
});

describe('another machine', () => {
  it('without /proc says so, and why', async () => {
    app.dispose();
    const platform = Object.getOwnPropertyDescriptor(process, 'platform');
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    try {
      app = await startExtension(mocked.module, new FakeMemento());
      expect(app.window.contexts.get(CONTEXT_KEYS.noProc)).toBe(true);
      expect(await app.rows('processes')).toEqual([]);
      await app.run(COMMANDS.inspectProcess);
      expect(app.window.shown[0]?.text).toContain('/proc, which only Linux has');
      await app.run(COMMANDS.openMaps, Uri.file(file));
      expect(await app.rows('addressSpace')).toHaveLength(5);
    } finally {
      if (platform !== undefined) Object.defineProperty(process, 'platform', platform);
    }
  });
});
