import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { ada, authorityCert } from '../../src/cluster/kubernetes/testing/certificates.ts';
import { getCondition } from '../../src/kube/conditions.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../src/kube/resources.ts';
import { labels } from '../../src/kube/well-known.ts';
import { projectRoot } from '../project-root.ts';
import { StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { fakeProvisionerName, runFakeProvisioner } from './testing/fake-provisioner.ts';
import { nodeOf, untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';

interface ExampleConfig {
  clientConnection: { kubeconfig: string };
  extenders: [Record<string, unknown>];
}

/** The example configuration with the paths and names of this test, and `changes`; everything else is unchanged. */
async function schedulerConfig(bed: TestBed, url: string, folder: string, changes: object): Promise<string> {
  const example = await readFile(join(projectRoot, 'examples/extender/kube-scheduler.yaml'), 'utf8');
  const config = parse(example) as ExampleConfig;
  config.clientConnection.kubeconfig = bed.kubeconfigOf('scheduler');
  const tlsConfig = {
    caFile: join(folder, 'tls.crt'),
    certFile: join(folder, 'client.crt'),
    keyFile: join(folder, 'client.key'),
  };
  Object.assign(config.extenders[0], { urlPrefix: url, tlsConfig, ...changes });
  const path = join(folder, 'kube-scheduler.yaml');
  await writeFile(path, stringify(config));
  return path;
}

/** Starts kube-scheduler with our extender, both as kube-scheduler's user, and a provisioner; `before` runs before the start. */
async function start(
  changes: object = {},
  before: (cluster: Cluster) => Promise<unknown> = async () => {},
): Promise<Cluster> {
  const bed = await startTestBed({
    controllerManager: { controllers: ['persistentvolume-binder-controller'] },
  });
  const cluster = await bed.connect();
  await seed(cluster);
  const folder = temporaryFolder();
  await writeFile(join(folder, 'ca.crt'), authorityCert);
  await writeFile(join(folder, 'client.crt'), ada.cert);
  await writeFile(join(folder, 'client.key'), ada.key);
  const flags = ['--kubeconfig', bed.kubeconfigOf('scheduler'), '--listen', '127.0.0.1:0', '--data', folder];
  const extender = new StowageProcess(['extender', ...flags, '--client-ca', join(folder, 'ca.crt')]);
  onTestFinished(() => extender.kill());
  await extender.answers();
  const [, url = ''] = /^export STOWAGE_EXTENDER=(.+)$/m.exec(extender.stdout) ?? [];
  const config = await schedulerConfig(bed, url, folder, changes);
  const stop = new AbortController();
  const making = runFakeProvisioner(cluster, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await making.catch(() => {});
  });
  await before(cluster);
  await bed.startScheduler({ extraFlags: { config } });
  return cluster;
}

/** Two nodes: n1 has a pool of 10Gi, n2 has none. */
async function seed(cluster: Cluster): Promise<void> {
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: fakeProvisionerName }, spec: { storageCapacity: true } });
  await cluster.resource(storageClasses).create({
    metadata: { name: 'fast' },
    provisioner: fakeProvisionerName,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const capacity = { cpu: '4', memory: '8Gi', pods: '110' };
  for (const name of ['n1', 'n2']) {
    await cluster.resource(nodes).create({
      metadata: { name, labels: { [labels.hostname]: name } },
      status: { capacity, allocatable: capacity },
    });
  }
  await cluster.resource(csiStorageCapacities).create({
    metadata: { namespace, name: 'pool' },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { [labels.hostname]: 'n1' } },
    capacity: '10Gi',
  });
}

async function ask(cluster: Cluster, name: string, ...sizes: readonly string[]): Promise<void> {
  const claims = sizes.map((storage, at) => ({ name: `${name}-${at}`, storage }));
  for (const claim of claims) {
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name: claim.name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        resources: { requests: { storage: claim.storage } },
      },
    });
  }
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      containers: [{ name: 'main', image: 'pause' }],
      volumes: claims.map((claim) => ({
        name: claim.name,
        persistentVolumeClaim: { claimName: claim.name },
      })),
    },
  });
}

/** The node of the pod, such as `n1`, or the reason why it has none; waits until either exists. */
async function outcome(cluster: Cluster, name: string): Promise<string> {
  for (;;) {
    const { spec, status } = await cluster.resource(pods).get({ namespace, name });
    if ((spec?.nodeName ?? '') !== '') return spec!.nodeName!;
    const condition = getCondition(status?.conditions, 'PodScheduled');
    if (condition?.status === 'False') return condition.message ?? '';
    await sleep(50);
  }
}

const refused =
  '0/2 nodes are available: 1 node(s) did not have enough free storage, 1 node(s) did not have enough free storage (';

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kube-scheduler'))(
  'kube-scheduler with our extender',
  () => {
    test('refuses claims that fit alone but not together, and says so in the condition', async () => {
      const cluster = await start();
      await ask(cluster, 'p', '6Gi', '6Gi');
      // kube-scheduler and the extender may see the pod before its claims, and then say so first.
      await untilPasses(async () => {
        const message = await outcome(cluster, 'p');
        expect(message.slice(0, refused.length)).toBe(refused);
        expect(message).toContain(
          '(each volume fits a pool of this node, but not all of them at the same time; claim default/p-0, pool default/pool: ',
        );
      });
      const claims = await cluster.resource(persistentVolumeClaims).list();
      expect(claims.items.map(({ metadata }) => metadata?.annotations ?? {})).toEqual([{}, {}]);
      await ask(cluster, 'q', '6Gi', '4Gi');
      expect(await nodeOf(cluster, 'q')).toBe('n1');
    });

    test('does not promise capacity twice to pods that arrive together', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      // All pods are pending when kube-scheduler starts, so that it decides about the next pod before anything is written for the previous
      // one.
      const cluster = await start({}, (early) => Promise.all(names.map((name) => ask(early, name, '3Gi'))));
      await untilPasses(async () => {
        const outcomes = await Promise.all(names.map((name) => outcome(cluster, name)));
        expect(outcomes.filter((each) => each === 'n1')).toHaveLength(3);
        const others = outcomes.filter((each) => each !== 'n1');
        expect(others).toHaveLength(2);
        for (const each of others) expect(each).toContain('of which 9Gi is promised');
      });
      await sleep(2_000); // The other two are retried meanwhile.
      expect((await cluster.resource(persistentVolumes).list()).items).toHaveLength(3);
    });

    test('lets the extender bind its pods, and sends complete nodes if configured so', async () => {
      const cluster = await start({ bindVerb: 'bind', nodeCacheCapable: false });
      await ask(cluster, 'with', '3Gi');
      await ask(cluster, 'without');
      expect(await nodeOf(cluster, 'with')).toBe('n1');
      expect(['n1', 'n2']).toContain(await nodeOf(cluster, 'without'));
    });
  },
);
