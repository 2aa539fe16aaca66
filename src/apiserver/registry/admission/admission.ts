import type { RegistryContext } from '../context/registry-context.ts';
import { applyOperatorRules } from './apply-operator-rules.ts';
import { checkClaimResize } from './claim-resize.ts';
import { setDefaultStorageClass } from './default-storage-class.ts';
import { addDefaultTolerations } from './default-tolerations.ts';
import { protectInUse } from './in-use-protection.ts';
import { checkNamespaceLifecycle } from './namespace-lifecycle.ts';
import { checkPriorityClass, setPriority } from './priority.ts';
import { applyRuntimeClass, checkOverheadOfClass } from './runtime-class.ts';
import { copyTopologyLabels } from './topology-labels.ts';
import type { AdmissionRule, WriteAttempt } from './write-attempt.ts';
import { checkGrant, checkImplicitCreate } from './write-guard.ts';

/** What the server adds to an object, or refuses before its kind has looked at it, because of other objects. In Kubernetes' order. */
const mutatingRules: readonly AdmissionRule[] = [
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
const validatingRules: readonly AdmissionRule[] = [
  checkImplicitCreate,
  checkPriorityClass,
  checkClaimResize,
  checkOverheadOfClass,
];

/** Before the kind prepares and checks the object. */
export function runMutatingRules(context: RegistryContext, attempt: WriteAttempt): void {
  for (const rule of mutatingRules) rule(context, attempt);
}

/** After the kind has checked it; nothing is changed any more. */
export function runValidatingRules(context: RegistryContext, attempt: WriteAttempt): void {
  for (const rule of validatingRules) rule(context, attempt);
}
