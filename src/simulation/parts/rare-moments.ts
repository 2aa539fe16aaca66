import type { PodSpec } from '../../kube/api/core.ts';
import { persistentVolumeClaims, pods, volumeAttachments } from '../../kube/resources.ts';
import { labels } from '../../kube/well-known.ts';
import { nodeNames, nodeOf, urgentClassName } from '../base-cluster.ts';
import type { ActionContext, ActionKind, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { driverClassName, gibibyte } from '../simulated-driver.ts';
import { segmentClassName } from '../simulated-segment-driver.ts';
import { namespace } from './pod-objects.ts';
import { rareMoment } from './rare-moment.ts';

const { signal: never } = new AbortController();

/** So many CPUs of a node that no two such pods fit there. */
const mostCpus = 3;

/** The scheduler abandons a binding without a response after three attempts of five seconds each. */
const lateBindingMs = 16_500;
/** The same of a selected node: the first attempt arrives when the next pod has got the bytes. */
const lateSelectionMs = 16_500;
/** A delay after which the next pod would run, if it did not wait for the deletion. */
const lateDetachmentMs = 3_000;
/** A delay after which a requested volume usually exists. */
const newVolumeMaxSeconds = 12;
/** The driver needs longer to expand a volume, so that a pod comes in between. */
const growthSeenMs = 2_500;

/** Sequences that random actions hardly ever produce: pods that compete for one node, while something happens to the first of them. */
export const rareMomentsPart: SimulationPart = {
  name: 'rare moments',
  actions: [
    moment('delete-while-binding', deleteWhileBinding),
    moment('delete-preemptor', deletePreemptor),
    moment('delete-unseen', deleteUnseen),
    moment('bind-late', bindLate),
    moment('select-late', selectLate),
    moment('detach-late', detachLate),
    moment('grow-slowly', growSlowly),
    moment('any-segment', anySegment),
  ],
};

/** What a pod that is being bound has reserved becomes free when it is deleted: no stored object shows that, and the next pod must be woken. */
async function deleteWhileBinding(context: ActionContext, parameters: ActionParameters): Promise<void> {
  context.driver.failNext('slow');
  await createPod(context, parameters, { name: 'x0', hasClaim: true });
  await context.clock.sleep(500, never);
  await createPod(context, parameters, { name: 'x1' });
  await context.clock.sleep(2_000, never);
  await deletePod(context, 'x0');
}

/**
 * The nomination of a pod ends with the pod: the CPUs that its victims have left are free for the next pod. The kubelet is frozen meanwhile, so that the
 * victim does not end at once.
 */
async function deletePreemptor(context: ActionContext, parameters: ActionParameters): Promise<void> {
  await createPod(context, parameters, { name: 'x0' });
  await context.clock.sleep(3_000, never);
  for (const process of ['workloads-0', 'workloads-1']) context.processes.get(process)?.freeze(3_000);
  await createPod(context, parameters, { name: 'x2', isUrgent: true });
  await context.clock.sleep(700, never);
  await deletePod(context, 'x2');
  await context.clock.sleep(3_000, never);
  await createPod(context, parameters, { name: 'x1' });
}

/** A pod is deleted while the scheduler's watches are silent, and the events are lost: only the next list shows it. */
async function deleteUnseen(context: ActionContext, parameters: ActionParameters): Promise<void> {
  await createPod(context, parameters, { name: 'x0' });
  await context.clock.sleep(4_000, never);
  context.processes.get('scheduler-0')?.endWatches(true, 3_000);
  await context.clock.sleep(1_000, never);
  await deletePod(context, 'x0');
  await context.clock.sleep(4_000, never);
  await createPod(context, parameters, { name: 'x1' });
}

/**
 * Every attempt to bind a pod gets no response and arrives later: by then its place may belong to another pod. Among these writes is one to the
 * status of the other pod. What the scheduler writes to the status of the first pod arrives late as well.
 */
async function bindLate(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const scheduler = context.processes.get('scheduler-0');
  const late = { fault: 'late-request', hitsLeases: false, lateMs: lateBindingMs } as const;
  for (const skipped of [0, 0, 0, 0, 1]) scheduler?.armFault({ ...late, skipped });
  await createPod(context, parameters, { name: 'x0' });
  await context.clock.sleep(100, never);
  await createPod(context, parameters, { name: 'x1' });
}

/**
 * Every attempt to select a node for a claim gets no response and arrives later: by then the bytes may be promised to another claim. Two
 * of these claims fit into no pool.
 */
async function selectLate(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const scheduler = context.processes.get('scheduler-0');
  for (let attempt = 0; attempt < 3; attempt += 1)
    scheduler?.armFault({
      fault: 'late-request',
      hitsLeases: false,
      resource: persistentVolumeClaims.plural,
      skipped: 0,
      lateMs: lateSelectionMs,
    });
  await createPod(context, parameters, { name: 'x0', hasClaim: true, cpu: 1, gib: 7 });
  await context.clock.sleep(100, never);
  await createPod(context, parameters, { name: 'x1', hasClaim: true, cpu: 1, gib: 7 });
}

/** The deletion of an attachment gets no response and arrives later: by then another pod needs the volume on the same node. */
async function detachLate(context: ActionContext, parameters: ActionParameters): Promise<void> {
  await createPod(context, parameters, { name: 'x0', hasClaim: true });
  await context.clock.sleep(4_000, never);
  for (const process of ['workloads-0', 'workloads-1'])
    context.processes.get(process)?.armFault({
      fault: 'late-request',
      hitsLeases: false,
      resource: volumeAttachments.plural,
      skipped: 0,
      lateMs: lateDetachmentMs,
    });
  await deletePod(context, 'x0');
  await context.clock.sleep(300, never);
  await createPod(context, parameters, { name: 'x1', usesClaimOf: 'x0' });
}

/** While the driver expands a volume, the next pod wants the bytes: the pool has those of either, and not of both. */
async function growSlowly(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const { cluster, clock, driver } = context;
  const claims = cluster.resource(persistentVolumeClaims);
  await createPod(context, parameters, { name: 'x0', hasClaim: true, cpu: 0 });
  const claim = { namespace, name: `x0-${parameters.node}` };
  for (let second = 0; second < newVolumeMaxSeconds; second += 1) {
    await clock.sleep(1_000, never);
    if ((await claims.get(claim)).status?.phase === 'Bound') break;
  }
  const freeGib = Math.floor(driver.freeBytes(String(parameters.node)) / gibibyte);
  const mostGib = Math.ceil((freeGib * 2) / 3);
  driver.failNextExpansion('slow');
  const body = { spec: { resources: { requests: { storage: `${1 + mostGib}Gi` } } } };
  await claims.patch(claim, { type: 'merge', body });
  await clock.sleep(growthSeenMs, never);
  await createPod(context, parameters, { name: 'x1', hasClaim: true, cpu: 0, gib: mostGib });
}

/** A pod may run only in one zone, and the driver of its volume chooses among the segments that it gets. */
async function anySegment({ cluster }: ActionContext, { node }: ActionParameters): Promise<void> {
  const name = `z-${node}`;
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: segmentClassName,
      resources: { requests: { storage: '1Gi' } },
    },
  });
  const spec: PodSpec = {
    terminationGracePeriodSeconds: 1,
    nodeSelector: { [labels.zone]: nodeOf(String(node)).metadata?.labels?.[labels.zone] ?? '' },
    containers: [{ name: 'main', image: 'pause' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
  };
  await cluster.resource(pods).create({ metadata: { namespace, name }, spec });
}

function moment(name: string, run: ActionKind['run']): ActionKind {
  return rareMoment(name, (random) => ({ node: random.pick(nodeNames) }), run);
}

interface CompetingPod {
  readonly name: string;
  readonly isUrgent?: boolean;
  /** Whether it needs a new volume, so that its binding takes a while. */
  readonly hasClaim?: boolean;
  /** The pod whose claim it uses. */
  readonly usesClaimOf?: string;
  /** The size of its volume. Default: 1. */
  readonly gib?: number;
  /** Default: so many that no two pods fit on a node. */
  readonly cpu?: number;
}

async function createPod(
  { cluster }: ActionContext,
  { node }: ActionParameters,
  { name, isUrgent = false, hasClaim = false, usesClaimOf, gib = 1, cpu = mostCpus }: CompetingPod,
): Promise<void> {
  const claimName = `${usesClaimOf ?? name}-${node}`;
  const mounts = hasClaim || usesClaimOf !== undefined;
  if (hasClaim)
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name: claimName },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: driverClassName,
        resources: { requests: { storage: `${gib}Gi` } },
      },
    });
  const spec: PodSpec = {
    terminationGracePeriodSeconds: 1,
    nodeSelector: { [labels.hostname]: String(node) },
    ...(isUrgent && { priorityClassName: urgentClassName }),
    containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: String(cpu) } } }],
    ...(mounts && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] }),
  };
  await cluster.resource(pods).create({ metadata: { namespace, name }, spec });
}

async function deletePod({ cluster }: ActionContext, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}
