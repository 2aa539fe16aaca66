import type { Cluster } from '../../cluster/cluster.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import type { Random } from '../../runtime/random.ts';
import type { ActionContext, ActionKind, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { gibibyte } from '../simulated-driver.ts';
import {
  changeRequest,
  createImageObject,
  createVolumeObject,
  mergeDiskObject,
  past,
  reportData,
} from './disk-objects.ts';
import { rareMoment } from './rare-moment.ts';

const { signal: never } = new AbortController();
/** The volume and the image of a moment; random actions do not use these names. */
const name = 'm';
const replicaName = `${name}-r0`;

/** How often another program looks for the moment when it interferes, and for how long. */
const lookMs = 5;
const looks = 400;

/** Sequences about disks that random actions hardly ever produce: someone interferes at the moment when it matters, or one process acts on old information. */
export const rareDiskMomentsPart: SimulationPart = {
  name: 'rare moments of disks',
  actions: [
    rareMoment('lower-request-at-start', () => ({}), lowerRequestAtStart),
    rareMoment('evict-unseen', oneOf('storagenodes', 'backingimages', 'replicas', 'volumes'), evictUnseen),
    rareMoment('expand-unseen', oneOf('volumes', 'replicas', 'diskschedules'), expandUnseen),
    rareMoment('expand-late', oneOf('volumes', 'replicas', 'diskschedules'), expandLate),
    rareMoment('scale-down-broken', drawBroken, scaleDownBroken),
    rareMoment('recreate-unseen', oneOf('replicas', 'diskschedules', 'backingimages'), recreateUnseen),
  ],
};

/** Another program lowers the request of a replica when its disk has granted it, and nothing runs with it yet. */
async function lowerRequestAtStart({ cluster, clock }: ActionContext): Promise<void> {
  await createVolumeObject(cluster, name, { gib: 3, replicas: 2 });
  for (let look = 0; look < looks; look += 1) {
    await clock.sleep(lookMs, never);
    const { items } = await cluster.resource(diskSchedules).list();
    if (items.some(({ status }) => ownValue(status?.replicas, replicaName)?.state === 'scheduled')) break;
  }
  for (const gib of [1, 2, 1]) {
    await changeRequest(cluster, replicaName, gib * gibibyte);
    await clock.sleep(20, never);
  }
}

/** A node is to be emptied, and then not any more, while one process does not see the changes of a kind. */
async function evictUnseen(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock } = context;
  await createImageObject(cluster, name, { gib: 1, copies: 2 });
  await createVolumeObject(cluster, name, { gib: 3, replicas: 2, image: name });
  await clock.sleep(3_000, never);
  const { spec } = await cluster.resource(replicas).get({ name: replicaName });
  if (spec?.nodeID === undefined) return;
  stall(context, parameters);
  await mergeDiskObject(cluster, storageNodes, spec.nodeID, { spec: { evictionRequested: true } });
  await clock.sleep(Number(parameters.forMs), never);
  await mergeDiskObject(cluster, storageNodes, spec.nodeID, { spec: { evictionRequested: false } });
}

/** A volume is to be larger, and then as before, while one process does not see the changes of a kind. */
async function expandUnseen(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock } = context;
  await createVolumeObject(cluster, name, { gib: 3, replicas: 2 });
  await clock.sleep(3_000, never);
  stall(context, parameters);
  await resizeVolume(cluster, 5);
  await clock.sleep(Number(parameters.forMs), never);
  await resizeVolume(cluster, 3);
}

/** A volume is to be larger, and at once as before, while a write of one process gets no response and arrives later. */
async function expandLate(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock, processes } = context;
  const { process, resource, forMs } = parameters;
  await createVolumeObject(cluster, name, { gib: 3, replicas: 2 });
  await clock.sleep(3_000, never);
  processes.get(String(process))?.armFault({
    fault: 'late-request',
    hitsLeases: false,
    resource: String(resource),
    skipped: 0,
    lateMs: Number(forMs),
  });
  await resizeVolume(cluster, 5);
  await clock.sleep(300, never);
  await resizeVolume(cluster, 3);
}

/** A volume loses a replica, or the disk of one, and is then scaled down, while one process does not see the changes of a kind. */
async function scaleDownBroken(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock } = context;
  await createVolumeObject(cluster, name, { gib: 1, replicas: 2 });
  await clock.sleep(3_000, never);
  await reportData(context);
  await clock.sleep(1_000, never);
  const broken = `${name}-r${parameters.number}`;
  const { spec } = await cluster.resource(replicas).get({ name: broken });
  if (spec?.nodeID === undefined) return;
  stall(context, parameters);
  const isFailed = parameters.cause === 'replica';
  if (isFailed) await mergeDiskObject(cluster, replicas, broken, { status: { failedAt: past } }, 'status');
  else await reportNode(cluster, spec.nodeID, 'False');
  await clock.sleep(2_000, never);
  await mergeDiskObject(cluster, diskVolumes, name, { spec: { numberOfReplicas: 1 } });
  await clock.sleep(Number(parameters.forMs), never);
  if (!isFailed) await reportNode(cluster, spec.nodeID, 'True');
}

async function reportNode(cluster: Cluster, node: string, status: 'True' | 'False'): Promise<void> {
  const condition = { type: 'Ready', status, reason: 'Reported', message: '', lastTransitionTime: past };
  await mergeDiskObject(cluster, storageNodes, node, { status: { conditions: [condition] } }, 'status');
}

function drawBroken(random: Random): ActionParameters {
  return {
    ...oneOf('storagenodes', 'replicas', 'diskschedules')(random),
    number: random.int(2),
    cause: random.pick(['replica', 'node']),
  };
}

/** A volume and its image are deleted and created again, with other sizes, while one process does not see the changes of a kind. */
async function recreateUnseen(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock } = context;
  await createImageObject(cluster, name, { gib: 1, copies: 2 });
  await createVolumeObject(cluster, name, { gib: 5, replicas: 2, image: name });
  await clock.sleep(3_000, never);
  await reportData(context);
  await clock.sleep(1_000, never);
  stall(context, parameters);
  await cluster.resource(diskVolumes).delete({ name });
  await cluster.resource(backingImages).delete({ name });
  await clock.sleep(500, never);
  await reportData(context);
  await clock.sleep(500, never);
  await createImageObject(cluster, name, { gib: 4, copies: 2 });
  await createVolumeObject(cluster, name, { gib: 3, replicas: 2, image: name });
}

/** Which process the moment is about, and one of these kinds. */
function oneOf(...resources: readonly string[]): ActionKind['draw'] {
  return (random) => ({
    process: random.pick(['disks-0', 'disks-too-0']),
    resource: random.pick(resources),
    forMs: 200 + random.int(8_000),
  });
}

/** Longer than the moment takes. */
function stall({ processes }: ActionContext, { process, resource, forMs }: ActionParameters): void {
  processes.get(String(process))?.stallWatches(`${resource}.stowage.dev`, Number(forMs) + 5_000);
}

async function resizeVolume(cluster: Cluster, gib: number): Promise<void> {
  await mergeDiskObject(cluster, diskVolumes, name, { spec: { size: gib * gibibyte } });
}
