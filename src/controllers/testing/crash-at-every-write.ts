import { expect } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { annotations } from '../../kube/well-known.ts';
import type { Controller } from '../../reconcile/controller.ts';
import type { ControllerEnvironment } from './controller-environment.ts';
import { VirtualTimeCluster } from './virtual-time-cluster.ts';

export interface CrashPlan<E extends ControllerEnvironment = VirtualTimeCluster> {
  readonly controllers: readonly Controller[];
  /** Creates the work that waits when they start. */
  readonly prepare: (fixture: E) => Promise<void>;
  /** The resources whose final state is compared. */
  readonly resources: readonly Resource<KubeObject>[];
  readonly settleMs?: number;
}

/**
 * Stops the controllers after their first write, starts them again and compares the final state with that of an undisturbed run; then
 * after the second write, and so on. Returns how many writes there were to crash after.
 */
export async function crashControllersAtEveryWrite(plan: CrashPlan): Promise<number> {
  return await crashAtEveryWriteOn(() => VirtualTimeCluster.start(), plan);
}

/** The same on another server than the embedded one. */
export async function crashAtEveryWriteOn<E extends ControllerEnvironment>(
  start: () => Promise<E>,
  plan: CrashPlan<E>,
): Promise<number> {
  const expected = await endOf(start, plan, Number.POSITIVE_INFINITY);
  for (let writes = 1; ; writes += 1) {
    const end = await endOf(start, plan, writes);
    expect(end.state, `after a crash at write ${writes}`).toEqual(expected.state);
    if (!end.isInterrupted) return writes - 1;
  }
}

interface End {
  readonly state: readonly unknown[];
  readonly isInterrupted: boolean;
}

async function endOf<E extends ControllerEnvironment>(
  start: () => Promise<E>,
  plan: CrashPlan<E>,
  writesMax: number,
): Promise<End> {
  await using fixture = await start();
  await plan.prepare(fixture);
  const crash = new CrashAfterWrites(writesMax);
  const crashing = new InterceptedCluster(fixture.cluster, crash);
  const first = fixture.run(plan.controllers, crashing);
  await fixture.settle(plan.settleMs);
  const isInterrupted = crash.hasCrashed;
  if (isInterrupted) {
    await first.close();
    fixture.run(plan.controllers);
    await fixture.settle(plan.settleMs);
  }
  return { state: await stateOf(fixture.cluster, plan.resources), isInterrupted };
}

/** All objects, without what differs from run to run: uids, versions, times, addresses, and whether an agent has inherited an attachment. */
async function stateOf(
  cluster: Cluster,
  resources: readonly Resource<KubeObject>[],
): Promise<readonly unknown[]> {
  const states: unknown[] = [];
  for (const resource of resources) {
    const { items } = await cluster.resource(resource).list();
    const texts = items.map(withoutAccidents).sort();
    states.push(...texts.map((text) => [resource.plural, JSON.parse(text)]));
  }
  return states;
}

const accidents = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'lastTransitionTime',
  'lastPhaseTransitionTime',
  'lastHeartbeatTime',
  'startedAt',
  'finishedAt',
  'startTime',
  'renewTime',
  'acquireTime',
  'podIP',
  'podIPs',
  annotations.inheritedVersion,
  annotations.volumeExpandedAt,
]);

const uid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const noAnnotations = /"annotations":\{\},|,"annotations":\{\}/g;

function withoutAccidents(object: KubeObject): string {
  const text = JSON.stringify(object, (key, value) => (accidents.has(key) ? undefined : value));
  return text.replaceAll(uid, 'UID').replaceAll(noAnnotations, '');
}
