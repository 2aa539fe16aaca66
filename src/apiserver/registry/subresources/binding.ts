import type { Status } from '../../../kube/api/meta.ts';
import type { Binding, Pod, PodCondition } from '../../../kube/api/stored/core.ts';
import { badRequest, conflict, failure } from '../../../kube/api-error.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import { checkPodBinding } from '../../kinds/core/pods/binding.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { topologyLabels } from '../admission/topology-labels.ts';
import { findOrThrow, type RegistryContext, storeObject, timestamp } from '../context/registry-context.ts';
import { decodeObject } from '../context/snapshot-cache.ts';
import type { WriteContext } from '../registry.ts';
import { storageConflict } from '../writes/storage-conflict.ts';

/** pods/binding: assigns a pod to a node, once. As in Kubernetes, the node need not exist. */
export async function bindPod(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  body: StoredObject,
  write: WriteContext,
): Promise<Status> {
  const binding = body as Binding;
  if (binding.metadata.name !== key.name)
    throw badRequest('name in URL does not match name in Binding object');
  checkTarget(binding);
  const found = findOrThrow(context, kind, key);
  checkPreconditions(kind, binding, found.snapshot.object, write);
  const pod = decodeObject(found.snapshot) as Pod;
  checkBindable(kind, pod);
  assignNode(context, pod, binding);
  await storeObject(context, kind, pod, found.entry, write);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function checkTarget(binding: Binding): void {
  const errors = new FieldErrors();
  checkPodBinding(binding, errors);
  const messages = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  if (messages.length > 0)
    throw failure(500, undefined, messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`);
}

function checkPreconditions(
  kind: ServedKind,
  { metadata }: Binding,
  found: StoredObject,
  { dryRun }: WriteContext,
): void {
  const { namespace, name = '' } = found.metadata;
  const { uid = '', resourceVersion = '' } = metadata;
  if (uid !== '' && uid !== found.metadata.uid)
    throw storageConflict(
      kind,
      { namespace, name },
      {
        uid,
        found: found.metadata.uid ?? '',
        isDryRun: dryRun === true,
      },
    );
  if (resourceVersion !== '' && resourceVersion !== found.metadata.resourceVersion) {
    throw conflict(
      kind,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${found.metadata.resourceVersion}`,
    );
  }
}

function checkBindable(kind: ServedKind, { metadata, spec }: Pod): void {
  const { name = '' } = metadata;
  const refuse = (why: string) => conflict({ group: kind.group, plural: 'pods/binding' }, name, why);
  if (metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if ((spec?.nodeName ?? '') !== '') {
    throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec?.nodeName)}`);
  }
  if ((spec?.schedulingGates ?? []).length > 0)
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
}

function assignNode(context: RegistryContext, pod: Pod, { metadata, target }: Binding): void {
  const nodeName = target.name ?? '';
  pod.spec = { ...pod.spec, containers: pod.spec?.containers ?? null, nodeName };
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  if (Object.keys(annotations).length > 0) pod.metadata.annotations = annotations;
  const labels = { ...pod.metadata.labels, ...metadata.labels, ...topologyLabels(context, nodeName) };
  if (Object.keys(labels).length > 0) pod.metadata.labels = labels;
  const status = { ...pod.status };
  delete status.nominatedNodeName;
  status.conditions = withPodCondition(context, status.conditions ?? [], {
    type: 'PodScheduled',
    status: 'True',
  });
  pod.status = status;
}

/** Sets a condition in place, with the time of its last transition. */
export function withPodCondition(
  context: RegistryContext,
  conditions: readonly PodCondition[],
  condition: Omit<PodCondition, 'lastProbeTime' | 'lastTransitionTime'>,
): PodCondition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status;
  const lastTransitionTime = isSame ? before?.lastTransitionTime : timestamp(context);
  const next: PodCondition = {
    lastProbeTime: null,
    ...condition,
    lastTransitionTime: lastTransitionTime ?? timestamp(context),
  };
  return before === undefined
    ? [...conditions, next]
    : conditions.map((each) => (each === before ? next : each));
}
