import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { Lens } from './lens';
import { poll } from './poll';
import { Target, type Region } from './target';
import { labelled, type TreeRow } from './tree_view';
import { useWorkbench } from './workbench';

/** A name that would be an icon, emphasis and a tag if somebody took it for markup. */
const FILE_NAME = 'plain $(bug) *text* <b>.bin';

const workbench = useWorkbench();
let target: Target;
let lens: Lens;

beforeAll(async () => {
  target = await Target.start(inject('workbench').workspace, FILE_NAME);
  lens = new Lens(workbench());
});

afterAll(async () => {
  await target.stop();
});

function rangeOf(region: Region): string {
  return `${region.start.padStart(8, '0')}-${region.end.padStart(8, '0')}`;
}

/** The range in a row: its description ends with it. */
function shownRange(row: TreeRow | undefined): string {
  return row?.description.split(' · ').at(-1) ?? '';
}

function proc(file: string): string {
  return readFileSync(`/proc/${target.facts.pid}/${file}`, 'latin1');
}

/** The mappings of the process as the kernel lists them now. */
function ranges(): string[] {
  return (
    proc('maps')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ', 1)[0] ?? '')
      // Every process has it, and reading /proc/PID/mem there is not what this is about.
      .filter((range) => !range.startsWith('ffffffffff600000'))
  );
}

/** The block of smaps for a region. */
function smapsOf(region: Region): string {
  const [, after = ''] = proc('smaps').split(`${region.start}-${region.end} `);
  return after.slice(0, after.indexOf('VmFlags')) + (/VmFlags:.*/.exec(after)?.[0] ?? '');
}

async function childrenOf(group: string): Promise<TreeRow[]> {
  await lens.addressSpace.expand(labelled(group), group);
  return lens.addressSpace.children(labelled(group), group);
}

async function waitForRegions(): Promise<void> {
  await poll('the target in Address Space', async () =>
    (await lens.addressSpace.description()).includes(String(target.facts.pid)),
  );
  await lens.addressSpace.findRow(labelled('Sealed'), 'the Sealed group');
}

describe('finding a process', () => {
  it('is found in Processes by its number, and a click shows its memory', async () => {
    const { pid } = target.facts;
    await lens.showOnly(lens.processes, lens.addressSpace);
    await lens.runWith(COMMANDS.filterProcesses, String(pid));
    const row = await lens.processes.findRow(
      (each) => each.description.startsWith(`${pid} · `),
      'the target',
    );
    expect(row.label).toMatch(/^python/);
    await lens.processes.waitForMessage(new RegExp(`^Filter "${pid}": \\d+ of [\\d,]+ processes`));
    await workbench().screenshot('processes-filtered');
    await lens.processes.click((each) => each.index === row.index, 'the target');
    await waitForRegions();
    await poll('the mark of the inspected process', async () =>
      (await lens.processes.rows()).some((each) => each.icons.includes('eye')),
    );
    await lens.run(COMMANDS.clearProcessFilter);
    await poll('the filter to go', async () => (await lens.processes.message()) === '');
  });

  it('stands below the process that started it', async () => {
    await lens.showOnly(lens.processes);
    const rows = await poll('the list of processes', async () => {
      const all = await lens.processes.rows();
      return all.some((row) => row.description.startsWith(`${target.facts.pid} · `)) && all;
    });
    const own = rows.findIndex((row) => row.description.startsWith(`${target.facts.pid} · `));
    const level = rows[own]?.level ?? 0;
    const parent = rows.slice(0, own).findLast((row) => row.level === level - 1);
    expect(parent?.description).toMatch(new RegExp(`^${process.pid} `));
  });

  it('is found by Inspect Process… by a part of its command line', async () => {
    await lens.run(COMMANDS.closeTarget);
    await poll('nothing to be shown', async () => (await lens.addressSpace.description()) === '');
    await lens.showOnly(lens.addressSpace);
    await lens.run(COMMANDS.inspectProcess);
    const { quickInput } = workbench();
    await quickInput.type('target.py');
    const { pid } = target.facts;
    const item = await quickInput.waitForItem((each) => each.description.startsWith(`${pid} `), 'the target');
    // The command line ends with the name of the file: no icon is made of it. (A word joiner may break it up.)
    expect(item.detail.replaceAll('\u2060', '')).toContain(FILE_NAME);
    await workbench().screenshot('inspect-process');
    await quickInput.chooseItem((each) => each.description.startsWith(`${pid} `), 'the target');
    await waitForRegions();
  });
});

