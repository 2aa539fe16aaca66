import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { type ClusterHooks, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { answerOnce } from '../../cluster/testing/fault-hooks.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { ephemeralController } from './ephemeral/ephemeral.ts';
import { expanderController } from './expander/expander.ts';
import { plainResizer } from './expander/testing/plain-resizer.ts';
import { protectionController } from './protection.ts';
import { pvBinderController } from './pv-binder/pv-binder.ts';
import { createObjects, namespace } from './pv-binder/testing/initial-objects.ts';

/*
 * The server gives each controller one wrong answer at the critical moment, and the controller relies on it: no event will
 * wake it again. The sweep finds the remaining work, does it and counts it, and the fixture's disposal reports the missed event.
 */

const data = { namespace, name: 'data' };

interface Case {
  readonly controller: Controller;
  readonly left: string;
  readonly prepare: (cluster: Cluster) => Promise<void>;
  /** Injects the wrong answer, and makes the change that the controller then misses. */
  readonly happen: (cluster: Cluster, inject: (hooks: ClusterHooks) => void) => Promise<void>;
  readonly isDone: (cluster: Cluster) => Promise<boolean>;
}

const userPod: Pod = {
  metadata: { namespace, name: 'web' },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'main', image: 'pause' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
};

async function getClaim(cluster: Cluster): Promise<PersistentVolumeClaim> {
  return await cluster.resource(persistentVolumeClaims).get(data);
}

async function hasNoClaim(cluster: Cluster): Promise<boolean> {
  return (await cluster.resource(persistentVolumeClaims).list()).items.length === 0;
}

const cases: readonly Case[] = [
  {
    controller: pvBinderController(),
    left: 'a volume whose claim is gone',
    prepare: (cluster) => createObjects(cluster, { claims: [{ name: 'data' }], volumes: [{ name: 'v' }] }),
    async happen(cluster, inject) {
      inject(answerOnce('get', persistentVolumeClaims, await getClaim(cluster)));
      const client = cluster.resource(persistentVolumeClaims);
      await client.delete(data);
      await client.patch(data, { type: 'merge', body: { metadata: { finalizers: null } } });
    },
    async isDone(cluster) {
      const { status } = await cluster.resource(persistentVolumes).get({ name: 'v' });
      return status?.phase === 'Released';
    },
  },
  {
    controller: protectionController,
    left: 'an unused claim',
    prepare: (cluster) => createObjects(cluster, { claims: [{ name: 'data' }] }),
    async happen(cluster, inject) {
      inject(answerOnce('list', pods, { items: [userPod], metadata: {} }));
      await cluster.resource(persistentVolumeClaims).delete(data);
    },
    isDone: hasNoClaim,
  },
  {
    controller: expanderController({ resizers: [plainResizer] }),
    left: 'a claim that requests more than it has',
    async prepare(cluster) {
      await createObjects(cluster, { claims: [{ name: 'data', on: 'v' }] });
      const source = { hostPath: { path: '/a' } };
      await createObjects(cluster, {
        volumes: [{ name: 'v', for: 'data', uid: 'own', size: '1Gi', source }],
      });
    },
    async happen(cluster, inject) {
      inject(answerOnce('get', persistentVolumeClaims, await getClaim(cluster)));
      const body = { status: { phase: 'Bound', capacity: { storage: '500Mi' } } };
      const client = cluster.resource(persistentVolumeClaims);
      await client.patch(data, { type: 'merge', body }, { subresource: 'status' });
    },
    isDone: async (cluster) => (await getClaim(cluster)).status?.capacity?.storage === '1Gi',
  },
  {
    controller: ephemeralController,
    left: 'a pod without the claim of its ephemeral volume',
    prepare: async () => {},
    async happen(cluster, inject) {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
      const volumes = [{ name: 'a', ephemeral: { volumeClaimTemplate: { spec } } }];
      const answer = { metadata: { namespace, name: 'web-a' } };
      inject(answerOnce('get', persistentVolumeClaims, answer));
      await cluster.resource(pods).create({ ...userPod, spec: { ...userPod.spec, volumes } });
    },
    isDone: async (cluster) => !(await hasNoClaim(cluster)),
  },
];

test.each(cases)('$controller.name: $left is found by the sweep, and counted', async (scene) => {
  const { controller, prepare, happen, isDone } = scene;
  const fixture = await VirtualTimeCluster.start();
  const lying = new InterceptedCluster(fixture.cluster);
  await prepare(fixture.cluster);
  fixture.run([controller], lying);
  await fixture.settle(10_000);
  await happen(fixture.cluster, (hooks) => lying.addHooks(hooks));
  await fixture.settle(10_000);
  expect(await isDone(fixture.cluster)).toBe(false);
  await fixture.settle(6 * 60_000);
  expect(await isDone(fixture.cluster)).toBe(true);
  const counted = `stowage_sweep_rescued_total{controller="${controller.name}"} 1`;
  await expect(fixture[Symbol.asyncDispose]()).rejects.toThrow(`an event was missed: ${counted}`);
});
