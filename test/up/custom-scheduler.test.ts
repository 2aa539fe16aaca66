import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../src/kube/resources.ts';
import { labels, noProvisioner } from '../../src/kube/well-known.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { runExample } from './example-scheduler.ts';
import { StowageProcess, temporaryFolder } from './stowage-process.ts';

const namespace = 'default';

async function seed(cluster: KubernetesCluster): Promise<void> {
  for (const name of ['n1', 'n2']) {
    const more = { [labels.hostname]: name, [labels.zone]: `zone-${name}`, [labels.region]: 'r' };
    await cluster.resource(nodes).create({ metadata: { name, labels: more } });
  }
  for (const [name, provisioner] of [
    ['local', noProvisioner],
    ['zonal', 'zonal.stowage.dev'],
  ] as const) {
    await cluster.resource(storageClasses).create({
      metadata: { name },
      provisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
  }
  const matchExpressions = [{ key: labels.hostname, operator: 'In', values: ['n2'] }] as const;
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: '/mnt/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  });
}

async function ask(cluster: KubernetesCluster, name: string, claims: Readonly<Record<string, string>>) {
  const names = Object.entries(claims).map(([storageClassName, storage], at) => {
    return { storageClassName, storage, claimName: `${name}-${at}` };
  });
  for (const { storageClassName, storage, claimName } of names) {
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name: claimName },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
    });
  }
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      schedulerName: 'fewest-pods',
      containers: [{ name: 'main', image: 'pause' }],
      volumes: names.map(({ claimName }) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
  });
}

test('the example of a custom scheduler places pods with existing and provisioned volumes', async () => {
  const folder = temporaryFolder();
  const stowage = await StowageProcess.up(join(folder, 'data'));
  const { kubeconfig } = stowage;
  const cluster = await KubernetesCluster.connect({
    kubeconfig,
    clock: realClock,
    random: systemRandom,
    env: {},
  });
  onTestFinished(() => cluster.close());
  await seed(cluster);
  await ask(cluster, 'db', { local: '8Gi', zonal: '5Gi' });
  const untilPrinted = runExample(folder, kubeconfig);
  await untilPrinted('db is on n2: 1 existing volumes, 1 new ones');
  const phases = async () => {
    const { items } = await cluster.resource(persistentVolumeClaims).list({ namespace });
    return items.map(({ status }) => status?.phase);
  };
  await expect.poll(phases).toEqual(['Bound', 'Bound']);
  expect((await cluster.resource(pods).get({ namespace, name: 'db' })).spec?.nodeName).toBe('n2');

  await ask(cluster, 'web', {});
  await untilPrinted('web is on n1: 0 existing volumes, 0 new ones');
  await ask(cluster, 'more', { local: '8Gi' });
  await untilPrinted(
    "more fits no node; n1: node(s) didn't find available persistent volumes to bind; n2: node(s) didn't find available persistent volumes to bind\n",
  );
});
