import type { RegistryContext } from '../context.ts';
import type { AdmissionRule, Attempt } from './attempt.ts';
import { checkClaimResize } from './claim-resize.ts';
import { setDefaultStorageClass } from './default-storage-class.ts';
import { addDefaultTolerations } from './default-tolerations.ts';
import { protectInUse } from './in-use-protection.ts';
import { checkNamespaceLifecycle } from './namespace-lifecycle.ts';
import { checkPriorityClass, setPriority } from './priority.ts';
import { copyTopologyLabels } from './topology-labels.ts';

/**
 * What the server adds or refuses beyond the rules of the kinds, because it depends on other objects. In the order of Kubernetes:
 * those that change come before those that only look.
 */
const rules: readonly AdmissionRule[] = [
  checkNamespaceLifecycle,
  setPriority,
  addDefaultTolerations,
  setDefaultStorageClass,
  protectInUse,
  copyTopologyLabels,
  checkClaimResize,
  checkPriorityClass,
];

export function admit(context: RegistryContext, attempt: Attempt): void {
  for (const rule of rules) rule(context, attempt);
}
