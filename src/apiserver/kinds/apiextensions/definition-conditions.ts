import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../../../kube/api/stored/apiextensions.ts';

/** Keeps a deleted definition until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Whether a condition is there and true. */
export function isConditionTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === 'True',
  );
}

/** What the first deletion does, after it has set the time of it. */
export function markTerminating(definition: CustomResourceDefinition): void {
  const { metadata, status } = definition;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(cleanupFinalizer)) metadata.finalizers = [...finalizers, cleanupFinalizer];
  const lastTransitionTime = metadata.deletionTimestamp ?? null;
  status.conditions = withDefinitionCondition(status.conditions ?? [], {
    ...terminating,
    lastTransitionTime,
  });
}

const terminating = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const;

type Conditions = readonly CustomResourceDefinitionCondition[];

/** A condition of the same type is replaced; while its status is the same, it keeps the time of its last change. */
export function withDefinitionCondition(
  conditions: Conditions,
  wanted: CustomResourceDefinitionCondition,
): CustomResourceDefinitionCondition[] {
  const known = conditions.find(({ type }) => type === wanted.type);
  if (known === undefined) {
    const { type, status, lastTransitionTime, ...why } = wanted;
    return [...conditions, { type, status, lastTransitionTime, ...why }];
  }
  const isSame = known.status === wanted.status && known.lastTransitionTime !== null;
  const lastTransitionTime = isSame ? known.lastTransitionTime : wanted.lastTransitionTime;
  const changed = { ...known, ...wanted, lastTransitionTime };
  return conditions.map((condition) => (condition === known ? changed : condition));
}
