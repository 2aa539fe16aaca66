import type { RegistryContext } from '../context/registry-context.ts';
import { applyOperatorRules } from './apply-operator-rules.ts';
import { checkClaimResize } from './claim-resize.ts';
import { setDefaultStorageClass } from './default-storage-class.ts';
import { addDefaultTolerations } from './default-tolerations.ts';
import { setDriverCapacityOwner } from './driver-capacity-owner.ts';
import { protectInUse } from './in-use-protection.ts';
import { checkNamespaceLifecycle } from './namespace-lifecycle.ts';
import { checkPriorityClass, setPriority } from './priority.ts';
import { applyRuntimeClass, checkOverheadOfClass } from './runtime-class.ts';
import { copyTopologyLabels } from './topology-labels.ts';
import type { AdmissionRule, WriteAttempt } from './write-attempt.ts';
import { checkGrant, checkImplicitCreate } from './write-guard.ts';

/** Rules that depend on other objects and change an object or refuse it before its kind validates it. In Kubernetes' order. */
const mutatingRules: readonly AdmissionRule[] = [
  checkNamespaceLifecycle,
  setPriority,
  addDefaultTolerations,
  setDefaultStorageClass,
  protectInUse,
  applyRuntimeClass,
  copyTopologyLabels,
  applyOperatorRules,
  setDriverCapacityOwner,
  checkGrant,
];

/** Rules that refuse an object that is valid in itself. */
const validatingRules: readonly AdmissionRule[] = [
  checkImplicitCreate,
  checkPriorityClass,
  checkClaimResize,
  checkOverheadOfClass,
];

/** Runs before the kind prepares and validates the object. */
export function runMutatingRules(context: RegistryContext, attempt: WriteAttempt): void {
  for (const rule of mutatingRules) rule(context, attempt);
}

/** Runs after the kind has validated the object; must not change it. */
export function runValidatingRules(context: RegistryContext, attempt: WriteAttempt): void {
  for (const rule of validatingRules) rule(context, attempt);
}
