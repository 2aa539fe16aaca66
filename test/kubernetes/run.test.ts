import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import {
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../src/cluster/resources.ts';
import { labels, noProvisioner } from '../../src/kube/well-known.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import { lacks, serverPrograms, startBed } from './bed-in-test.ts';

const namespace = 'default';
const storageClassName = 'local';
const accessModes = ['ReadWriteOnce'] as const;
const leaseKey = { namespace: 'kube-system', name: 'stowage-scheduler' };

function runScheduler(kubeconfig: string): StowageProcess {
  const stowage = new StowageProcess(['run', '--kubeconfig', kubeconfig]);
  onTestFinished(() => stowage.kill());
  return stowage;
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

async function says(stowage: StowageProcess, text: string): Promise<void> {
  await until(() => stowage.stderr.includes(text));
}

async function furnish(cluster: Cluster): Promise<void> {
  await cluster.resource(storageClasses).create({
    metadata: { name: storageClassName },
    provisioner: noProvisioner,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const room = { cpu: '4', memory: '8Gi', pods: '110' };
  for (const name of ['n1', 'n2']) {
    await cluster.resource(nodes).create({
      metadata: { name, labels: { [labels.hostname]: name } },
      status: { capacity: room, allocatable: room },
    });
  }
}

/** A disk on the node, a claim that only it satisfies, and a pod with the claim. */
async function ask(cluster: Cluster, name: string, node: string): Promise<void> {
  const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [node] }] as const;
  await cluster.resource(persistentVolumes).create({
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes,
      storageClassName,
      local: { path: `/mnt/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  });
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name },
    spec: { accessModes, storageClassName, resources: { requests: { storage: '1Gi' } } },
  });
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
  });
}

async function nodeOf(cluster: Cluster, name: string): Promise<string> {
  const read = async () => (await cluster.resource(pods).get({ namespace, name })).spec?.nodeName ?? '';
  await until(async () => (await read()) !== '');
  return await read();
}

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('stowage run', () => {
  test('places pods with their volumes beside kube-controller-manager, and a second replica takes over', async () => {
    const bed = await startBed({
      controllerManager: { controllers: ['persistentvolume-binder-controller'] },
    });
    const cluster = await bed.connect();
    await furnish(cluster);
    const first = runScheduler(bed.kubeconfig);
    await says(first, 'scheduler: this process leads');
    expect(first.stderr).toMatch(
      /^stowage: running scheduler on https:\/\/127\.0\.0\.1:\d+ \(context "\S+" of \S+\), for pods of stowage; one leader for each\n/,
    );
    const second = runScheduler(bed.kubeconfig);
    await says(second, 'leads; this process stands by');

    await ask(cluster, 'one', 'n2');
    expect(await nodeOf(cluster, 'one')).toBe('n2');
    const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'one' });
    expect([claim.spec?.volumeName, claim.status?.phase]).toEqual(['one', 'Bound']);

    await first.kill();
    await ask(cluster, 'two', 'n1');
    expect(await nodeOf(cluster, 'two')).toBe('n1');
    expect(second.stderr).toContain('scheduler: this process leads');

    expect(await second.stop()).toEqual({ status: 0, signal: null });
    const { metadata, spec } = await cluster.resource(leases).get(leaseKey);
    expect(spec?.holderIdentity ?? '').toBe('');
    expect(metadata?.annotations).toMatchObject({ 'stowage.dev/feature-gates': 'VolumeScheduling=true' });
  });

  test('a replica that was frozen for longer than it may lead ends, and says why', async () => {
    const bed = await startBed();
    const frozen = runScheduler(bed.kubeconfig);
    await says(frozen, 'scheduler: this process leads');
    process.kill(frozen.pid, 'SIGSTOP');
    await sleep(11_000);
    process.kill(frozen.pid, 'SIGCONT');
    expect(await frozen.exited).toEqual({ status: 1, signal: null });
    expect(frozen.stderr).toContain(
      'scheduler: the lead is lost: its Lease was not renewed within ten seconds',
    );
  });
});
