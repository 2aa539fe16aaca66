/**
 * The group `policy/v1`: PodDisruptionBudget. An Eviction is a subresource of pods.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { podDisruptionBudgetKind } from './pod-disruption-budget.ts';

export const policyKinds: readonly ServedKind[] = [anyKind(podDisruptionBudgetKind)];
