import { afterAll, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../src/kube/api/core.ts';
import { pods } from '../../../../src/kube/resources.ts';
import { lacks, serverPrograms } from '../../vitest-beds.ts';
import { eventually } from '../drives-on-node.ts';
import { leftBehind } from '../left-behind.ts';
import { lacksRealNode } from '../node-requirements.ts';
import type { RealNode } from '../real-node.ts';
import { xfsDisk } from '../xfs-disk.ts';
import { InstalledBed } from './installed-bed.ts';
import { claimSpec, podNamed, podWith, scheduled, withVolume } from './test-pods.ts';

const programs = [...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'helm'] as const;
/** Each node has two: what fits is then decided by these alone. */
const slot = 'example.com/slot';

describe.skipIf(lacks('1.36', ...programs) || lacksRealNode())(
  'the scheduler, installed by the chart',
  () => {
    afterAll(async () => expect(await leftBehind()).toEqual([]));

    test('places pods with local volumes on real nodes, beside eviction and preemption by Kubernetes', {
      timeout: 1_800_000,
    }, async () => {
      const bed = await InstalledBed.start();
      for (const node of [bed.a, bed.b]) await xfsDisk(node, '/var/lib/kubelet/disks/d1');
      await bed.install({});
      await keepsLocalData(bed);
      await outlivesItsLeader(bed);
      await survivesEviction(bed);
      await addSlots(bed);
      await usesWhatTheKubeletFrees(bed);
      await sharesPreemption(bed);
      await avoidsPressure(bed);
    });
  },
);

/**
 * A set whose pods are on different nodes: each finds its own file again, also if the kubelet was restarted meanwhile. It is stopped first: only the new
 * one then ends the pod and starts the next, and so it answers when that is ready.
 */
async function keepsLocalData(bed: InstalledBed): Promise<void> {
  await bed.apply(localClass, ...[bed.a, bed.b].map(localVolume), statefulSet);
  await bed.untilReady('db-0', 'db-1');
  for (const pod of ['db-0', 'db-1']) await bed.exec(pod, 'sh', '-c', `echo ${pod} > /data/file`);
  const before = await bed.nodeOf('db-0');
  expect([before, await bed.nodeOf('db-1')].sort()).toEqual(['a', 'b']);
  const uid = await bed.uidOf('db-0');
  const node = before === 'a' ? bed.a : bed.b;
  await node.stopKubelet();
  await bed.kubectl('delete', 'pod', 'db-0', '--wait=false');
  await node.startKubelet();
  await bed.untilReplaced('db-0', uid);
  expect(await bed.nodeOf('db-0')).toBe(before);
  expect(await bed.exec('db-0', 'cat', '/data/file')).toBe('db-0');
}

/** Both replicas are deleted, also the one that leads. */
async function outlivesItsLeader(bed: InstalledBed): Promise<void> {
  await bed.deletePods('scheduler');
  await bed.apply(podNamed('later'));
  await bed.untilReady('later');
  await bed.kubectl('delete', 'pod', 'later');
  await bed.untilRolledOut();
}

/** Evicted by the API and by a taint. */
async function survivesEviction(bed: InstalledBed): Promise<void> {
  const evict = (pod: string) => {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: 'default' } };
    return bed.kubectlWith(
      JSON.stringify(body),
      'create',
      '--raw',
      `/api/v1/namespaces/default/pods/${pod}/eviction`,
      '-f',
      '-',
    );
  };
  await bed.apply(budget(1));
  const first = await bed.uidOf('db-1');
  await eventually(
    () => evict('db-1').then(String, String),
    (answer) => /Cannot evict pod|violate the pod's disruption budget/.test(answer),
  );
  expect(await bed.uidOf('db-1')).toBe(first);
  await bed.apply(budget(0));
  await eventually(
    () => evict('db-1').then(String, String),
    (answer) => answer.includes('"Success"'),
  );
  await bed.untilReplaced('db-1', first);
  expect(await bed.exec('db-1', 'cat', '/data/file')).toBe('db-1');

  // The volume is on the tainted node: the pod waits, and says so, until the taint is gone.
  const node = (await bed.nodeOf('db-1'))!;
  const second = await bed.uidOf('db-1');
  await bed.kubectl('taint', 'node', node, 'example.com/broken=true:NoExecute');
  await eventually(
    () =>
      bed
        .kubectl('get', 'pod', 'db-1', '-o', 'jsonpath={.metadata.uid} {.status.conditions[0].reason}')
        .catch(() => ''),
    (text) => text !== '' && !text.startsWith(second) && text.endsWith('Unschedulable'),
  );
  await bed.kubectl('taint', 'node', node, 'example.com/broken-');
  await bed.untilReady('db-1');
  expect(await bed.exec('db-1', 'cat', '/data/file')).toBe('db-1');
}

/** What the kubelet evicts frees its node at once: the pod that waits for it starts. */
async function usesWhatTheKubeletFrees(bed: InstalledBed): Promise<void> {
  const onlyB = { nodeSelector: { 'kubernetes.io/hostname': 'b' } };
  await bed.apply(slotPod(podWith('greedy', { emptyDir: { sizeLimit: '1Mi' } }, onlyB), '2'));
  await bed.untilReady('greedy');
  await bed.apply(slotPod(podNamed('waiting', onlyB), '2'));
  await eventually(
    () => bed.kubectl('get', 'pod', 'waiting', '-o', 'jsonpath={.status.conditions[0].reason}'),
    (reason) => reason === 'Unschedulable',
  );
  await bed.exec('greedy', 'dd', 'if=/dev/zero', 'of=/data/file', 'bs=1M', 'count=8');
  await bed.untilReady('waiting');
  // Events are written in the background.
  await eventually(
    () => bed.kubectl('get', 'events', '--field-selector', 'reason=Evicted', '-o', 'name'),
    (names) => names !== '',
  );
  await bed.kubectl('delete', 'pod', 'greedy', 'waiting');
}

