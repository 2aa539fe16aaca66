import type { Status } from '../../../kube/api/meta.ts';
import type { Pod } from '../../../kube/api/stored/core.ts';
import type { Condition } from '../../../kube/api/stored/meta.ts';
import type { Eviction, PodDisruptionBudget } from '../../../kube/api/stored/policy.ts';
import { type ApiError, badRequest, failure, forbidden } from '../../../kube/api-error.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { assert } from '../../../runtime/assert.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import {
  findOrThrow,
  listAllObjects,
  type RegistryContext,
  storeObject,
  timestamp,
} from '../context/registry-context.ts';
import { decodeObject } from '../context/snapshot-cache.ts';
import { checkPreconditions, deleteObject } from '../deletion/delete.ts';
import { checkDeletionRequest } from '../deletion/deletion-policy.ts';
import type { DeletionRequest, WriteContext } from '../registry.ts';
import { recordFieldOwners } from '../writes/field-owners.ts';
import { withPodCondition } from './binding.ts';

/** The limit of evictions that the budget's controller has not processed yet; more indicate that it is not working. */
const disruptedPodsMax = 2000;

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/**
 * pods/eviction: deletes a pod if its disruption budget allows it. The budget's controller maintains the allowance in
 * its status; the eviction decrements it before deleting the pod, so that two evictions cannot use the same allowance.
 */
export async function evictPod(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  body: StoredObject,
  write: WriteContext,
): Promise<Status> {
  const eviction = body as Eviction;
  if (eviction.metadata.name !== key.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const { deleteOptions } = eviction;
  const dryRun = write.dryRun === true || (deleteOptions?.dryRun ?? []).includes('All');
  const requested = (deleteOptions ?? {}) as DeletionRequest;
  const pod = findOrThrow(context, kind, key).snapshot.object as Pod;
  const budgets = isExemptFromBudgets(pod) ? [] : budgetsOf(context, pod);
  const [budget] = budgets;
  if (budgets.length > 1) return manyBudgets;
  const isCounted = budget !== undefined && !isEvictableUnhealthyPod(budget, pod);
  if (isCounted) checkBudget(budget);
  checkDeletionRequest(requested);
  checkPreconditions(kind, pod, requested);
  // The mark changes the version, so the precondition is dropped; it was checked above, and nothing can fail or
  // interleave any more.
  const { preconditions: _, ...request } = requested;
  const writes = dryRun
    ? []
    : [isCounted && decrement(context, budget, key.name), markEvicted(context, kind, key)];
  await Promise.all([...writes, deleteObject(context, kind, key, request, { ...write, dryRun })]);
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

/** Pods that are not running or are being deleted anyway do not need the budget. */
function isExemptFromBudgets({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  return ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');
}

function budgetsOf(context: RegistryContext, pod: Pod): readonly PodDisruptionBudget[] {
  const all = listAllObjects<PodDisruptionBudget>(context, budgetKind(context), pod.metadata.namespace);
  return all.filter((budget) => covers(budget, pod));
}

function budgetKind({ kinds }: RegistryContext): ServedKind {
  const kind = kinds.byPlural('policy/v1', 'poddisruptionbudgets');
  assert(kind !== undefined, 'evictions require that PodDisruptionBudgets are served');
  return kind;
}

function covers({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  const compiled = compileLabelSelector(spec?.selector as Parameters<typeof compileLabelSelector>[0]);
  return compiled.ok && matchesLabels(compiled.selector, metadata.labels);
}

/** An unhealthy pod does not count towards the budget, so evicting it costs nothing. */
function isEvictableUnhealthyPod({ spec, status }: PodDisruptionBudget, pod: Pod): boolean {
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
  if (allowed === 0) throw tooManyRequests(budgetExhaustedMessage(name, status), 0);
}

function budgetExhaustedMessage(name: string, status: PodDisruptionBudget['status']): string {
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const failedCondition = condition?.status === 'False' && condition.message !== '' ? condition : undefined;
  if (failedCondition?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${failedCondition.message}`;
  }
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const why = failedCondition === undefined ? '' : ` (${failedCondition.reason}): ${failedCondition.message}`;
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
  { metadata }: PodDisruptionBudget,
  podName: string,
): Promise<void> {
  const kind = budgetKind(context);
  const found = findOrThrow(context, kind, { namespace: metadata.namespace, name: metadata.name ?? '' });
  const budget = decodeObject(found.snapshot) as PodDisruptionBudget;
  const { status } = budget;
  if (status === undefined) return;
  status.disruptionsAllowed -= 1;
  if (status.disruptionsAllowed === 0) status.conditions = exhausted(context, status);
  status.disruptedPods = { ...status.disruptedPods, [podName]: timestamp(context) };
  const owner = { manager: 'kube-apiserver', user: 'system:apiserver', subresource: 'status', warn() {} };
  recordFieldOwners(context, { kind, object: budget, old: found.snapshot.object, write: owner });
  await storeObject(context, kind, budget, found.entry, {});
}

/** The condition is updated immediately; the controller would do the same a moment later. */
function exhausted(
  context: RegistryContext,
  { conditions = [], observedGeneration = 0 }: NonNullable<PodDisruptionBudget['status']>,
): Condition[] {
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : timestamp(context),
    reason: 'InsufficientPods',
    message: '',
  };
  return before === undefined
    ? [...conditions, next]
    : conditions.map((each) => (each === before ? next : each));
}

/** Records the reason on the pod, once. */
async function markEvicted(context: RegistryContext, kind: ServedKind, key: ObjectKey): Promise<void> {
  const found = findOrThrow(context, kind, key);
  const pod = decodeObject(found.snapshot) as Pod;
  const conditions = withPodCondition(context, pod.status?.conditions ?? [], {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  pod.status = { ...pod.status, conditions };
  if (!isEqualWhenStored(pod, found.snapshot.object)) await storeObject(context, kind, pod, found.entry, {});
}
