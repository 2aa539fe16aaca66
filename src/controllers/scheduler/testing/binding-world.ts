import type { Cluster } from '../../../cluster/cluster.ts';
import { stowageProfile } from '../../../engine/cluster-index/profile.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { provisionerController } from '../../provisioner/provisioner-controller.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import type { SchedulerOptions } from '../scheduler.ts';
import { Maker } from './maker.ts';
import { namespace, SchedulerWorld, schedulingControllers } from './scheduler-world.ts';

export interface BindingWorldOptions {
  readonly nodes?: readonly string[];
  readonly scheduler?: SchedulerOptions;
  /** Controllers that run from the start; the PV controller and the protection of volumes unless told otherwise. */
  readonly beside?: readonly string[];
  /** Makes the volumes of class `made`; left out, nobody does. */
  readonly maker?: Maker;
  /** The scheduler's own way to the cluster. */
  readonly way?: (cluster: Cluster) => Cluster;
}

/** A world for binding volumes: `local` has disks made by hand, `made` those of a `Maker`. */
export async function startBinding(options: BindingWorldOptions = {}): Promise<SchedulerWorld> {
  const { nodes, scheduler, beside = ['pv-binder', 'protection'], maker, way } = options;
  const world = new SchedulerWorld(await TrialCluster.start());
  await furnishBinding(world, nodes);
  for (const name of beside) runBeside(world, name);
  if (maker !== undefined) runMaker(world, maker);
  runScheduler(world, scheduler, way?.(world.cluster));
  await world.settle();
  return world;
}

export async function furnishBinding(world: SchedulerWorld, nodes?: readonly string[]): Promise<void> {
  await world.furnish(nodes);
  await world.storageClass('made', { provisioner: Maker.provisionerName });
}

/** Leaves the claims' side to the PV controller, so that there is something to wait for. */
export const waiting: SchedulerOptions = { profile: { ...stowageProfile, completesBindings: false } };

/** Writes both sides itself. */
export const completing: SchedulerOptions = { profile: stowageProfile };

export function runScheduler(
  world: SchedulerWorld,
  options: SchedulerOptions = {},
  cluster: Cluster = world.cluster,
): Supervisor {
  const scheduler = { ...waiting, ...options };
  return world.trial.run(schedulingControllers({ scheduler, beside: [] }), cluster);
}

/** One controller more, until what is returned is closed. */
export function runBeside(world: SchedulerWorld, name: string): Supervisor {
  return world.trial.run(schedulingControllers({ beside: [name] }).slice(1));
}

export function runMaker(world: SchedulerWorld, { provisioner }: Maker): Supervisor {
  return world.trial.run([provisionerController({ provisioners: [provisioner] })]);
}

/** Has every volume looked at once by the PV controller, which then is gone: nothing gets bound. */
export async function withoutBinder(world: SchedulerWorld): Promise<void> {
  const binder = runBeside(world, 'pv-binder');
  await world.settle();
  await binder.close();
}

// ── Looking ──

export async function claimRefs(world: SchedulerWorld): Promise<readonly string[]> {
  const { items } = await world.cluster.resource(persistentVolumes).list();
  return items.flatMap(({ metadata, spec }) =>
    spec?.claimRef?.uid === undefined ? [] : [`${metadata?.name} ${spec.claimRef.name}`],
  );
}

export async function selectedNode(world: SchedulerWorld, name: string): Promise<string | undefined> {
  const claim = await world.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

// ── What others do ──

export async function annotateClaim(
  world: SchedulerWorld,
  name: string,
  marks: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { annotations: marks } };
  await world.cluster.resource(persistentVolumeClaims).patch({ namespace, name }, { type: 'merge', body });
}

/** Reserves the volume for a claim, as a scheduler that died right after it. */
export async function reserve(world: SchedulerWorld, name: string, claimName: string): Promise<void> {
  const claim = await world.cluster.resource(persistentVolumeClaims).get({ namespace, name: claimName });
  const { uid, resourceVersion } = claim.metadata ?? {};
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace,
    name: claimName,
    uid,
    resourceVersion,
  };
  const body = {
    metadata: { annotations: { [annotations.boundByController]: 'yes' } },
    spec: { claimRef },
  };
  await world.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
}

export async function deletePod(world: SchedulerWorld, name: string): Promise<void> {
  await world.cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}
