import type { Cluster } from '../../../cluster/cluster.ts';
import { stowageProfile } from '../../../engine/cluster-index/profile.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { provisionerController } from '../../provisioner/provisioner-controller.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import type { SchedulerControllerSettings } from '../scheduler.ts';
import { FakeProvisioner } from './fake-provisioner.ts';
import { namespace, SchedulerFixture, schedulingControllers } from './scheduler-fixture.ts';

export interface BindingFixtureOptions {
  readonly nodes?: readonly string[];
  readonly scheduler?: SchedulerControllerSettings;
  /** Controllers that run from the start. Default: the PV controller and the protection of volumes. */
  readonly controllers?: readonly string[];
  /** Creates the volumes of class `provisioned`. Default: none are created. */
  readonly provisioner?: FakeProvisioner;
  /** Wraps the scheduler's own connection to the cluster. */
  readonly wrapCluster?: (cluster: Cluster) => Cluster;
}

/** A fixture for binding volumes. The tests create the volumes of class `local`, a `FakeProvisioner` those of class `provisioned`. */
export async function startBinding(options: BindingFixtureOptions = {}): Promise<SchedulerFixture> {
  const {
    nodes,
    scheduler,
    controllers: beside = ['pv-binder', 'protection'],
    provisioner,
    wrapCluster,
  } = options;
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await seedBinding(fixture, nodes);
  for (const name of beside) runController(fixture, name);
  if (provisioner !== undefined) runProvisioner(fixture, provisioner);
  runScheduler(fixture, scheduler, wrapCluster?.(fixture.cluster));
  await fixture.settle();
  return fixture;
}

export async function seedBinding(fixture: SchedulerFixture, nodes?: readonly string[]): Promise<void> {
  await fixture.seed(nodes);
  await fixture.storageClass('provisioned', { provisioner: FakeProvisioner.provisionerName });
}

/** The scheduler writes only claimRefs, and waits until the PV controller has completed the bindings. */
export const pvControllerCompletes: SchedulerControllerSettings = {
  profile: { ...stowageProfile, completesBindings: false },
};

/** The scheduler completes bindings itself. */
export const schedulerCompletes: SchedulerControllerSettings = { profile: stowageProfile };

export function runScheduler(
  fixture: SchedulerFixture,
  options: SchedulerControllerSettings = {},
  cluster: Cluster = fixture.cluster,
): Supervisor {
  const scheduler = { ...pvControllerCompletes, ...options };
  return fixture.environment.run(schedulingControllers({ scheduler, otherControllers: [] }), cluster);
}

/** Runs one more controller, until the returned supervisor is closed. */
export function runController(fixture: SchedulerFixture, name: string): Supervisor {
  return fixture.environment.run(schedulingControllers({ otherControllers: [name] }).slice(1));
}

export function runProvisioner(fixture: SchedulerFixture, { provisioner }: FakeProvisioner): Supervisor {
  return fixture.environment.run([provisionerController({ provisioners: [provisioner] })]);
}

/** Runs the PV controller until every volume is Available, and then stops it: no binding is completed afterwards. */
export async function observeVolumesOnce(fixture: SchedulerFixture): Promise<void> {
  const binder = runController(fixture, 'pv-binder');
  await fixture.settle();
  await binder.close();
}

// ── Results ──

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

// ── Writes of other clients ──

export async function annotateClaim(
  fixture: SchedulerFixture,
  name: string,
  marks: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { annotations: marks } };
  await fixture.cluster.resource(persistentVolumeClaims).patch({ namespace, name }, { type: 'merge', body });
}

/** Writes a claimRef, like a scheduler that crashed right after it. */
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
