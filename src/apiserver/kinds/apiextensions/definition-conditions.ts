import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../../../kube/api/stored/apiextensions.ts';

/** Keeps a deleted definition until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Whether the condition exists and is True. */
export function isConditionTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === 'True',
  );
}

/** Called by the first deletion, after it has set the deletion timestamp. */
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

/** Replaces the condition of the same type. The last transition time changes only with the status. */
export function withDefinitionCondition(
  conditions: Conditions,
  condition: CustomResourceDefinitionCondition,
): CustomResourceDefinitionCondition[] {
  const known = conditions.find(({ type }) => type === condition.type);
  if (known === undefined) {
    const { type, status, lastTransitionTime, ...why } = condition;
    return [...conditions, { type, status, lastTransitionTime, ...why }];
  }
  const isSame = known.status === condition.status && known.lastTransitionTime !== null;
  const lastTransitionTime = isSame ? known.lastTransitionTime : condition.lastTransitionTime;
  const changed = { ...known, ...condition, lastTransitionTime };
  return conditions.map((one) => (one === known ? changed : one));
}
