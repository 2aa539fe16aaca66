/** Objects for the scenarios, and queries of their results. */

import type { StatefulSet } from '../../../../kube/api/apps.ts';
import type { PodSpec } from '../../../../kube/api/core.ts';
import type { CSIStorageCapacity, StorageClass } from '../../../../kube/api/storage.ts';
import { csiDrivers, csiStorageCapacities, statefulSets } from '../../../../kube/resources.ts';
import { labels } from '../../../../kube/well-known.ts';
import { namespace, type SchedulerFixture } from '../../testing/scheduler-fixture.ts';

export const driverName = 'disk.example.com';
export const zonalDriver = 'zonal.stowage.dev';

/** A driver that publishes its capacity, and a class with its volumes. */
export async function trackedClass(
  fixture: SchedulerFixture,
  name = 'tracked',
  more: Partial<StorageClass> = {},
): Promise<void> {
  const { provisioner = driverName } = more;
  await fixture.cluster.resource(csiDrivers).create({
    metadata: { name: provisioner },
    spec: { storageCapacity: true, attachRequired: false },
  });
  await fixture.storageClass(name, { provisioner, ...more });
}

/** The driver's capacity report of one node; of every node if `nodeName` is empty. */
export async function publishCapacity(
  fixture: SchedulerFixture,
  nodeName: string,
  size: string,
  more: Partial<CSIStorageCapacity> = {},
): Promise<void> {
  await fixture.cluster.resource(csiStorageCapacities).create({
    metadata: { namespace, name: capacityName(nodeName) },
    storageClassName: 'tracked',
    nodeTopology: nodeName === '' ? {} : { matchLabels: { [labels.hostname]: nodeName } },
    capacity: size,
    ...more,
  });
}

export async function patchCapacity(
  fixture: SchedulerFixture,
  nodeName: string,
  body: Partial<CSIStorageCapacity>,
): Promise<void> {
  const key = { namespace, name: capacityName(nodeName) };
  await fixture.cluster.resource(csiStorageCapacities).patch(key, { type: 'merge', body });
}

export async function deleteCapacity(fixture: SchedulerFixture, nodeName: string): Promise<void> {
  await fixture.cluster.resource(csiStorageCapacities).delete({ namespace, name: capacityName(nodeName) });
}

function capacityName(nodeName: string): string {
  return nodeName === '' ? 'capacity' : `capacity-${nodeName}`;
}

export interface StatefulSetOptions {
  readonly replicas: number;
  /** The size of each claim of a replica, by name. */
  readonly claims: Readonly<Record<string, string>>;
  readonly className?: string;
  readonly pod?: PodSpec;
}

/** A StatefulSet `web` whose pods the scheduler places. */
export async function createStatefulSet(
  fixture: SchedulerFixture,
  options: StatefulSetOptions,
): Promise<void> {
  const { replicas, claims, className = 'local', pod = {} } = options;
  const set: StatefulSet = {
    metadata: { namespace, name: 'web' },
    spec: {
      serviceName: 'web',
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          schedulerName: 'stowage',
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: 'pause' }],
          ...pod,
        },
      },
      volumeClaimTemplates: Object.entries(claims).map(([name, storage]) => ({
        metadata: { name },
        spec: {
          storageClassName: className,
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage } },
        },
      })),
    },
  };
  await fixture.cluster.resource(statefulSets).create(set);
}

const byHost = [{ labelSelector: { matchLabels: { app: 'web' } }, topologyKey: labels.hostname }];

/** No two pods of the set on one node. */
export const onSeparateNodes: PodSpec = {
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: byHost } },
};

/** All pods of the set on one node. */
export const onOneNode: PodSpec = {
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: byHost } },
};

/** A pod that requests this much CPU; a node has 8. */
export function cpu(amount: string): PodSpec {
  return { containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: amount } } }] };
}

/** The number of scheduling attempts so far with this result; without `result` all of them. */
export function schedulingAttempts(fixture: SchedulerFixture, result = '[a-z]+'): number {
  const lines = fixture.environment.metrics.render().split('\n');
  const pattern = new RegExp(`^stowage_scheduler_attempts_total\\{result="${result}"\\} (\\d+)`);
  return lines.reduce((sum, line) => sum + Number(pattern.exec(line)?.[1] ?? 0), 0);
}

/** The pod's node; or why it has none, without the sentence about the closest miss. */
export async function placeOf(fixture: SchedulerFixture, name: string): Promise<string> {
  return (await fixture.place(name)).replace(/ Closest is .*/, '');
}

/** The same for several pods. */
export async function places(
  fixture: SchedulerFixture,
  names: readonly string[],
): Promise<readonly string[]> {
  return await Promise.all(names.map((name) => placeOf(fixture, name)));
}

/** How many of the pods have a node. */
export async function countPlaced(fixture: SchedulerFixture, names: readonly string[]): Promise<number> {
  const found = await Promise.all(names.map((name) => fixture.getPod(name)));
  return found.filter(({ spec }) => (spec?.nodeName ?? '') !== '').length;
}

export function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, position) => `${prefix}${position}`);
}
