/**
 * The group `discovery.k8s.io/v1`: EndpointSlice.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { endpointSliceKind } from './endpoint-slice.ts';

export const discoveryKinds: readonly ServedKind[] = [anyKind(endpointSliceKind)];
