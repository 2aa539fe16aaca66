import type { Cluster } from '../../cluster/cluster.ts';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { diskSettings, diskSettingsName } from '../../kube/stowage/disk-settings.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import type { Random } from '../../runtime/random.ts';
import { disksComeToRest, grantableExpansionsAreGranted, roomIsUsed } from '../invariants/disk-room.ts';
import { diskInvariants, disksAreAtRest } from '../invariants/disks.ts';
import { healthyReplicaStays } from '../invariants/healthy-replicas.ts';
import type { ActionContext, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { gibibyte } from '../simulated-driver.ts';
import {
  changeRequest,
  createDiskObject,
  createImageObject,
  createVolumeObject,
  mergeDiskObject,
  past,
  reportData,
} from './disk-objects.ts';

const nodeNames = ['n0', 'n1', 'n2'] as const;
const diskNames = ['a', 'b'] as const;
const volumeNames = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'] as const;
const imageNames = ['i0', 'i1'] as const;
/** Replicas of another program. */
const floodNames = ['x0', 'x1', 'x2', 'x3'] as const;
const diskGib = 12;

/** Storage nodes with two disks each, volumes with replicas, backing images, and two processes that decide about all of them at once. */
export const disksPart: SimulationPart = {
  name: 'disks',
  processes: [
    { name: 'disks', controllers: ['disks'] },
    // Not a replica that waits for a Lease: any number of instances may act.
    { name: 'disks-too', controllers: ['disks'] },
    { name: 'collector', controllers: ['garbage-collector'] },
  ],
  needsOwnKinds: true,
  prepare: async ({ cluster }) => {
    for (const node of nodeNames) await createStorageNode(cluster, node);
  },
  invariants: [
    ...diskInvariants,
    healthyReplicaStays,
    disksAreAtRest,
    roomIsUsed,
    grantableExpansionsAreGranted,
    disksComeToRest,
  ],
  actions: [
    {
      name: 'create-volume',
      weight: 8,
      draw: drawVolume,
      run: createDrawnVolume,
    },
    {
      name: 'create-volume-from-image',
      weight: 2,
      draw: (random) => ({ ...drawVolume(random), image: random.pick(imageNames) }),
      run: createDrawnVolume,
    },
    {
      name: 'resize-volume',
      weight: 6,
      draw: (random) => ({ volume: random.pick(volumeNames), gib: 1 + random.int(10) }),
      run: async ({ cluster }, { volume, gib }) =>
        await mergeDiskObject(cluster, diskVolumes, volume, { spec: { size: Number(gib) * gibibyte } }),
    },
    {
      name: 'scale-volume',
      weight: 2,
      draw: (random) => ({ volume: random.pick(volumeNames), replicas: 1 + random.int(3) }),
      run: async ({ cluster }, { volume, replicas: numberOfReplicas }) =>
        await mergeDiskObject(cluster, diskVolumes, volume, { spec: { numberOfReplicas } }),
    },
    {
      name: 'delete-volume',
      weight: 4,
      draw: (random) => ({ volume: random.pick(volumeNames) }),
      run: async ({ cluster }, { volume }) =>
        void (await cluster.resource(diskVolumes).delete({ name: String(volume) })),
    },
    {
      name: 'create-image',
      weight: 2,
      draw: (random) => ({
        image: random.pick(imageNames),
        gib: 1 + random.int(3),
        copies: 1 + random.int(2),
        isSizeUnknown: random.int(2) === 0,
      }),
      run: async ({ cluster }, { image, gib, copies, isSizeUnknown }) =>
        await createImageObject(cluster, String(image), {
          gib: Number(gib),
          copies: Number(copies),
          isSizeUnknown: isSizeUnknown === true,
        }),
    },
    {
      name: 'delete-image',
      weight: 1,
      draw: (random) => ({ image: random.pick(imageNames) }),
      run: async ({ cluster }, { image }) =>
        void (await cluster.resource(backingImages).delete({ name: String(image) })),
    },
    {
      name: 'report-data',
      weight: 6,
      draw: () => ({}),
      run: reportData,
    },
    {
      name: 'fail-replica',
      weight: 1,
      draw: (random) => ({ volume: random.pick(volumeNames), number: random.int(3) }),
      run: async ({ cluster }, { volume, number }) =>
        await mergeDiskObject(
          cluster,
          replicas,
          `${volume}-r${number}`,
          { status: { failedAt: past } },
          'status',
        ),
    },
    {
      name: 'flood-disk',
      weight: 2,
      draw: (random) => drawDisk(random),
      run: floodDisk,
    },
    {
      name: 'change-request',
      weight: 2,
      draw: (random) => ({ volume: random.pick(volumeNames), number: random.int(3), gib: 1 + random.int(6) }),
      run: async ({ cluster }, { volume, number, gib }) =>
        await changeRequest(cluster, `${volume}-r${number}`, Number(gib) * gibibyte),
    },
    {
      name: 'edit-disk',
      weight: 3,
      draw: (random) => ({
        ...drawDisk(random),
        allowScheduling: random.int(3) > 0,
        evictionRequested: random.int(3) === 0,
      }),
      run: async ({ cluster }, { node, disk, allowScheduling, evictionRequested }) =>
        await mergeDiskObject(cluster, storageNodes, node, {
          spec: { disks: { [String(disk)]: { allowScheduling, evictionRequested } } },
        }),
    },
    {
      name: 'edit-storage-node',
      weight: 1,
      draw: (random) => ({ node: random.pick(nodeNames), evictionRequested: random.int(2) === 0 }),
      run: async ({ cluster }, { node, evictionRequested }) =>
        await mergeDiskObject(cluster, storageNodes, node, { spec: { evictionRequested } }),
    },
    {
      name: 'set-capacity-policy',
      weight: 1,
      draw: (random) => ({ percentage: 50 + random.int(200) }),
      run: async ({ cluster }, { percentage }) => {
        const spec = { capacityPolicy: 'OverProvision', overProvisioningPercentage: percentage };
        const existing = await cluster.resource(diskSettings).list();
        if (existing.items.length === 0)
          await createDiskObject(cluster, diskSettings, diskSettingsName, spec);
        else await mergeDiskObject(cluster, diskSettings, diskSettingsName, { spec });
      },
    },
    {
      name: 'resize-disk',
      weight: 3,
      isFault: true,
      draw: (random) => ({ ...drawDisk(random), gib: random.int(diskGib + 1) }),
      run: async ({ cluster }, { node, disk, gib }) => {
        const storageAvailable = Number(gib) * gibibyte;
        await reportDisk(cluster, node, disk, { storageAvailable });
      },
    },
    {
      name: 'lose-disk',
      weight: 2,
      isFault: true,
      draw: (random) => ({ ...drawDisk(random), forMs: 1_000 + random.int(60_000) }),
      run: async ({ cluster, clock }, { node, disk, forMs }) => {
        await reportDisk(cluster, node, disk, { conditions: [ready('False')] });
        await clock.sleep(Number(forMs), new AbortController().signal);
        await reportDisk(cluster, node, disk, { conditions: [ready('True')] });
      },
    },
    {
      name: 'remove-disk',
      weight: 1,
      isFault: true,
      draw: (random) => drawDisk(random),
      run: async ({ cluster }, { node, disk }) => {
        await mergeDiskObject(
          cluster,
          storageNodes,
          node,
          { status: { diskStatus: { [String(disk)]: null } } },
          'status',
        );
      },
    },
    {
      name: 'move-disk',
      weight: 1,
      isFault: true,
      draw: (random) => ({ ...drawDisk(random), to: random.pick(nodeNames) }),
      run: moveDisk,
    },
  ],
};

function drawVolume(random: Random): ActionParameters {
  return { volume: random.pick(volumeNames), gib: 1 + random.int(6), replicas: 1 + random.int(3) };
}

async function createDrawnVolume({ cluster }: ActionContext, parameters: ActionParameters): Promise<void> {
  const { volume, gib, replicas: numberOfReplicas, image } = parameters;
  await createVolumeObject(cluster, String(volume), {
    gib: Number(gib),
    replicas: Number(numberOfReplicas),
    ...(image !== undefined && { image: String(image) }),
  });
}

function drawDisk(random: Random): ActionParameters {
  return { node: random.pick(nodeNames), disk: random.pick(diskNames) };
}

// ── What the agents of the nodes report, and other programs write ──

/** Another program places replicas of its own and requests their bytes in one write, without checking the free bytes of the disk. */
async function floodDisk({ cluster }: ActionContext, { node, disk }: ActionParameters): Promise<void> {
  const { status } = await cluster.resource(storageNodes).get({ name: String(node) });
  const diskID = status?.diskStatus?.[String(disk)]?.diskUUID;
  if (diskID === undefined) return;
  const size = 5 * gibibyte;
  const place = { volumeName: 'x', volumeSize: size, nodeID: String(node), diskID };
  for (const name of floodNames) await createDiskObject(cluster, replicas, name, place);
  const requests = Object.fromEntries(floodNames.map((name) => [name, size]));
  await mergeDiskObject(cluster, diskSchedules, diskID, { spec: { replicas: requests } });
}

/** The disk is put into another node, where it has a separate name. */
async function moveDisk({ cluster }: ActionContext, { node, disk, to }: ActionParameters): Promise<void> {
  if (node === to) return;
  const from = await cluster.resource(storageNodes).get({ name: String(node) });
  const moved = from.status?.diskStatus?.[String(disk)];
  if (moved === undefined) return;
  const name = `${disk}-of-${node}`;
  await mergeDiskObject(
    cluster,
    storageNodes,
    node,
    { status: { diskStatus: { [String(disk)]: null } } },
    'status',
  );
  await mergeDiskObject(cluster, storageNodes, to, { spec: { disks: { [name]: { path: `/${name}` } } } });
  await mergeDiskObject(cluster, storageNodes, to, { status: { diskStatus: { [name]: moved } } }, 'status');
}

async function reportDisk(
  cluster: Cluster,
  node: unknown,
  disk: unknown,
  change: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { status } = await cluster.resource(storageNodes).get({ name: String(node) });
  // A disk that was removed or moved reports nothing.
  if (status?.diskStatus?.[String(disk)] === undefined) return;
  const body = { status: { diskStatus: { [String(disk)]: change } } };
  await mergeDiskObject(cluster, storageNodes, node, body, 'status');
}

async function createStorageNode(cluster: Cluster, name: string): Promise<void> {
  const disks = Object.fromEntries(diskNames.map((disk) => [disk, { path: `/${disk}` }]));
  await createDiskObject(cluster, storageNodes, name, { disks });
  const diskStatus = Object.fromEntries(
    diskNames.map((disk, at) => {
      const number = nodeNames.indexOf(name as (typeof nodeNames)[number]) * diskNames.length + at;
      const diskUUID = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
      const bytes = diskGib * gibibyte;
      return [
        disk,
        { diskUUID, storageMaximum: bytes, storageAvailable: bytes, conditions: [ready('True')] },
      ];
    }),
  );
  const zone = name === 'n2' ? 'b' : 'a';
  await mergeDiskObject(cluster, storageNodes, name, { status: { zone, diskStatus } }, 'status');
}

function ready(status: 'True' | 'False'): object {
  return { type: 'Ready', status, reason: 'Reported', message: '', lastTransitionTime: past };
}
