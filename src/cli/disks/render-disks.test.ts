import { expect, test } from 'vitest';
import type { DiskObjects } from '../../queries/disks/disk-objects.ts';
import { VolumesOnDisks } from '../../queries/disks/disk-volume-lines.ts';
import { imageLines } from '../../queries/disks/image-lines.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { disksDescriptionOf } from './describe.ts';
import { targetNamed } from './disk-targets.ts';
import { disksReport, tagsIn } from './list.ts';
import { renderDescription } from './render-descriptions.ts';
import { type RenderDisksOptions, renderDisks, renderDiskVolumes, renderImages } from './render-disks.ts';
import { sampleObjects, uuidOf } from './testing/disk-samples.ts';

const golden = (name: string) => `./testing/golden/${name}`;
const options: RenderDisksOptions = { terminal: plainTerminal, env: {}, isWide: false };
const screen: Terminal = { width: 160, hasColour: false, isInteractive: true };
const apiVersion = 'stowage.dev/disks/v1';

function described(argument: string, objects: DiskObjects = sampleObjects, how = options): string {
  return renderDescription(disksDescriptionOf(targetNamed(argument, objects), objects), how);
}

test('disks show what is scheduled, pending and free, and why some take nothing', async () => {
  const report = disksReport(sampleObjects, undefined, []);
  await expect(renderDisks(report, options)).toMatchFileSnapshot(golden('disks.txt'));
  await expect(renderDisks(report, { ...options, isWide: true })).toMatchFileSnapshot(
    golden('disks-wide.txt'),
  );
  const utf8 = { ...options, terminal: screen, env: { LANG: 'C.UTF-8' } };
  await expect(renderDisks(report, utf8)).toMatchFileSnapshot(golden('disks-bars.txt'));
  await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('disks-json.txt'));
});

test('disks are selected by node and by tags of the disk and of its node', () => {
  const named = (node: string | undefined, selector?: string) =>
    disksReport(sampleObjects, node, tagsIn(selector)).disks.map(({ node: on, disk }) => `${on}/${disk}`);
  expect(named('n2')).toEqual(['n2/ssd']);
  expect(named(undefined, 'rack-1')).toEqual(['n1/hdd', 'n1/new', 'n1/ssd']);
  expect(named(undefined, 'rack-1, fast')).toEqual(['n1/ssd']);
  expect(named(undefined, 'slow')).toEqual([]);
  expect(() => tagsIn('a,,b')).toThrow('--selector: "a,,b" must be tags, separated by commas');
});

test('volumes show their replicas, their claim and what they wait for', async () => {
  const volumes = new VolumesOnDisks(sampleObjects).lines;
  const report = { apiVersion, kind: 'DiskVolumesReport', volumes, notes: [] } as const;
  await expect(renderDiskVolumes(report, options)).toMatchFileSnapshot(golden('volumes.txt'));
});

test('images show their copies, and no password of their source', async () => {
  const report = {
    apiVersion,
    kind: 'BackingImagesReport',
    images: imageLines(sampleObjects),
    notes: [],
  } as const;
  const text = renderImages(report, options);
  await expect(text).toMatchFileSnapshot(golden('images.txt'));
  expect(text).not.toContain('secret');
});

test.each([
  ['disk/n1/ssd', 'disk.txt'],
  ['disk/n1/hdd', 'disk-over-provisioned.txt'],
  ['node/n2', 'node.txt'],
  ['volume/db', 'volume.txt'],
  ['image/ubuntu', 'image.txt'],
])('%s is described', async (argument, file) => {
  await expect(described(argument)).toMatchFileSnapshot(golden(file));
});

