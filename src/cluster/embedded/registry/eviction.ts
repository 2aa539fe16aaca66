import { compileLabelSelector, matchesLabels } from '../../../kube/label-selector.ts';
import type { Status } from '../../../kube/status.ts';
import { type ApiError, badRequest, failure, forbidden } from '../../api-error.ts';
import type { ObjectKey } from '../../resource.ts';
import type { Kind, StoredObject } from '../kinds/kind.ts';
import type { Pod } from '../schema/generated/core-v1.ts';
import type { Eviction, PodDisruptionBudget } from '../schema/generated/policy-v1.ts';
import type { DeletionRequest, WriteContext } from './api.ts';
import { withCondition } from './binding.ts';
import { everything, find, findOrRefuse, type RegistryContext, store, timestamp } from './context.ts';
import { deleteObject } from './delete.ts';
import { decodeObject } from './snapshot.ts';

/** Evictions that the budget's controller has not yet seen; more than this, and something is wrong with it. */
const disruptedPodsMax = 2000;

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/**
 * pods/eviction: deletes a pod if its disruption budget allows. The budget's status says so, which its controller keeps; the eviction
 * takes one from it before the pod goes, so that two evictions can't both count on the same one.
 */
export async function evictPod(
  context: RegistryContext,
  kind: Kind,
  key: ObjectKey,
  body: StoredObject,
  write: WriteContext,
): Promise<Status> {
  const eviction = body as Eviction;
  if (eviction.metadata.name !== key.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const { deleteOptions } = eviction;
  const attempt = {
    ...write,
    dryRun: write.dryRun === true || (deleteOptions?.dryRun ?? []).includes('All'),
  };
  const pod = findOrRefuse(context, kind, key).snapshot.object as Pod;
  const taken = isBeyondBudgets(pod) ? undefined : takeFromBudget(context, pod, attempt);
  if (taken !== undefined && !(await taken)) return manyBudgets;
  await markEvicted(context, kind, key, attempt);
  await deleteObject(context, kind, key, (deleteOptions ?? {}) as DeletionRequest, attempt);
  return success;
}

const manyBudgets: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  code: 500,
};

/** Pods that do not run, or are going anyway, are nobody's loss. */
function isBeyondBudgets({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  return ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');
}

/** False where several budgets cover the pod; throws where the one that does is used up. */
async function takeFromBudget(context: RegistryContext, pod: Pod, write: WriteContext): Promise<boolean> {
  const kind = context.kinds.byPlural('policy/v1', 'poddisruptionbudgets');
  if (kind === undefined) return true;
  const budgets = everything<PodDisruptionBudget>(context, kind, pod.metadata.namespace).filter((budget) =>
    covers(budget, pod),
  );
  const [budget] = budgets;
  if (budgets.length > 1) return false;
  if (budget === undefined || isUnhealthyBystander(budget, pod)) return true;
  checkBudget(budget);
  if (write.dryRun !== true) await decrement(context, kind, budget, pod.metadata.name ?? '');
  return true;
}

function covers({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  const compiled = compileLabelSelector(spec?.selector as Parameters<typeof compileLabelSelector>[0]);
  return compiled.ok && matchesLabels(compiled.selector, metadata.labels);
}

/** A pod that is not ready does not count as healthy, so that losing it costs the budget nothing. */
function isUnhealthyBystander({ spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  if (pod.status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function checkBudget({ metadata, status }: PodDisruptionBudget): void {
  const name = metadata.name ?? '';
  const budgets = { group: 'policy', plural: 'poddisruptionbudget' };
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = status?.disruptionsAllowed ?? 0;
  if (allowed < 0) throw forbidden(budgets, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status?.disruptedPods ?? {}).length > disruptedPodsMax) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(budgets, name, why);
  }
  if (allowed === 0) throw tooManyRequests(usedUp(name, status), 0);
}

function usedUp(name: string, status: PodDisruptionBudget['status']): string {
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const told = condition?.status === 'False' && condition.message !== '' ? condition : undefined;
  if (told?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${told.message}`;
  }
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const why = told === undefined ? '' : ` (${told.reason}): ${told.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently${why}`;
}

function tooManyRequests(cause: string, retryAfterSeconds: number): ApiError {
  return failure(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    },
  );
}

async function decrement(
  context: RegistryContext,
  kind: Kind,
  { metadata }: PodDisruptionBudget,
  podName: string,
): Promise<void> {
  const found = findOrRefuse(context, kind, { namespace: metadata.namespace, name: metadata.name ?? '' });
  const budget = decodeObject(found.snapshot) as PodDisruptionBudget;
  const { status } = budget;
  if (status === undefined) return;
  status.disruptionsAllowed -= 1;
  status.disruptedPods = { ...status.disruptedPods, [podName]: timestamp(context) };
  await store(context, kind, budget, found.entry, {});
}

async function markEvicted(
  context: RegistryContext,
  kind: Kind,
  key: ObjectKey,
  write: WriteContext,
): Promise<void> {
  const found = find(context, kind, key);
  if (found === undefined || write.dryRun === true) return;
  const pod = decodeObject(found.snapshot) as Pod;
  const conditions = withCondition(context, pod.status?.conditions ?? [], {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  pod.status = { ...pod.status, conditions };
  await store(context, kind, pod, found.entry, write);
}
