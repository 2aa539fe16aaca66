import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { deployments, nodes, pods, statefulSets } from '../../kube/resources.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { isRecord } from '../../kube/wire.ts';
import { QuestionError } from '../../queries/question-error.ts';
import type { ConsoleAction } from '../wire/plan.ts';

const replicasMax = 100_000;

/** Reads what the page asks for; throws a `QuestionError` if it is none of the known actions. */
export function readAction(text: string): ConsoleAction {
  const value = parsed(text);
  const action = isRecord(value) ? actionIn(value) : undefined;
  if (action === undefined)
    throw new QuestionError('the action must be cordon, evict or scale, with all of its fields');
  return action;
}

function actionIn(value: Readonly<Record<string, unknown>>): ConsoleAction | undefined {
  const { kind, what, name, namespace, node, isOn, replicas } = value;
  if (!isText(name)) return undefined;
  if (kind === 'cordon' && (what === 'node' || what === 'drive') && typeof isOn === 'boolean')
    return { kind, what, name, isOn };
  if (!isText(namespace)) return undefined;
  if (kind === 'evict' && isText(node)) return { kind, namespace, name, node };
  if (kind === 'scale' && (what === 'StatefulSet' || what === 'Deployment') && isCount(replicas))
    return { kind, what, name, namespace, replicas };
  return undefined;
}

/**
 * Carries out one action. Patches set a single field to the value that the viewer has chosen, whatever it was before; so they need no version, and
 * commute with every other write. An eviction names the uid of the pod that was read.
 */
export async function applyPlan(cluster: Cluster, action: ConsoleAction): Promise<void> {
  switch (action.kind) {
    case 'cordon': {
      const { what, name, isOn } = action;
      const patch = { type: 'merge', body: { spec: { unschedulable: isOn } } } as const;
      if (what === 'node') await cluster.resource(nodes).patch({ name }, patch);
      else await cluster.resource(drives).patch({ name }, patch);
      return;
    }
    case 'scale': {
      const { what, namespace, name, replicas } = action;
      const patch = { type: 'merge', body: { spec: { replicas } } } as const;
      if (what === 'StatefulSet') await cluster.resource(statefulSets).patch({ namespace, name }, patch);
      else await cluster.resource(deployments).patch({ namespace, name }, patch);
      return;
    }
    case 'evict':
      await evict(cluster, action);
  }
}

async function evict(
  cluster: Cluster,
  { namespace, name, node }: Extract<ConsoleAction, { kind: 'evict' }>,
): Promise<void> {
  const { metadata, spec } = await cluster.resource(pods).get({ namespace, name });
  if (spec?.nodeName !== node)
    throw new QuestionError(`pod ${namespace}/${name} is not on node ${node} any more; show the plan again`);
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid: metadata?.uid } },
  };
  await cluster.resource(pods).post({ namespace, name }, 'eviction', eviction as KubeObject);
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= replicasMax;
}