test('a disk is described with a bar on a terminal', () => {
  expect(described('n1/ssd', sampleObjects, { ...options, terminal: screen })).toMatch(/^Use: +\[#+\.+\]$/m);
});

test('an over-committed disk says by how much', () => {
  expect(described('disk/n2/ssd')).toContain(
    'none: 20Gi (21474836480 bytes) more are scheduled than the limit',
  );
});

test.each([
  ['db', 'volume/db'],
  [uuidOf('aaaaaaaa'), 'disk/n1/ssd'],
  ['aaaaaaaa', 'disk/n1/ssd'],
  ['n1/hdd', 'disk/n1/hdd'],
  ['hdd', 'disk/n1/hdd'],
  ['n3', 'node/n3'],
  ['storagenode.stowage.dev/n3', 'node/n3'],
  [`diskschedule.stowage.dev/${uuidOf('eeeeeeee')}`, 'disk/n3/gone'],
  ['volume.stowage.dev/db', 'volume/db'],
  ['claim/shop/data-db-0', 'volume/db'],
  ['backingimage.stowage.dev/ubuntu', 'image/ubuntu'],
])('%s names %s', (argument, expected) => {
  expect(described(argument)).toBe(described(expected));
});

test.each([
  ['ssd', '"ssd" is ambiguous; it must be one of disk/n1/ssd, disk/n2/ssd, disk/n3/ssd'],
  ['nothing', 'there is no disk, node, volume or image named nothing; there are disk/n1/hdd'],
  ['volume/nothing', 'there is no volume/nothing; there are volume/db, volume/big'],
  ['disk/a', 'there is no disk/a; there are disk/n1/hdd'],
  ['claim/shop/other', 'there is no claim/shop/other; there are volume/db'],
  ['', 'there is no disk, node, volume or image named ;'],
])('"%s" is refused, and what exists is named', (argument, message) => {
  expect(() => described(argument)).toThrow(message);
});

test('what could not be read is not called missing', () => {
  const blind = { ...sampleObjects, volumes: undefined, replicas: undefined, images: undefined };
  expect(described('node/n2', blind)).toMatch(/stuck-r0 .* Waiting +replicas or volumes could not be read/);
  expect(described('disk/n1/ssd', blind)).toMatch(/replica +db-r0 +- /);
});

test('an image that a replica on the evicted disk needs says so, and one that failed can not move', () => {
  const message =
    'Each of 2 copies has been granted 1 bytes; the copy on disk ssd on node n2 stays while replica db-r1 is there';
  const objects = (condition: {
    status: 'True' | 'False';
    reason: string;
    message: string;
  }): DiskObjects => ({
    ...sampleObjects,
    schedules: sampleObjects.schedules.map((schedule) =>
      schedule.spec?.nodeID === 'n2'
        ? { ...schedule, spec: { ...schedule.spec, backingImages: { alpine: 1 } } }
        : schedule,
    ),
    images: [
      { metadata: { name: 'alpine' }, status: { conditions: [{ type: 'DiskAllocation', ...condition }] } },
    ],
  });
  expect(described('n2', objects({ status: 'True', reason: 'Scheduled', message }))).toMatch(
    /alpine .* Waiting +the copy on disk ssd on node n2 stays while replica db-r1 is there/,
  );
  expect(described('n2', objects({ status: 'False', reason: 'CopyFailed', message: 'it failed' }))).toMatch(
    /alpine .* Blocked +it failed/,
  );
});

test('an image whose copy failed says why, not only that it is tried again', () => {
  const failed = { status: 'False', reason: 'CopyFailed' } as const;
  const conditions = [
    { type: 'DiskAllocation', message: 'another copy is placed later', ...failed },
    { type: 'Ready', message: 'No copy is ready; the checksum is another one', ...failed },
  ];
  const objects = { ...sampleObjects, images: [{ metadata: { name: 'alpine' }, status: { conditions } }] };
  expect(described('image/alpine', objects)).toMatch(
    /^State: +CopyFailed: No copy is ready; the checksum is another one$/m,
  );
});

test('a node names its disks that can not be used', () => {
  const message = "Disks that can't be used: new; status.diskStatus says why";
  const node = (status: 'True' | 'False', reason: string): DiskObjects => ({
    ...sampleObjects,
    nodes: [
      { metadata: { name: 'n9' }, status: { conditions: [{ type: 'Ready', status, reason, message }] } },
    ],
  });
  expect(described('n9', node('True', 'SomeDisksNotReady'))).toMatch(
    /^State: +Ready: Disks that can't be used: new/m,
  );
  expect(described('n9', node('False', 'DisksNotReady'))).toMatch(/^State: +NotReady: Disks that can't/m);
  expect(described('n9', node('True', 'DisksAnswer'))).toMatch(/^State: +Ready$/m);
});

test('text of others can not control the terminal', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  const escapes = /\u001b\[2J|b\nc/;
  const hostile = 'a\u001b[2Jb\nc';
  const objects: DiskObjects = {
    ...sampleObjects,
    nodes: [
      {
        metadata: { name: 'n1' },
        spec: { disks: { [hostile]: { path: '/d', tags: [hostile] } } },
        status: { conditions: [{ type: 'Ready', status: 'False', message: hostile }] },
      },
    ],
    schedules: [],
  };
  for (const how of [options, { ...options, isWide: true }]) {
    expect(renderDisks(disksReport(objects, undefined, []), how)).not.toContain('\u001b[2J');
    expect(described('node/n1', objects, how)).not.toMatch(escapes);
    expect(described(`n1/${hostile}`, objects, how)).not.toMatch(escapes);
  }
});

test('without disks, the next step is named', () => {
  const nothing = { ...sampleObjects, nodes: [], schedules: [] };
  expect(renderDisks(disksReport(nothing, undefined, []), options)).toBe(
    'There are no disks. A StorageNode with spec.disks has some.\n',
  );
});
