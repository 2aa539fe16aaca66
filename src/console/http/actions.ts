import type { Cluster } from '../../cluster/cluster.ts';
import { drives } from '../../kube/drive.ts';
import { deployments, nodes, statefulSets } from '../../kube/resources.ts';
import { isRecord } from '../../kube/wire.ts';
import { QuestionError } from '../answers.ts';
import type { ConsoleAction } from '../wire/plan.ts';

const replicasMax = 100_000;

/** Reads what the page asks for; throws a `QuestionError` if it is none of the known actions. */
export function readAction(text: string): ConsoleAction {
  const value = parsed(text);
  if (isRecord(value)) {
    const { kind, what, name, namespace, isOn, replicas } = value;
    if (
      kind === 'cordon' &&
      (what === 'node' || what === 'drive') &&
      isText(name) &&
      typeof isOn === 'boolean'
    )
      return { kind, what, name, isOn };
    const isCount =
      Number.isSafeInteger(replicas) && Number(replicas) >= 0 && Number(replicas) <= replicasMax;
    if (
      kind === 'scale' &&
      (what === 'StatefulSet' || what === 'Deployment') &&
      isText(name) &&
      isText(namespace)
    )
      if (isCount) return { kind, what, name, namespace, replicas: Number(replicas) };
  }
  throw new QuestionError('the action must be cordon or scale, with all of its fields');
}

/**
 * Carries out one action. Each patch sets a single field to what the viewer has chosen, whatever it was before; so it needs no version, and two
 * of them commute with every other write.
 */
export async function carryOut(cluster: Cluster, action: ConsoleAction): Promise<void> {
  if (action.kind === 'scale') {
    const { what, namespace, name, replicas } = action;
    const patch = { type: 'merge', body: { spec: { replicas } } } as const;
    const key = { namespace, name };
    if (what === 'StatefulSet') await cluster.resource(statefulSets).patch(key, patch);
    else await cluster.resource(deployments).patch(key, patch);
    return;
  }
  const { what, name, isOn } = action;
  const patch = { type: 'merge', body: { spec: { unschedulable: isOn } } } as const;
  if (what === 'node') await cluster.resource(nodes).patch({ name }, patch);
  else await cluster.resource(drives).patch({ name }, patch);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
