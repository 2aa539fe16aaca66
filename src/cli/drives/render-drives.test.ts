import { expect, test } from 'vitest';
import { readBlockDevices } from '../../drives/devices/block-device.ts';
import { DeviceTree } from '../../drives/devices/testing/device-tree.ts';
import { claim, node, pod, volume } from '../../engine/testing/objects.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { type Drive, type DriveVolume, drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { driveLines, driveNodeLines } from '../../queries/drives/drive-lines.ts';
import type { DriveObjects } from '../../queries/drives/drive-objects.ts';
import { linesAbout, volumeLines } from '../../queries/drives/volume-lines.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { drivesReportOf } from './list.ts';
import {
  type DevicesReport,
  deviceLine,
  type InitReport,
  renderDevices,
  renderInit,
} from './render-devices.ts';
import {
  type RenderDrivesOptions,
  renderDriveNodes,
  renderDrives,
  renderDriveVolumes,
  renderVolumeDetails,
} from './render-drives.ts';

const gib = 2 ** 30;
const golden = (name: string) => `./testing/golden/${name}`;

function drive(name: string, volumes: readonly DriveVolume[], rest: Partial<Drive> = {}): Drive {
  const uuid = `${name.slice(-8)}-4a2e-4c6f-9d0b-5d8f3a1c2e77`;
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T10:00:00Z', labels: { rack: 'r1' } },
    spec: { nodeName: name.split('-')[0]!, filesystemUUID: uuid, accessTier: 'Hot', volumes, ...rest.spec },
    status: {
      capacityBytes: 100 * gib,
      state: 'Ready',
      device: { path: '/dev/nvme0n1', make: 'Example NVMe' },
      ...rest.status,
    },
  };
}

function entry(name: string, sizeGib: number, rest: Partial<DriveVolume> = {}): DriveVolume {
  return { name, sizeBytes: sizeGib * gib, ...rest };
}

function onDrive(name: string): PersistentVolume {
  const made = volume(name, '1Gi');
  return { ...made, spec: { ...made.spec, csi: { driver: drivesDriver, volumeHandle: name } } };
}

const owned = (name: string) => ({ claimRef: { namespace: 'default', name, uid: `uid-${name}` } });

/** Drives in every state, and volumes in every state. */
const objects: DriveObjects = {
  drives: [
    drive('n2-5d8f3a1c', [], {
      spec: { unschedulable: true, accessTier: 'Cold' },
      status: {
        conditions: [
          { type: 'LedgerMatches', status: 'True', reason: 'Matches' },
          {
            type: 'DirectoriesMatch',
            status: 'False',
            reason: 'OrphanedDirectories',
            message: 'volume pvc-old has a directory and no entry in the ledger',
          },
        ],
      },
    }),
    drive('n1-b7f6c1de', [
      entry('pvc-db', 40, owned('db')),
      entry('pvc-next', 10, owned('next')),
      entry('pvc-old', 5, { state: 'Releasing' }),
      entry('pvc-leak', 1, owned('gone')),
      entry('csi-inline', 1, { podRef: { namespace: 'default', name: 'cache-0' } }),
    ]),
    drive('n1-0a3b8f1c', [entry('pvc-lost', 90, owned('db'))], { status: { state: 'Lost' } }),
    { ...drive('n3-61b9e5f4', []), status: {} },
  ],
  claims: [
    claim('db', '40Gi'),
    claim('next', '10Gi'),
    claim('coming', '20Gi', {
      metadata: {
        namespace: 'default',
        name: 'coming',
        uid: 'u',
        annotations: { [annotations.drive]: 'n1-b7f6c1de' },
      },
    }),
    // Its volume is in the ledger already.
    claim('next', '10Gi', {
      metadata: {
        namespace: 'default',
        name: 'next',
        uid: 'uid-next',
        annotations: { [annotations.drive]: 'n1-b7f6c1de' },
      },
    }),
  ],
  volumes: [onDrive('pvc-db'), onDrive('pvc-lost')],
  pods: [pod('db-0', ['db'])],
  nodes: ['n1', 'n2', 'n3'].map((name) => node(name)),
  notes: [],
};

const options: RenderDrivesOptions = {
  terminal: plainTerminal,
  env: {},
  isWide: false,
  nowMs: Date.parse('2026-01-01T12:00:00Z'),
};
const screen: Terminal = { width: 120, hasColour: false, isInteractive: true };

test('drives show what is used, promised and free', async () => {
  const report = { ...drivesReportOf('DrivesReport'), drives: driveLines(objects), notes: [] };
  await expect(renderDrives(report, options)).toMatchFileSnapshot(golden('drives.txt'));
  await expect(renderDrives(report, { ...options, isWide: true })).toMatchFileSnapshot(
    golden('drives-wide.txt'),
  );
  await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('drives-json.txt'));
  const onScreen = { ...options, terminal: screen };
  await expect(renderDrives(report, { ...onScreen, env: { LANG: 'C.UTF-8' } })).toMatchFileSnapshot(
    golden('drives-bars.txt'),
  );
  await expect(renderDrives(report, onScreen)).toMatchFileSnapshot(golden('drives-ascii.txt'));
});

test('nodes show the sums of their drives', async () => {
  const report = {
    ...drivesReportOf('DriveNodesReport'),
    nodes: driveNodeLines(driveLines(objects)),
    notes: [],
  };
  await expect(renderDriveNodes(report, options)).toMatchFileSnapshot(golden('nodes.txt'));
  await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('nodes-json.txt'));
});