describe('its address space', () => {
  it('pins the sealed region with a lock', async () => {
    const { sealed } = target.facts;
    await lens.showOnly(lens.addressSpace);
    const [first] = await lens.addressSpace.rows();
    expect(first?.label).toBe('Sealed');
    if (!sealed.sealed) {
      // A kernel before 6.10: it says so, and there is nothing to open.
      expect(first).toMatchObject({ expanded: undefined });
      return;
    }
    expect(first?.icons).toEqual(['lock']);
    expect(first?.description).toMatch(/^1 of \d+ mappings · 16 kB of /);
    const [row, ...others] = await childrenOf('Sealed');
    expect(others).toEqual([]);
    expect(row?.icons).toEqual(['lock']);
    expect(row?.description).toMatch(/^r--p 16 kB · sealed · /);
    expect(row?.description).toContain(rangeOf(sealed));
    expect(row?.description).toContain('sealed');
    expect(row?.ariaLabel).toContain('sealed');
    // Once more at its place.
    const anonymous = await childrenOf('Anonymous');
    expect(anonymous.find((each) => each.description.includes(rangeOf(sealed)))?.icons).toEqual(['lock']);
  });

  it('shows anonymous, named, file, heap and stack memory where they are', async () => {
    const { plain, named, file, heap } = target.facts;
    const anonymous = await childrenOf('Anonymous');
    const plainRow = anonymous.find((row) => row.description.includes(rangeOf(plain)));
    expect(plainRow?.description).toBe(`rw-p 64 kB · RSS 12 kB · ${rangeOf(plain)}`);
    if (named.name === null) {
      // This kernel has no names: the region is anonymous like any other.
      expect(anonymous.some((row) => row.description.includes(rangeOf(named)))).toBe(true);
    } else {
      const rows = await childrenOf('Named anonymous');
      expect(rows.find((row) => row.description.includes(rangeOf(named)))?.label).toBe('[anon:e2e cache]');
    }
    const files = await childrenOf('Files');
    const fileRow = files.find((row) => row.description.includes(rangeOf(file)));
    expect(fileRow?.label).toBe(FILE_NAME);
    const [heapRow] = await childrenOf('Heap');
    expect(heapRow?.label).toBe('[heap]');
    const [start = 0, end = 0] = shownRange(heapRow)
      .split('-')
      .map((part) => parseInt(part, 16));
    expect(heap.address).toBeGreaterThanOrEqual(start);
    expect(heap.address).toBeLessThan(end);
    const [stackRow] = await childrenOf('Stack');
    expect(stackRow?.label).toBe('[stack]');
    await workbench().screenshot('address-space');
  });

  it('says every field and flag of smaps in the tooltip', async () => {
    const { plain } = target.facts;
    const text = await lens.addressSpace.tooltip(
      (row) => row.description.includes(rangeOf(plain)) && row.level > 1,
      'the plain region',
    );
    await workbench().screenshot('address-space-scrolled');
    const block = smapsOf(plain);
    const fields = [...block.matchAll(/^(\w+): /gm)].map((match) => match[1] ?? '');
    expect(fields.length).toBeGreaterThan(10);
    for (const field of fields.filter((name) => name !== 'VmFlags')) expect(text).toContain(field);
    const flags = (/VmFlags: (.*)/.exec(block)?.[1] ?? '').trim().split(' ');
    expect(flags).toContain('rd');
    for (const flag of flags) expect(text).toMatch(new RegExp(`\\b${flag}\\b`));
  });

  it('does not take a file name for markup', async () => {
    const fits = (row: TreeRow): boolean => row.label === FILE_NAME;
    const text = await lens.addressSpace.tooltip(fits, FILE_NAME);
    expect(text).toContain(FILE_NAME);
  });

  it('lists every mapping of the process in order when grouped by address', async () => {
    await lens.runAndChoose(COMMANDS.groupBy, 'Address');
    const expected = ranges();
    const shown = await poll('as many rows as maps has lines', async () => {
      const rows = (await lens.addressSpace.rows()).filter(
        (row) => row.level === 1 && row.label !== 'Sealed',
      );
      return rows.length >= expected.length && rows;
    });
    const listed = shown.map(shownRange);
    expect(listed.filter((range) => !range.startsWith('ffffffffff600000'))).toEqual(expected);
  });

  it('filters', async () => {
    await lens.runWith(COMMANDS.filterAddressSpace, `at:${target.facts.plain.start}`);
    const rows = await poll('all rows but one to go', async () => {
      const all = (await lens.addressSpace.rows()).filter((row) => row.label !== 'Sealed');
      return all.length === 1 && all;
    });
    expect(rows.map(shownRange)).toEqual([rangeOf(target.facts.plain)]);
    await lens.addressSpace.waitForMessage(new RegExp(`Filter "at:${target.facts.plain.start}": 1 of `));
    await lens.run(COMMANDS.clearAddressSpaceFilter);
    await poll('the filter to go', async () => !(await lens.addressSpace.message()).includes('Filter'));
  });

  it('shows a new mapping after a refresh and keeps what was open', async () => {
    await lens.runAndChoose(COMMANDS.groupBy, 'Kind');
    await childrenOf('Anonymous');
    const more = await target.mapMore();
    await lens.run(COMMANDS.refresh);
    const row = await lens.addressSpace.findRow(
      (each) => each.description.includes(rangeOf(more)),
      'the new mapping, in the group that was open',
    );
    expect(row.level).toBe(2);
  });

  it('says in Shared Names what the kernel does not tell', async () => {
    await lens.showOnly(lens.sharedNames);
    const text = target.facts.named.name === null ? 'No anonymous memory with a name' : 'not the objects';
    await poll('the remark', async () => (await lens.sharedNames.message()).includes(text));
  });
});

describe('a process that has gone', () => {
  it('is told when its memory is read again', async () => {
    await lens.showOnly(lens.addressSpace);
    await target.stop();
    await lens.run(COMMANDS.refresh);
    const text = await workbench().notification(String(target.facts.pid));
    expect(text).toMatch(/ended|does not exist/);
    await poll('the reason in the view', async () =>
      (await lens.addressSpace.message()).includes(String(target.facts.pid)),
    );
    await workbench().screenshot('process-gone');
    await workbench().clearNotifications();
  });

  it('is told when its number is typed, also where another command line holds that number', async () => {
    const { pid } = target.facts;
    // Far behind in a long command line, where the list does not show it.
    const other = spawn('python3', ['-c', 'input()', 'x'.repeat(300), String(pid)]);
    try {
      await lens.run(COMMANDS.inspectProcess);
      const { quickInput } = workbench();
      await quickInput.type(String(pid));
      await quickInput.choose(`Process ${pid}`);
      expect(await workbench().notification(String(pid))).toMatch(/ended|does not exist/);
    } finally {
      other.stdin.end();
    }
  });
});
