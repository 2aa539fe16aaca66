import type { Cluster } from '../../cluster/cluster.ts';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { driveProtectionFinalizer, drives } from '../../kube/stowage/drive.ts';
import { nodeNames } from '../base-cluster.ts';
import { driveInvariants } from '../invariants/drives.ts';
import type { ActionContext, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { gibibyte } from '../simulated-driver.ts';
import { claimsOf, createPodWithClaims, namespace, podNames } from './pod-objects.ts';
import { rareMoment } from './rare-moment.ts';
import { schedulingPart } from './scheduling.ts';
import { volumesPart } from './volumes.ts';
import { workloadsPart } from './workloads.ts';

const { signal: never } = new AbortController();
/** The controller `drives` creates it. */
const className = 'stowage-drives';
const claimNames = podNames.flatMap((pod) => [`${pod}-d0`, `${pod}-d1`]);
/** The nodes where the node service of the driver runs. */
const servedNodes = ['n0', 'n1'] as const;
/** `NODE-a` and `NODE-b`. */
const driveNames = nodeNames.flatMap((node) => [`${node}-a`, `${node}-b`]);
const driveGib = 8;
/** More than all pods of a scenario need. */
const probedGib = 200;

/** Two drives a node, pods with volumes on them, and the CSI driver for drives beside the controllers that use it. */
export const drivesPart: SimulationPart = {
  name: 'drives',
  processes: [
    {
      name: 'drives',
      controllers: ['drives', 'provisioner', 'expander', 'capacity'],
      hasOwnDriver: true,
      hasTrueClock: true,
    },
    { name: 'scheduler', controllers: ['scheduler'] },
    { name: 'volumes', controllers: ['pv-binder', 'protection', 'ephemeral'] },
    { name: 'kubelets', controllers: ['node-agent', 'garbage-collector'] },
    ...servedNodes.map((node) => ({ name: `plugin-${node}`, controllers: [], drivesNode: node })),
  ],
  needsOwnKinds: true,
  prepare: async (context) => {
    for (const drive of driveNames) await createDrive(context, drive, driveGib);
  },
  invariants: [
    ...driveInvariants,
    ...(schedulingPart.invariants ?? []),
    ...(volumesPart.invariants ?? []),
    ...(workloadsPart.invariants ?? []),
  ],
  probes: [
    {
      name: 'every drive grows',
      run: async (context) => {
        const { items } = await context.cluster.resource(drives).list();
        for (const { metadata } of items) await resizeDrive(context, metadata?.name ?? '', probedGib);
        // A node service looks at its drives every half minute, and when it starts.
        for (const node of servedNodes) context.processes.get(`plugin-${node}-0`)?.crash(0);
      },
    },
  ],
  actions: [
    rareMoment('second-drive', (random) => ({ forMs: 1_000 + random.int(15_000) }), createSecondDrive),
    rareMoment('cordon-unseen', (random) => ({ forMs: 500 + random.int(8_000) }), cordonUnseen),
    {
      name: 'create-pod',
      weight: 14,
      draw: (random) => ({
        pod: random.pick(podNames),
        claims: 1 + random.int(2),
        hasScratch: random.int(4) === 0,
        gib: 1 + random.int(5),
        cpu: 1 + random.int(2),
        isUrgent: random.int(4) === 0,
      }),
      run: createPod,
    },
    {
      name: 'create-pods',
      weight: 4,
      draw: (random) => ({
        count: 2 + random.int(podNames.length - 1),
        claims: 1 + random.int(2),
        gib: 2 + random.int(4),
        cpu: 1,
      }),
      run: async (context, parameters) => {
        const names = podNames.slice(0, Number(parameters.count));
        await Promise.allSettled(names.map((pod) => createPod(context, { ...parameters, pod })));
      },
    },
    {
      name: 'delete-pod',
      weight: 6,
      draw: (random) => ({ pod: random.pick(podNames), isForced: random.int(4) === 0 }),
      run: async ({ cluster }, { pod, isForced }) => {
        const options = isForced ? { gracePeriodSeconds: 0 } : {};
        await cluster.resource(pods).delete({ namespace, name: String(pod) }, options);
      },
    },
    {
      name: 'delete-claim',
      weight: 6,
      draw: (random) => ({ claim: random.pick(claimNames) }),
      run: async ({ cluster }, { claim }) =>
        void (await cluster.resource(persistentVolumeClaims).delete({ namespace, name: String(claim) })),
    },
    {
      name: 'grow-claim',
      weight: 3,
      draw: (random) => ({ claim: random.pick(claimNames), gib: 2 + random.int(6) }),
      run: async ({ cluster }, { claim, gib }) => {
        const body = { spec: { resources: { requests: { storage: `${gib}Gi` } } } };
        await cluster
          .resource(persistentVolumeClaims)
          .patch({ namespace, name: String(claim) }, { type: 'merge', body });
      },
    },
    {
      name: 'create-drive',
      weight: 2,
      draw: (random) => ({ drive: random.pick(driveNames), gib: 1 + random.int(10) }),
      run: async (context, { drive, gib }) => await createDrive(context, String(drive), Number(gib)),
    },
    {
      name: 'delete-drive',
      weight: 1,
      draw: (random) => ({ drive: random.pick(driveNames) }),
      run: async ({ cluster }, { drive }) =>
        void (await cluster.resource(drives).delete({ name: String(drive) })),
    },
    {
      name: 'cordon-drive',
      weight: 2,
      draw: (random) => ({ drive: random.pick(driveNames), unschedulable: random.int(2) === 0 }),
      run: async ({ cluster }, { drive, unschedulable }) => {
        const body = { spec: { unschedulable } };
        await cluster.resource(drives).patch({ name: String(drive) }, { type: 'merge', body });
      },
    },
    {
      name: 'resize-drive',
      weight: 1,
      isFault: true,
      draw: (random) => ({ drive: random.pick(driveNames), gib: 1 + random.int(12) }),
      run: async (context, { drive, gib }) => await resizeDrive(context, String(drive), Number(gib)),
    },
    {
      name: 'lose-drive',
      weight: 2,
      isFault: true,
      draw: (random) => ({ drive: random.pick(driveNames), isBack: random.int(2) === 0 }),
      run: loseDrive,
    },
  ],
};

/** All drives are cordoned, and neither the scheduler nor the driver sees it when a pod needs volumes. */
async function cordonUnseen(
  { cluster, clock, processes }: ActionContext,
  parameters: ActionParameters,
): Promise<void> {
  const forMs = Number(parameters.forMs);
  for (const process of processes.values()) process.stallWatches('drives.stowage.dev', forMs);
  const cordon = async (unschedulable: boolean) => {
    const body = { spec: { unschedulable } };
    const { items } = await cluster.resource(drives).list();
    for (const { metadata } of items)
      await cluster.resource(drives).patch({ name: metadata?.name ?? '' }, { type: 'merge', body });
  };
  await cordon(true);
  await createPod({ cluster }, { ...parameters, pod: 'm', claims: 1, gib: 1, cpu: 1 });
  await clock.sleep(forMs, never);
  await cordon(false);
}

/**
 * A pod has a volume, and a second Drive names the filesystem that it is on, in capital letters, with an entry of the same volume that is to be
 * deleted. The pod ends, its claim stays, and then the second Drive is deleted.
 */
async function createSecondDrive(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock } = context;
  const client = cluster.resource(drives);
  await createPod({ cluster }, { pod: 's', claims: 1, gib: 1, cpu: 1 });
  await clock.sleep(8_000, never);
  const { items } = await client.list();
  const first = items.find(({ spec }) => isServed(spec?.nodeName ?? '') && (spec?.volumes ?? []).length > 0);
  if (first !== undefined) {
    const { nodeName = '', filesystemUUID = '', volumes = [] } = first.spec ?? {};
    const name = `${first.metadata?.name}-second`;
    await client.create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name, finalizers: [driveProtectionFinalizer] },
      spec: {
        nodeName,
        filesystemUUID: filesystemUUID.toUpperCase(),
        volumes: volumes.map((entry) => ({ ...entry, state: 'Releasing' })),
      },
    });
    await cluster.resource(pods).delete({ namespace, name: 's' }, { gracePeriodSeconds: 0 });
    await clock.sleep(Number(parameters.forMs), never);
    await client.delete({ name });
  }
}

