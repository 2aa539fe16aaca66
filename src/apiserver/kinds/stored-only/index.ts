/**
 * Kinds that we keep for others: the scheduler and the controller manager of Kubernetes list them at their start, and wait
 * until they can. They get their defaults, their status is kept apart, and what may not change stays; beyond that and the
 * identity of slices their contents are not judged, and nothing of ours acts on them.
 */
import { anyKind, type Kind } from '../kind.ts';
import { deviceClassKind } from './device-class.ts';
import { resourceClaimKind, resourceClaimTemplateKind } from './resource-claim.ts';
import { resourceSliceKind } from './resource-slice.ts';

export const storedOnlyKinds: readonly Kind[] = [
  anyKind(deviceClassKind),
  anyKind(resourceClaimKind),
  anyKind(resourceClaimTemplateKind),
  anyKind(resourceSliceKind),
];