async function addSlots(bed: InstalledBed): Promise<void> {
  const slots = { status: { capacity: { [slot]: '2' }, allocatable: { [slot]: '2' } } };
  for (const node of ['a', 'b'])
    await bed.kubectl('patch', 'node', node, '--subresource=status', '--patch', JSON.stringify(slots));
}

/**
 * Each scheduler preempts a pod of the other, and no more pods than it must. One after the other: kube-scheduler does not see the nominations
 * of pods that are not its own. If both preempt at once, it may take the place that ours has made, and a kubelet then rejects one of the pods.
 */
async function sharesPreemption(bed: InstalledBed): Promise<void> {
  await bed.apply(priorityClass('low', 100), priorityClass('high', 1000));
  await preempts(bed, 'stowage', 'default-scheduler');
  await preempts(bed, 'default-scheduler', 'stowage');
}

async function preempts(bed: InstalledBed, preemptor: string, preempted: string): Promise<void> {
  const low = ['low-0', 'low-1', 'low-2', 'low-3'];
  await bed.apply(...low.map((name) => rankedPod(name, 'low', preempted)));
  await bed.untilReady(...low);
  await bed.apply(rankedPod('high', 'high', preemptor));
  await bed.untilReady('high');
  const { items } = await bed.cluster.resource(pods).list({ labelSelector: 'slots=true' });
  const left = items
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata?.name ?? '');
  expect(left.filter((name) => low.includes(name))).toHaveLength(3);
  await bed.kubectl('delete', 'pod', '-l', 'slots=true');
}

/**
 * A node that runs out of disk evicts a pod and gets a taint: the next pod of the set goes elsewhere, one that has to be there waits, and starts when the
 * pressure has passed. The last step: the kubelet also removes images that no container uses.
 */
async function avoidsPressure(bed: InstalledBed): Promise<void> {
  await bed.apply(priorityClass('lowest', -100), preferringB);
  const pod = async (): Promise<Pod | undefined> => {
    const { items } = await bed.cluster.resource(pods).list({ labelSelector: 'app=pressed' });
    return items.find(({ status }) => status?.phase === 'Running');
  };
  const onB = await eventually(pod, (found) => found !== undefined);
  expect(onB?.spec?.nodeName).toBe('b');
  await bed.b.setEvictionThresholds({ 'nodefs.available': '99%' });
  const moved = await eventually(pod, (found) => found?.spec?.nodeName === 'a');
  expect(moved?.metadata?.uid).not.toBe(onB?.metadata?.uid);
  await eventually(
    () => bed.kubectl('get', 'node', 'b', '-o', 'jsonpath={.spec.taints[*].key}'),
    (taints) => taints.includes('node.kubernetes.io/disk-pressure'),
  );
  const about = `involvedObject.uid=${onB?.metadata?.uid},reason=Evicted`;
  // Because of its rank, or because the restarted kubelet does not admit it again.
  await eventually(
    () => bed.kubectl('get', 'events', '--field-selector', about, '-o', 'jsonpath={.items[*].message}'),
    (text) => /low on resource: ephemeral-storage|condition: \[DiskPressure\]/.test(text),
  );

  await bed.apply(podNamed('bound-to-b', { nodeSelector: { 'kubernetes.io/hostname': 'b' } }));
  await eventually(
    () => bed.kubectl('get', 'pod', 'bound-to-b', '-o', 'jsonpath={.status.conditions[0].message}'),
    (text) => text.includes('untolerated taint'),
  );
  await bed.b.setEvictionThresholds();
  await eventually(
    () => bed.nodeOf('bound-to-b'),
    (node) => node === 'b',
  );
}

const preferringB = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'pressed', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'pressed' } },
    template: {
      metadata: { labels: { app: 'pressed' } },
      spec: {
        ...scheduled,
        priorityClassName: 'lowest',
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }],
                },
              },
            ],
          },
        },
      },
    },
  },
};

const localClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

function localVolume({ name }: RealNode): object {
  const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `disk-${name}` },
    spec: {
      capacity: { storage: '50Mi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: '/var/lib/kubelet/disks/d1' },
      nodeAffinity: { required: { nodeSelectorTerms: terms } },
    },
  };
}

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    serviceName: 'db',
    replicas: 2,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: { ...scheduled, ...withVolume({}), volumes: [] },
    },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec('local', '50Mi') }],
  },
};

/** `maxUnavailable` 1 less than that permits nothing. */
function budget(blocked: 0 | 1): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'db', namespace: 'default' },
    spec: { maxUnavailable: 1 - blocked, selector: { matchLabels: { app: 'db' } } },
  };
}

function priorityClass(name: string, value: number): object {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value };
}

function rankedPod(name: string, priorityClassName: string, schedulerName: string): object {
  return slotPod(podNamed(name, { priorityClassName, schedulerName }), '1');
}

function slotPod({ spec, metadata, ...pod }: Pod, count: string): object {
  const resources = { requests: { [slot]: count }, limits: { [slot]: count } };
  return {
    ...pod,
    metadata: { ...metadata, labels: { slots: 'true' } },
    spec: { ...spec, containers: spec?.containers?.map((container) => ({ ...container, resources })) },
  };
}
