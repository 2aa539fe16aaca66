import type { Cluster } from '../../cluster/cluster.ts';
import { setReplicasOf } from '../../engine/workloads/stateful-set-members.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { Eviction } from '../../kube/api/policy.ts';
import { isReason } from '../../kube/api-error.ts';
import { getCondition } from '../../kube/conditions.ts';
import { pods, statefulSets } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { EvictedPodLine } from '../../queries/drain/drain-report.ts';
import { isLate, type MoveContext, pause } from './move-context.ts';

export interface EvictPodsOptions {
  /** The pods that are still to be stopped; called again after each wave. */
  readonly next: () => Promise<readonly EvictedPodLine[]>;
  /** Whether a StatefulSet must be complete again before its next pod is stopped. */
  readonly keepsSetsReady: boolean;
}

const goneMs = 1_000;
/** A budget allows more when its controller has seen that pods are ready. */
const heldMs = 2_000;

/** Evicts pods wave by wave until none is left, or the time is over. Returns why those that are left have not gone. */
export async function evictPods(
  context: MoveContext,
  { next, keepsSetsReady }: EvictPodsOptions,
): Promise<readonly string[]> {
  for (;;) {
    const left = await next();
    if (left.length === 0) return [];
    const waiting: string[] = [];
    const gone: Pod[] = [];
    for (const line of left.filter(({ wave }) => wave === 1 || wave === undefined)) {
      const outcome = await evictPod(context, line, keepsSetsReady);
      if (typeof outcome === 'string') waiting.push(outcome);
      else gone.push(...outcome);
    }
    await untilGone(context, gone, waiting);
    if (isLate(context)) return waiting;
    if (gone.length > 0 || waiting.length === 0) continue;
    context.onProgress(waiting[0]!);
    await pause(context, heldMs);
  }
}

/** The pod, if it is on its way out; else why it stays for now. */
async function evictPod(
  { cluster, onChange }: MoveContext,
  { pod: key, owner }: EvictedPodLine,
  keepsSetReady: boolean,
): Promise<readonly Pod[] | string> {
  const [namespace = '', name = ''] = key.split('/');
  const pod = await undefinedIfNotFound(cluster.resource(pods).get({ namespace, name }));
  if (pod === undefined) return [];
  if (pod.metadata?.deletionTimestamp !== undefined) return [pod];
  if (keepsSetReady && !(await isRestComplete(cluster, pod, owner)))
    return `pod ${key} stays until the other pods of ${owner} are ready`;
  const { uid, resourceVersion } = pod.metadata ?? {};
  const body: Eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid: uid!, resourceVersion: resourceVersion! } },
  };
  try {
    await cluster.resource(pods).post({ namespace, name }, 'eviction', body);
    onChange(`pod/${key} evicted`);
    return [pod];
  } catch (error) {
    if (isReason(error, 'NotFound')) return [];
    // It is decided again with what is stored now.
    if (isReason(error, 'Conflict')) return `pod ${key} has changed`;
    if (isReason(error, 'TooManyRequests')) return `pod ${key}: ${error.message}`;
    throw error;
  }
}

/** Whether all pods of its StatefulSet but this one are ready. */
async function isRestComplete(cluster: Cluster, pod: Pod, owner: string | undefined): Promise<boolean> {
  const [kind, name = ''] = (owner ?? '').split('/');
  if (kind !== 'StatefulSet') return true;
  const namespace = pod.metadata?.namespace ?? '';
  const set = await undefinedIfNotFound(cluster.resource(statefulSets).get({ namespace, name }));
  if (set === undefined) return true;
  const { items } = await cluster.resource(pods).list({ namespace });
  const ready = items.filter(
    ({ metadata, status }) =>
      metadata?.uid !== pod.metadata?.uid &&
      metadata?.deletionTimestamp === undefined &&
      metadata?.ownerReferences?.some(({ uid }) => uid === set.metadata?.uid) === true &&
      getCondition(status?.conditions, 'Ready')?.status === 'True',
  );
  return ready.length >= setReplicasOf(set) - 1;
}

async function untilGone(context: MoveContext, gone: readonly Pod[], waiting: string[]): Promise<void> {
  for (const { metadata } of gone) {
    const key = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    for (;;) {
      const now = await undefinedIfNotFound(context.cluster.resource(pods).get(key));
      if (now === undefined || now.metadata?.uid !== metadata?.uid) break;
      const text = `pod ${key.namespace}/${key.name} has not ended`;
      if (isLate(context)) {
        waiting.push(text);
        break;
      }
      context.onProgress(text);
      await pause(context, goneMs);
    }
  }
}