test('volumes show who uses them, and which are lost or leaked', async () => {
  const report = { ...drivesReportOf('DriveVolumesReport'), volumes: volumeLines(objects), notes: [] };
  await expect(renderDriveVolumes(report, options)).toMatchFileSnapshot(golden('volumes.txt'));
  await expect(renderDriveVolumes(report, { ...options, isWide: true })).toMatchFileSnapshot(
    golden('volumes-wide.txt'),
  );
  await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('volumes-json.txt'));
  await expect(renderVolumeDetails(linesAbout('pvc-db', report.volumes), plainTerminal)).toMatchFileSnapshot(
    golden('volume.txt'),
  );
  expect(linesAbout('default/next', report.volumes).map(({ volume }) => volume)).toEqual(['pvc-next']);
});

test('a drive whose Node does not exist is not ready in any list', () => {
  const gone = { ...objects, nodes: [node('n2'), node('n3')] };
  expect(driveLines(gone).map(({ drive, state }) => `${drive} ${state}`)).toEqual([
    'n1-0a3b8f1c NodeGone',
    'n1-b7f6c1de NodeGone',
    'n2-5d8f3a1c Ready',
    'n3-61b9e5f4 Unknown',
  ]);
  expect(driveNodeLines(driveLines(gone))[0]).toMatchObject({ readyCount: 0, states: { NodeGone: 2 } });
  expect(linesAbout('pvc-db', volumeLines(gone))[0]?.driveState).toBe('NodeGone');
});

test('what could not be read is not called zero, missing or leaked', () => {
  const blind = { ...objects, claims: undefined, volumes: undefined, pods: undefined, nodes: undefined };
  expect(driveLines(blind).map(({ state }) => state)).not.toContain('NodeGone');
  expect(driveLines(blind).every(({ promisedBytes }) => promisedBytes === undefined)).toBe(true);
  expect(driveNodeLines(driveLines(blind))[0]?.promisedBytes).toBeUndefined();
  expect(volumeLines(blind).map(({ state }) => state)).not.toContain('Leaked');
});

test('without drives, the next step is named', () => {
  const nothing = { ...objects, drives: [] };
  const drives = { ...drivesReportOf('DrivesReport'), drives: driveLines(nothing), notes: [] };
  expect(renderDrives(drives, options)).toBe(
    'There are no drives. stowage drives discover shows the devices of a node.\n',
  );
});

const tib = 2 ** 40;
const wide = { terminal: plainTerminal, isWide: true };
const narrow: Terminal = { ...screen, width: 60 };

/** Devices of every kind: empty, with data, mounted, with partitions, read-only, and one without a size that counts. */
async function devicesReport(): Promise<DevicesReport> {
  const tree = await DeviceTree.create({
    nvme0n1: {
      majorMinor: '259:0',
      sizeBytes: 2 * tib,
      files: { 'device/model': 'Example NVMe 990', 'device/serial': 'S6Z2NJ0W300417' },
    },
    sda: { majorMinor: '8:0', sizeBytes: tib, partitionTable: 'gpt' },
    sdb: { majorMinor: '8:16', sizeBytes: tib, filesystem: { type: 'ext4' } },
    sdc: { majorMinor: '8:32', sizeBytes: tib, filesystem: { type: 'xfs' }, mountPoint: '/srv/archive' },
    sdd: { majorMinor: '8:48', sizeBytes: tib, files: { ro: '1' } },
    sde: { majorMinor: '8:64', sizeBytes: 2 ** 20 },
  });
  const devices = (await readBlockDevices(tree.sources)).map(deviceLine);
  const shown = devices.map((line) => ({
    ...line,
    device: line.device.replace(tree.path(), ''),
    description: line.description?.replaceAll(tree.path(), ''),
  }));
  return { ...drivesReportOf('DevicesReport'), node: 'n1', devices: shown };
}

test('discover shows which devices can become drives, and why others cannot', async () => {
  const devices = await devicesReport();
  await expect(renderDevices(devices, { ...wide, isWide: false })).toMatchFileSnapshot(golden('devices.txt'));
  await expect(renderDevices(devices, { terminal: narrow, isWide: false })).toMatchFileSnapshot(
    golden('devices-narrow.txt'),
  );
  await expect(renderDevices(devices, wide)).toMatchFileSnapshot(golden('devices-wide.txt'));
  await expect(`${JSON.stringify(devices, undefined, 2)}\n`).toMatchFileSnapshot(golden('devices-json.txt'));
  expect(renderDevices({ ...devices, devices: [] }, wide)).toBe(
    'Node n1 has no block devices; --include-loop shows loop devices.\n',
  );
});

test('init says what has become of each device, on a narrow screen too', async () => {
  const init: InitReport = {
    ...drivesReportOf('InitReport'),
    node: 'n1',
    devices: [
      { device: '/dev/nvme0n1', drive: 'n1-b7f6c1de', result: 'formatted' },
      { device: '/dev/sda', drive: 'n1-e03f9a52', result: 'already registered' },
      { device: '/dev/sdb', result: 'refused', error: '/dev/sdb carries data of ext4; --force erases it' },
      {
        device: '/dev/sdc',
        result: 'failed',
        error: 'mkfs.xfs is not installed; install the package xfsprogs',
      },
    ],
  };
  await expect(renderInit(init, wide)).toMatchFileSnapshot(golden('init.txt'));
  expect(renderInit(init, { terminal: narrow, isWide: false })).toBe(renderInit(init, wide));
});
