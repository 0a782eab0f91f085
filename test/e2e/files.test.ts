import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/extension/ids';
import { Lens } from './lens';
import { poll } from './poll';
import { labelled } from './tree_view';
import { useWorkbench } from './workbench';

const MAPS = `00400000-00401000 r-xp 00000000 08:01 131 /usr/bin/tool
00600000-00602000 rw-p 00000000 08:01 131 /usr/bin/tool
01000000-01021000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000010000 rwxp 00000000 00:00 0
7f0000020000-7f0000021000 rw-s 00000000 00:05 42 /memfd:ring (deleted)
7f0000030000-7f0000034000 rw-p 00000000 00:00 0 [anon:jit code]
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
`;

const SMAPS = `7f0000000000-7f0000010000 r--p 00000000 00:00 0                          [anon:config]
Size:                 64 kB
Rss:                  16 kB
Locked:                0 kB
VmFlags: rd mr mw me sl
`;

const workbench = useWorkbench();
let lens: Lens;

beforeAll(async () => {
  lens = new Lens(workbench());
  await lens.showOnly(lens.addressSpace);
});

/** Runs Open maps/smaps… and answers the workbench's file dialog with a path. */
async function openMaps(name: string, text: string): Promise<void> {
  const path = join(workbench().workspace, name);
  writeFileSync(path, text);
  await lens.run(COMMANDS.openMaps);
  await workbench().quickInput.answerFile(path);
}

it('shows a saved maps file', async () => {
  await openMaps('saved.maps', MAPS);
  await poll('the file', async () => (await lens.addressSpace.description()).includes('saved.maps'));
  const sealed = await lens.addressSpace.findRow(labelled('Sealed'), 'Sealed');
  expect(sealed.description).toBe('unknown: plain maps do not show seals');
  expect(sealed.icons).toEqual(['question']);
  await lens.runAndChoose(COMMANDS.groupBy, 'Address');
  const labels = ['tool', 'tool', '[heap]', 'anonymous', 'memfd:ring', '[anon:jit code]', '[stack]'];
  const rows = await poll(`the mappings ${labels.join()}`, async () => {
    const all = (await lens.addressSpace.rows()).filter((row) => row.label !== 'Sealed');
    return all.map((row) => row.label).join() === labels.join() && all;
  });
  expect(rows[3]).toMatchObject({
    icons: ['warning'],
    description: expect.stringContaining('writable and executable'),
  });
  await workbench().screenshot('saved-maps');
});

it('goes from a mapping to its line', async () => {
  await lens.addressSpace.chooseFromMenu(labelled('[heap]'), '[heap]', 'Go to Line in Text');
  await workbench()
    .statusBar(/^Ln 3, Col 1$/)
    .waitFor();
  expect(await workbench().activeTab()).toContain('saved.maps');
});

it('shows the seals of a saved smaps file', async () => {
  await openMaps('saved.smaps', SMAPS);
  await poll('the file', async () => (await lens.addressSpace.description()).includes('saved.smaps'));
  await lens.addressSpace.findRow(
    (row) => row.label === 'Sealed' && row.description === '1 of 1 mapping · 64 kB of 64 kB (100%)',
    'the seal of the file',
  );
  const names = lens.sharedNames;
  await lens.showOnly(names);
  const name = await names.findRow(labelled('"config"'), 'the name');
  expect(name.description).toContain('1 mapping');
  await lens.showOnly(lens.addressSpace);
});

it('tells the line of a problem and shows the rest', async () => {
  await openMaps('broken.maps', MAPS.replace('01000000-01021000', '0100z000-01021000'));
  await poll('the problem', async () => (await lens.addressSpace.message()).includes('line 3'));
  await lens.addressSpace.findRow(labelled('[stack]'), 'the last mapping');
});

it('tells that a file is none of its kind', async () => {
  await openMaps('letter.txt', 'Dear reader,\nthere are no mappings here.\n');
  expect(await workbench().notification('letter.txt')).toContain('line 1');
  await workbench().clearNotifications();
});

it('puts a huge list into ranges', async () => {
  const count = 20_000;
  const line = (i: number): string => {
    const start = 0x10000000 + i * 0x2000;
    return `${start.toString(16)}-${(start + 0x1000).toString(16)} rw-p 00000000 00:00 0\n`;
  };
  await openMaps('huge.maps', Array.from({ length: count }, (_, i) => line(i)).join(''));
  await lens.runAndChoose(COMMANDS.groupBy, 'Address');
  const first = await lens.addressSpace.findRow(
    (row) => row.label.startsWith('10000000-'),
    'the first range',
  );
  expect(first.siblings).toBeGreaterThan(1);
  expect(first.siblings).toBeLessThanOrEqual(500);
  expect(first.description).toMatch(/^[\d,]+ mappings/);
  await lens.addressSpace.expand((row) => row.index === first.index, 'the first range');
  const mapping = await lens.addressSpace.findRow(
    (row) => row.level === 2 && row.description.includes('10000000-10001000'),
    'the first mapping',
  );
  expect(mapping.siblings).toBeGreaterThan(1);
  expect(mapping.siblings).toBeLessThanOrEqual(500);
});
