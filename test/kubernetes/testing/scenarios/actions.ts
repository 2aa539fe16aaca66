import { setTimeout as sleep } from 'node:timers/promises';
import type { PodTemplateSpec } from '../../../../src/kube/api/core.ts';
import type { DeletionPropagation, KubeObject } from '../../../../src/kube/api/meta.ts';
import { ApiError } from '../../../../src/kube/api-error.ts';
import type { Resource } from '../../../../src/kube/resource.ts';
import { namespaces, pods } from '../../../../src/kube/resources.ts';
import type { UserAction } from '../scenario-runner.ts';

const pollMs = 300;

/** Runs the actions one after another, without waiting for the cluster to settle. Their answers are joined. */
export function all(...actions: readonly UserAction[]): UserAction {
  return async (context) => {
    const answers: unknown[] = [];
    for (const action of actions) answers.push(await action(context));
    return answers.filter((answer) => answer !== undefined);
  };
}

export function create<T extends KubeObject>(resource: Resource<T>, object: T): UserAction {
  return async ({ cluster, namespace }) => {
    const metadata = resource.namespaced ? { ...object.metadata, namespace } : (object.metadata ?? {});
    const body: KubeObject = { ...object, metadata };
    await cluster.resource<KubeObject>(resource).create(body);
  };
}

/** A merge patch; if the server rejects it, the answer has the reason. */
export function change(resource: Resource, name: string, body: object): UserAction {
  return async ({ cluster, namespace }) =>
    await refusalOf(
      cluster.resource(resource).patch(keyOf(resource, namespace, name), { type: 'merge', body }),
    );
}

export function remove(
  resource: Resource,
  name: string,
  propagationPolicy?: DeletionPropagation,
): UserAction {
  return async ({ cluster, namespace }) => {
    const options = propagationPolicy === undefined ? {} : { propagationPolicy };
    await cluster.resource(resource).delete(keyOf(resource, namespace, name), options);
  };
}

/** Requests the eviction of the first pods with the label `app`, one after another. */
export function evict(app: string, count = 1): UserAction {
  return async ({ cluster, namespace }) => {
    const { items } = await cluster.resource(pods).list({ namespace, labelSelector: `app=${app}` });
    const answers: string[] = [];
    for (const { metadata } of items.slice(0, count)) {
      const { name = '' } = metadata ?? {};
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
      const asked = cluster.resource(pods).post({ namespace, name }, 'eviction', body);
      answers.push(`${app}: ${(await refusalOf(asked)) ?? 'evicted'}`);
    }
    return answers;
  };
}

/** Sets rising deletion costs on the pods with the label `app`, in list order. */
export function rankByCost(app: string): UserAction {
  return async ({ cluster, namespace }) => {
    const { items } = await cluster.resource(pods).list({ namespace, labelSelector: `app=${app}` });
    for (const [index, { metadata }] of items.entries()) {
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': String(index * 10 - 5) };
      const body = { metadata: { annotations, labels: { rank: String(index) } } };
      await cluster.resource(pods).patch({ namespace, name: metadata?.name ?? '' }, { type: 'merge', body });
    }
  };
}

/** Marks one pod with the label `app` as failed, as a kubelet would. */
export function failOne(app: string): UserAction {
  return async ({ cluster, namespace }) => {
    const { items } = await cluster.resource(pods).list({ namespace, labelSelector: `app=${app}` });
    const name = items[0]?.metadata?.name ?? '';
    const body = { status: { phase: 'Failed', reason: 'Evicted' } };
    await cluster
      .resource(pods)
      .patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
  };
}

/** Sets the pod security level of the namespace: `restricted` rejects all pods of the scenarios. */
export function restrict(level: 'restricted' | 'privileged'): UserAction {
  const body = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } };
  return async (context) => await change(namespaces, context.namespace, body)(context);
}

/** Waits without a limit of its own; the test's timeout applies. */
export function untilReady(resource: Resource<Workload>, name: string): UserAction {
  return async ({ cluster, namespace }) => {
    const isReady = async () => {
      const { spec, status } = await cluster.resource(resource).get({ namespace, name });
      return status?.readyReplicas === spec?.replicas;
    };
    while (!(await isReady())) await sleep(pollMs);
  };
}

type Workload = KubeObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
};

export function podTemplate(app: string, image: string): PodTemplateSpec {
  return {
    metadata: { labels: { app } },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image }] },
  };
}

/** A merge patch of a workload. */
export function withImage(image: string): object {
  return { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } };
}

export function withReplicas(replicas: number): object {
  return { spec: { replicas } };
}

function keyOf({ namespaced }: Resource, namespace: string, name: string) {
  return namespaced ? { namespace, name } : { name };
}

/** The reason if the server rejects the call. */
export async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.code} ${error.reason}: ${error.message}`;
  }
}
