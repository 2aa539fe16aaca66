import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { coreEvents, nodes, persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import { callStowage } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import {
  accessModes,
  main,
  makeClass,
  makeDisk,
  makeNode,
  serviceAccountKubeconfig,
  until,
  untilAllowed,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

/** The rights of a user who manages the pods of one namespace: no nodes, nothing cluster-wide. */
const namespaced = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: shop }
rules:
  - { apiGroups: [""], resources: [pods, persistentvolumeclaims, events], verbs: [get, list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reader, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects: [{ kind: ServiceAccount, name: of-a-team, namespace: shop }]
`;

/** All cluster-wide objects except those of storage drivers; pods and claims of one namespace only. */
const broad = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: broad }
rules:
  - { apiGroups: [""], resources: [nodes, persistentvolumes, namespaces], verbs: [list] }
  - { apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: broad }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: broad }
subjects: [{ kind: ServiceAccount, name: broad, namespace: shop }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: broad, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects: [{ kind: ServiceAccount, name: broad, namespace: shop }]
`;

const accounts = ['of-a-team', 'broad', 'no-rights'] as const;

async function kubectl(bed: TestBed, args: readonly string[], input = ''): Promise<void> {
  const { stderr, code } = await bed.kubectl(args, input);
  expect([code, stderr]).toEqual([0, '']);
}

/** A pod of the default scheduler that every node refuses, each for another reason. */
async function makePendingPod(cluster: Cluster): Promise<void> {
  await makeNode(cluster, 'with-a-disk');
  await makeNode(cluster, 'small', { cpu: '1' });
  await cluster.resource(nodes).create({
    metadata: { name: 'tainted' },
    spec: { taints: [{ key: 'team', value: 'infra', effect: 'NoSchedule' }] },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
  });
  await makeClass(cluster, 'local');
  await makeDisk(cluster, 'disk', { node: 'with-a-disk', storageClassName: 'local' });
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace: 'shop', name: 'data' },
    spec: { accessModes, storageClassName: 'local', resources: { requests: { storage: '5Gi' } } },
  });
  await cluster.resource(pods).create({
    metadata: { namespace: 'shop', name: 'db' },
    spec: {
      containers: [{ ...main, resources: { requests: { cpu: '2' } } }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
}

/** The message of kube-scheduler's Event about the pod. */
async function kubeSchedulerMessage(cluster: Cluster): Promise<string> {
  const fieldSelector = 'involvedObject.name=db,reason=FailedScheduling';
  let message = '';
  await until(async () => {
    const { items } = await cluster.resource(coreEvents).list({ namespace: 'shop', fieldSelector });
    // kube-scheduler may see the pod before the claim, the volume or a node, and then says something else first.
    message = items.map((event) => event.message ?? '').find(namesEveryReason) ?? '';
    return message !== '' && (await conditionMessage(cluster)) === message;
  }, 100);
  return message;
}

function namesEveryReason(message: string): boolean {
  const reasons = [/^0\/3 nodes/, /persistent volumes/, /Insufficient cpu/, /untolerated taint/];
  return reasons.every((reason) => reason.test(message));
}

async function conditionMessage(cluster: Cluster): Promise<string | undefined> {
  const { status } = await cluster.resource(pods).get({ namespace: 'shop', name: 'db' });
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
}

async function explain(kubeconfig: string, ...flags: readonly string[]) {
  return await callStowage('explain', 'pod', 'shop/db', '--kubeconfig', kubeconfig, ...flags);
}

describe.skipIf(lacks(...serverPrograms, 'kube-scheduler'))('explain on a Kubernetes cluster', () => {
  const bed = sharedTestBed({ scheduler: true });
  let event = '';

  beforeAll(async () => {
    const cluster = await bed().connect();
    await kubectl(bed(), ['create', 'namespace', 'shop']);
    for (const name of accounts) await kubectl(bed(), ['create', 'serviceaccount', name, '-n', 'shop']);
    await kubectl(bed(), ['apply', '-f', '-'], `${namespaced}---${broad}`);
    for (const name of ['of-a-team', 'broad'])
      await untilAllowed(bed(), `system:serviceaccount:shop:${name}`, 'list', 'events', '-n', 'shop');
    await untilAllowed(bed(), 'system:serviceaccount:shop:broad', 'list', 'storageclasses');
    await makePendingPod(cluster);
    event = await kubeSchedulerMessage(cluster);
  });

  test('gives the message of kube-scheduler, and lists the kinds that it has no permission to read', async () => {
    const admin = await explain(bed().kubeconfig, '-o', 'json');
    const { message, ...rest } = JSON.parse(admin.stdout);
    expect([admin.status, admin.stderr]).toEqual([3, '']);
    expect(rest).toMatchObject({ verdict: 'refused', profile: 'upstream', notes: [] });
    expect(message).toMatch(/^0\/3 nodes are available: /);
    // The rest of the message is about preemption, which is not compared.
    expect(event.slice(0, message.length)).toBe(message);
    expect(event.slice(message.length)).toMatch(/^( no new claims to deallocate,)? preemption: /);
    expect(rest.reported).toBe(event);

    const seeing = await explain(await serviceAccountKubeconfig(bed(), 'shop', 'broad'), '-o', 'json');
    const seen = JSON.parse(seeing.stdout);
    expect([seeing.status, seeing.stderr, seen.message]).toEqual([3, '', message]);
    expect(seen.remedies.length).toBeGreaterThan(0);
    const notes = seen.notes.map(({ text }: { readonly text: string }) => text);
    expect(notes[0]).toMatch(
      /^could not read csidrivers, csinodes, csistoragecapacities\b.* \(forbidden\); could read .*\bpods\b.* only in namespace shop: /,
    );
    expect(notes.filter((text: string) => /^could/.test(text))).toHaveLength(1);
  });

  test('explains what is possible without nodes, and which rights to request if nothing is possible', async () => {
    const team = await explain(await serviceAccountKubeconfig(bed(), 'shop', 'of-a-team'));
    expect([team.status, team.stderr]).toEqual([1, '']);
    expect(team.stdout).toMatch(
      /^Pod shop\/db is pending, and its condition says: 0\/3 nodes are available: /,
    );
    expect(team.stdout).toMatch(/could not read nodes.* \(forbidden\).*: nothing can be said about nodes/);
    expect(team.stdout).toContain('0/3 nodes are available: ');
    const noRights = await explain(await serviceAccountKubeconfig(bed(), 'shop', 'no-rights'));
    expect([noRights.status, noRights.stdout]).toEqual([1, '']);
    expect(noRights.stderr).toMatch(
      /^stowage: could not read pods: forbidden; the right to list pods is needed\n$/,
    );
  });
});
