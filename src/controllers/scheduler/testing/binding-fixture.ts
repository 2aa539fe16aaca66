import type { Cluster } from '../../../cluster/cluster.ts';
import { stowageProfile } from '../../../engine/cluster-index/profile.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { provisionerController } from '../../provisioner/provisioner-controller.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import type { SchedulerOptions } from '../scheduler.ts';
import { FakeProvisioner } from './fake-provisioner.ts';
import { namespace, SchedulerFixture, schedulingControllers } from './scheduler-fixture.ts';

export interface BindingFixtureOptions {
  readonly nodes?: readonly string[];
  readonly scheduler?: SchedulerOptions;
  /** Controllers that run from the start; the PV controller and the protection of volumes unless told otherwise. */
  readonly controllers?: readonly string[];
  /** Makes the volumes of class `made`; left out, nobody does. */
  readonly provisioner?: FakeProvisioner;
  /** The scheduler's own way to the cluster. */
  readonly wrapCluster?: (cluster: Cluster) => Cluster;
}

/** A fixture for binding volumes: `local` has disks made by hand, `made` those of a `FakeProvisioner`. */
export async function startBinding(options: BindingFixtureOptions = {}): Promise<SchedulerFixture> {
  const {
    nodes,
    scheduler,
    controllers: beside = ['pv-binder', 'protection'],
    provisioner: maker,
    wrapCluster: way,
  } = options;
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await seedBinding(fixture, nodes);
  for (const name of beside) runController(fixture, name);
  if (maker !== undefined) runProvisioner(fixture, maker);
  runScheduler(fixture, scheduler, way?.(fixture.cluster));
  await fixture.settle();
  return fixture;
}

export async function seedBinding(fixture: SchedulerFixture, nodes?: readonly string[]): Promise<void> {
  await fixture.seed(nodes);
  await fixture.storageClass('made', { provisioner: FakeProvisioner.provisionerName });
}

/** Leaves the claims' side to the PV controller, so that there is something to wait for. */
export const waiting: SchedulerOptions = { profile: { ...stowageProfile, completesBindings: false } };

/** Writes both sides itself. */
export const completing: SchedulerOptions = { profile: stowageProfile };

export function runScheduler(
  fixture: SchedulerFixture,
  options: SchedulerOptions = {},
  cluster: Cluster = fixture.cluster,
): Supervisor {
  const scheduler = { ...waiting, ...options };
  return fixture.trial.run(schedulingControllers({ scheduler, otherControllers: [] }), cluster);
}

/** One controller more, until what is returned is closed. */
export function runController(fixture: SchedulerFixture, name: string): Supervisor {
  return fixture.trial.run(schedulingControllers({ otherControllers: [name] }).slice(1));
}

export function runProvisioner(fixture: SchedulerFixture, { provisioner }: FakeProvisioner): Supervisor {
  return fixture.trial.run([provisionerController({ provisioners: [provisioner] })]);
}

/** Has every volume looked at once by the PV controller, which then is gone: nothing gets bound. */
export async function observeVolumesOnce(fixture: SchedulerFixture): Promise<void> {
  const binder = runController(fixture, 'pv-binder');
  await fixture.settle();
  await binder.close();
}

// ── Looking ──

export async function claimRefs(fixture: SchedulerFixture): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(persistentVolumes).list();
  return items.flatMap(({ metadata, spec }) =>
    spec?.claimRef?.uid === undefined ? [] : [`${metadata?.name} ${spec.claimRef.name}`],
  );
}

export async function selectedNode(fixture: SchedulerFixture, name: string): Promise<string | undefined> {
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

// ── What others do ──

export async function annotateClaim(
  fixture: SchedulerFixture,
  name: string,
  marks: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { annotations: marks } };
  await fixture.cluster.resource(persistentVolumeClaims).patch({ namespace, name }, { type: 'merge', body });
}

/** Reserves the volume for a claim, as a scheduler that died right after it. */
export async function writeClaimRef(
  fixture: SchedulerFixture,
  name: string,
  claimName: string,
): Promise<void> {
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: claimName });
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
  await fixture.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
}

export async function deletePod(fixture: SchedulerFixture, name: string): Promise<void> {
  await fixture.cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}
