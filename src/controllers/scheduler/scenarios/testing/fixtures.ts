/** What stands in the clusters of the scenarios, and what is counted there. */

import type { StatefulSet } from '../../../../kube/api/apps.ts';
import type { PodSpec } from '../../../../kube/api/core.ts';
import type { CSIStorageCapacity, StorageClass } from '../../../../kube/api/storage.ts';
import { csiDrivers, csiStorageCapacities, statefulSets } from '../../../../kube/resources.ts';
import { labels } from '../../../../kube/well-known.ts';
import { namespace, type SchedulerFixture } from '../../testing/scheduler-fixture.ts';

export const driverName = 'disk.example.com';
export const zonalDriver = 'zonal.stowage.dev';

/** A driver that publishes its room, and a class of its volumes. */
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

/** What the driver says of one node; of every node where `nodeNameRule` is empty. */
export async function publishCapacity(
  fixture: SchedulerFixture,
  nodeName: string,
  size: string,
  more: Partial<CSIStorageCapacity> = {},
): Promise<void> {
  await fixture.cluster.resource(csiStorageCapacities).create({
    metadata: { namespace, name: roomName(nodeName) },
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
  const key = { namespace, name: roomName(nodeName) };
  await fixture.cluster.resource(csiStorageCapacities).patch(key, { type: 'merge', body });
}

export async function deleteCapacity(fixture: SchedulerFixture, nodeName: string): Promise<void> {
  await fixture.cluster.resource(csiStorageCapacities).delete({ namespace, name: roomName(nodeName) });
}

function roomName(nodeName: string): string {
  return nodeName === '' ? 'room' : `room-${nodeName}`;
}

export interface SetOptions {
  readonly replicas: number;
  /** Name of each claim of a replica, with its size. */
  readonly claims: Readonly<Record<string, string>>;
  readonly className?: string;
  readonly pod?: PodSpec;
}

/** A StatefulSet `web` whose pods are ours. */
export async function createStatefulSet(fixture: SchedulerFixture, options: SetOptions): Promise<void> {
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
export const apart: PodSpec = {
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: byHost } },
};

/** All pods of the set on one node. */
export const together: PodSpec = {
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: byHost } },
};

/** A pod that asks for so much of a node's eight. */
export function cpu(amount: string): PodSpec {
  return { containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: amount } } }] };
}

/** How often pods have been looked at so far, by how that ended; all together without `result`. */
export function attempts(fixture: SchedulerFixture, result = '[a-z]+'): number {
  const lines = fixture.trial.metrics.render().split('\n');
  const pattern = new RegExp(`^stowage_scheduler_attempts_total\\{result="${result}"\\} (\\d+)`);
  return lines.reduce((sum, line) => sum + Number(pattern.exec(line)?.[1] ?? 0), 0);
}

/** Where the pod is; or why nowhere, in kube-scheduler's words and without ours about the closest node. */
export async function placeOf(fixture: SchedulerFixture, name: string): Promise<string> {
  return (await fixture.place(name)).replace(/ Closest is .*/, '');
}

/** The same for several. */
export async function places(
  fixture: SchedulerFixture,
  names: readonly string[],
): Promise<readonly string[]> {
  return await Promise.all(names.map((name) => placeOf(fixture, name)));
}

/** How many of these pods have a node. */
export async function placed(fixture: SchedulerFixture, names: readonly string[]): Promise<number> {
  const found = await Promise.all(names.map((name) => fixture.getPod(name)));
  return found.filter(({ spec }) => (spec?.nodeName ?? '') !== '').length;
}

export function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, position) => `${prefix}${position}`);
}