async function createPod(
  { cluster }: Pick<ActionContext, 'cluster'>,
  parameters: ActionParameters,
): Promise<void> {
  const name = String(parameters.pod);
  await createPodWithClaims(cluster, {
    name,
    claims: claimsOf(`${name}-d`, Number(parameters.claims), className),
    gib: Number(parameters.gib),
    cpu: Number(parameters.cpu),
    isUrgent: parameters.isUrgent === true,
    scratchClassName: parameters.hasScratch === true ? className : undefined,
  });
}

/** A drive that is ready. Where a node service runs, that service reports it; elsewhere people do. */
async function createDrive(context: DriveContext, name: string, gib: number): Promise<void> {
  const { cluster, driveHosts } = context;
  const nodeName = nodeOf(name);
  const filesystemUUID = filesystemOf(name);
  await cluster.resource(drives).create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name },
    spec: { nodeName, filesystemUUID },
  });
  if (isServed(nodeName)) driveHosts.of(nodeName).connect(filesystemUUID, gib * gibibyte);
  else await reportStatus(cluster, name, { capacityBytes: gib * gibibyte, state: 'Ready' });
}

async function resizeDrive(context: DriveContext, name: string, gib: number): Promise<void> {
  const { cluster, driveHosts } = context;
  if (isServed(nodeOf(name))) driveHosts.of(nodeOf(name)).connect(filesystemOf(name), gib * gibibyte);
  else await reportStatus(cluster, name, { capacityBytes: gib * gibibyte });
}

async function loseDrive(
  { cluster, driveHosts }: DriveContext,
  { drive, isBack }: ActionParameters,
): Promise<void> {
  const name = String(drive);
  if (!isServed(nodeOf(name)))
    await reportStatus(cluster, name, { state: isBack === true ? 'Ready' : 'Lost' });
  else if (isBack === true) driveHosts.of(nodeOf(name)).reconnect(filesystemOf(name));
  else driveHosts.of(nodeOf(name)).disconnect(filesystemOf(name));
}

type DriveContext = Pick<ActionContext, 'cluster' | 'driveHosts'>;

async function reportStatus(cluster: Cluster, name: string, status: object): Promise<void> {
  const options = { subresource: 'status' };
  await cluster.resource(drives).patch({ name }, { type: 'merge', body: { status } }, options);
}

function nodeOf(drive: string): string {
  return drive.slice(0, 2);
}

function isServed(node: string): boolean {
  return servedNodes.some((name) => name === node);
}

function filesystemOf(name: string): string {
  return `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;
}
