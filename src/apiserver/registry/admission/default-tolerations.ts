import type { Pod, Toleration } from '../../../kube/api/stored/core.ts';
import type { RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** How long a pod stays on a node that stopped responding, unless the pod sets its own toleration. */
const tolerationSeconds = 300;

const nodeConditionTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export function addDefaultTolerations(_context: RegistryContext, attempt: WriteAttempt): void {
  if (!isKind(attempt, '', 'Pod') || attempt.operation === 'DELETE') return;
  if (attempt.write.subresource !== undefined) return;
  const { spec } = attempt.object as Pod;
  if (spec === undefined) return;
  const given = spec.tolerations ?? [];
  const missing = nodeConditionTaints.filter((key) => !given.some((toleration) => covers(toleration, key)));
  if (missing.length === 0) return;
  spec.tolerations = [
    ...given,
    ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds })),
  ];
}

function covers({ key = '', effect = '' }: Toleration, trouble: string): boolean {
  return (key === trouble || key === '') && (effect === 'NoExecute' || effect === '');
}
