import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { driverCapacities, nodes, persistentVolumeClaims, storageClasses } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';
const driver = 'disks.example.com';
const role = join(projectRoot, 'examples/extender/driver-capacities.yaml');
const warning = 'not allowed to list and watch drivercapacities.stowage.dev: ';
const pod = {
  metadata: { namespace, name: 'p', uid: '1' },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
};

async function kubectl(bed: TestBed, ...args: readonly string[]): Promise<void> {
  const { stderr, code } = await bed.kubectl(args);
  if (code !== 0) throw new Error(stderr);
}

/** A node and a claim of 100Gi; if the kind is installed, also a pool of 5Gi. */
async function seed(cluster: Cluster): Promise<void> {
  await cluster.resource(nodes).create({ metadata: { name: 'n1' } });
  const volumeBindingMode = 'WaitForFirstConsumer';
  await cluster
    .resource(storageClasses)
    .create({ metadata: { name: 'fast' }, provisioner: driver, volumeBindingMode });
  const resources = { requests: { storage: '100Gi' } };
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources },
  });
}

async function publish(bed: TestBed, cluster: Cluster): Promise<void> {
  await kubectl(bed, 'apply', '-f', join(projectRoot, 'deploy/crds'));
  await kubectl(bed, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s');
  const client = cluster.resource(driverCapacities);
  // The API server serves a kind some time after it has said so.
  const isServed = () =>
    client.list().then(
      () => true,
      () => false,
    );
  await until(isServed);
  await client.create({ metadata: { name: driver }, spec: { capacityTracking: true } });
  const pools = [{ name: 'n1', nodeList: ['n1'], capacity: '5Gi' }];
  const body = { status: { storage: [{ storageClassName: 'fast', pools }] } };
  await client.patch({ name: driver }, { type: 'merge', body }, { subresource: 'status' });
}

/** Starts the extender as kube-scheduler's user, and returns its filter result for the pod. */
async function startExtender(bed: TestBed) {
  const flags = ['--kubeconfig', bed.kubeconfigOf('scheduler'), '--listen', '127.0.0.1:0', '--insecure'];
  const extender = new StowageProcess(['extender', ...flags]);
  onTestFinished(() => extender.kill());
  await extender.answers();
  const [, url = ''] = /^export STOWAGE_EXTENDER=(.+)$/m.exec(extender.stdout) ?? [];
  const fitting = async () => {
    const body = JSON.stringify({ Pod: pod, NodeNames: ['n1'] });
    const response = await fetch(`${url}/filter`, { method: 'POST', body });
    return ((await response.json()) as { readonly NodeNames: readonly string[] }).NodeNames;
  };
  return { extender, fitting };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(100);
}

describe.skipIf(lacks(...serverPrograms))('the extender with the rights of kube-scheduler', () => {
  test('warns that it has no right to read DriverCapacity objects, and reads them once the role of the example exists', async () => {
    const bed = await startTestBed({});
    const cluster = await bed.connect();
    await seed(cluster);
    await publish(bed, cluster);
    const { extender, fitting } = await startExtender(bed);
    await until(() => extender.stderr.includes(warning));
    expect(await fitting()).toEqual(['n1']);
    await kubectl(bed, 'apply', '-f', role);
    await until(async () => (await fitting()).length === 0);
  });

  test('gives no warning if the kind does not exist', async () => {
    const bed = await startTestBed({});
    await seed(await bed.connect());
    const { extender, fitting } = await startExtender(bed);
    expect(await fitting()).toEqual(['n1']);
    // Meanwhile the extender has been refused, and has checked whether that matters.
    await sleep(2_000);
    expect(extender.stderr).not.toContain('drivercapacities');
  });
});

test('the documentation of the extender shows the role of the example', async () => {
  const [, ...lines] = (await readFile(role, 'utf8')).split('\n');
  const page = await readFile(join(projectRoot, 'docs/extender.md'), 'utf8');
  expect(page).toContain(lines.join('\n'));
});
