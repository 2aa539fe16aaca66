import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { leases, persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import {
  makeClass,
  makeDisk,
  makeNode,
  makePod,
  nodeOf,
  runScheduler,
  until,
  untilPrinted,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const leaseKey = { namespace: 'kube-system', name: 'stowage-scheduler' };

/** Creates a disk on the node, a claim that only this disk satisfies, and a pod with the claim. */
async function createPodWithDisk(cluster: Cluster, name: string, node: string): Promise<void> {
  await makeDisk(cluster, name, { node, storageClassName: 'local' });
  await makePod(cluster, name, { claimsOf: ['local'] });
}

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('stowage run', () => {
  test('places pods with their volumes together with kube-controller-manager, and a second replica takes over', async () => {
    const bed = await startTestBed({
      controllerManager: { controllers: ['persistentvolume-binder-controller'] },
    });
    const cluster = await bed.connect();
    await makeClass(cluster, 'local');
    for (const name of ['n1', 'n2']) await makeNode(cluster, name);
    const first = runScheduler(bed.kubeconfig);
    await untilPrinted(first, 'scheduler: this process leads');
    expect(first.stderr).toMatch(
      /^stowage: running scheduler on https:\/\/127\.0\.0\.1:\d+ \(context "\S+" of \S+\), for pods of stowage \(profile stowage\); one leader for each\n/,
    );
    const second = runScheduler(bed.kubeconfig);
    await untilPrinted(second, 'leads; this process stands by');

    await createPodWithDisk(cluster, 'one', 'n2');
    expect(await nodeOf(cluster, 'one')).toBe('n2');
    const claim = () => cluster.resource(persistentVolumeClaims).get({ namespace: 'default', name: 'one' });
    await until(async () => (await claim()).status?.phase === 'Bound');
    expect((await claim()).spec?.volumeName).toBe('one');

    await first.kill();
    await createPodWithDisk(cluster, 'two', 'n1');
    expect(await nodeOf(cluster, 'two')).toBe('n1');
    await untilPrinted(second, 'scheduler: this process leads');

    expect(await second.stop()).toEqual({ status: 0, signal: null });
    const { metadata, spec } = await cluster.resource(leases).get(leaseKey);
    expect(spec?.holderIdentity ?? '').toBe('');
    expect(metadata?.annotations).toMatchObject({ 'stowage.dev/feature-gates': 'VolumeScheduling=true' });
  });

  test('has flags for the pods that it schedules, the profile, and leader election', async () => {
    const bed = await startTestBed();
    const cluster = await bed.connect();
    await makeClass(cluster, 'local');
    await makeNode(cluster, 'n1');
    const flags = [
      '--scheduler-name',
      'own',
      '--profile',
      'upstream',
      '--leader-elect=false',
      '--log-format',
      'json',
    ];
    const stowage = runScheduler(bed.kubeconfig, ...flags, '--http-address', '127.0.0.1:0');
    await untilPrinted(stowage, 'for pods of own (profile upstream); without leader election');
    await untilPrinted(stowage, 'metrics are on ');
    // The last one may be incomplete.
    const lines = stowage.stderr.split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(lines.map(() => 'info'));
    const [, url] = /metrics are on ([^\s"]+)/.exec(stowage.stderr) ?? [];
    await until(async () => (await fetch(`${url}/readyz`)).ok);

    await makePod(cluster, 'theirs');
    await makePod(cluster, 'ours', { spec: { schedulerName: 'own' } });
    await makePod(cluster, 'stuck', { claimsOf: ['local'], spec: { schedulerName: 'own' } });
    expect(await nodeOf(cluster, 'ours')).toBe('n1');
    const messageOf = async (name: string) => {
      const { status } = await cluster.resource(pods).get({ namespace: 'default', name });
      return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
    };
    // Only kube-scheduler mentions devices here. The scheduler may see the pod before its claim, and then reports that first.
    const expected =
      "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. " +
      'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
    await until(async () => (await messageOf('stuck')) === expected);
    expect(await messageOf('theirs')).toBeUndefined();
  });

  test('a replica that was frozen for longer than its lease exits with a reason', async () => {
    const bed = await startTestBed();
    const frozen = runScheduler(bed.kubeconfig);
    await untilPrinted(frozen, 'scheduler: this process leads');
    process.kill(frozen.pid, 'SIGSTOP');
    await sleep(11_000);
    process.kill(frozen.pid, 'SIGCONT');
    expect(await frozen.exited).toEqual({ status: 1, signal: null });
    expect(frozen.stderr).toContain(
      'scheduler: the lead is lost: its Lease was not renewed within ten seconds',
    );
  });
});
