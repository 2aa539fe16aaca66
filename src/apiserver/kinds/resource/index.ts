/**
 * The group `resource.k8s.io/v1` (dynamic resource allocation). README.md says how little of it the server checks.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { deviceClassKind } from './device-class.ts';
import { resourceClaimKind, resourceClaimTemplateKind } from './resource-claim.ts';
import { resourceSliceKind } from './resource-slice.ts';

export const resourceKinds: readonly ServedKind[] = [
  anyKind(deviceClassKind),
  anyKind(resourceClaimKind),
  anyKind(resourceClaimTemplateKind),
  anyKind(resourceSliceKind),
];
