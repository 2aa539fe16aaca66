import type { RegistryContext } from '../context/context.ts';
import { applyOperatorRules } from './apply-operator-rules.ts';
import type { AdmissionRule, Attempt } from './attempt.ts';
import { checkClaimResize } from './claim-resize.ts';
import { setDefaultStorageClass } from './default-storage-class.ts';
import { addDefaultTolerations } from './default-tolerations.ts';
import { checkCreateByChange, checkGrant } from './guard.ts';
import { protectInUse } from './in-use-protection.ts';
import { checkNamespaceLifecycle } from './namespace-lifecycle.ts';
import { checkPriorityClass, setPriority } from './priority.ts';
import { applyRuntimeClass, checkOverheadOfClass } from './runtime-class.ts';
import { copyTopologyLabels } from './topology-labels.ts';

/** What the server adds to an object, or refuses before its kind has looked at it, because of other objects. In Kubernetes' order. */
const changing: readonly AdmissionRule[] = [
  checkNamespaceLifecycle,
  setPriority,
  addDefaultTolerations,
  setDefaultStorageClass,
  protectInUse,
  applyRuntimeClass,
  copyTopologyLabels,
  applyOperatorRules,
  checkGrant,
];

/** What refuses an object that is right in itself. */
const looking: readonly AdmissionRule[] = [
  checkCreateByChange,
  checkPriorityClass,
  checkClaimResize,
  checkOverheadOfClass,
];

/** Before the kind prepares and checks the object. */
export function admit(context: RegistryContext, attempt: Attempt): void {
  for (const rule of changing) rule(context, attempt);
}

/** After the kind has checked it; nothing is changed any more. */
export function approve(context: RegistryContext, attempt: Attempt): void {
  for (const rule of looking) rule(context, attempt);
}
