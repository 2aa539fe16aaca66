/**
 * The group `scheduling.k8s.io/v1`: PriorityClass.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { priorityClassKind } from './priority-class.ts';

export const schedulingKinds: readonly ServedKind[] = [anyKind(priorityClassKind)];
