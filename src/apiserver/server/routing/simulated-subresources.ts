import { type ApiError, failure } from '../../../kube/api-error.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';

/** What a subresource of the core group would need and what a simulated cluster does not have. */
const missingParts: ReadonlyMap<string, string> = new Map([
  ['pods/attach', 'there are no containers to attach to'],
  ['pods/ephemeralcontainers', 'there are no containers to debug'],
  ['pods/exec', 'there are no containers to run commands in'],
  ['pods/log', 'there are no containers to read logs from'],
  ['pods/portforward', 'there are no containers to forward ports to'],
  ['pods/proxy', 'there are no containers to send requests to'],
  ['pods/resize', 'there are no containers to resize'],
  ['nodes/proxy', 'there is no kubelet to send requests to'],
  ['services/proxy', 'there are no containers to send requests to'],
]);

/**
 * Whether the subresource needs running containers. It is absent from discovery, and requests for it get an error that
 * says why, instead of "not found".
 */
export function isSimulatedSubresource(kind: ServedKind, subresource: string): boolean {
  return kind.group === '' && missingParts.has(`${kind.plural}/${subresource}`);
}

export function simulatedError({ plural }: ServedKind, subresource: string): ApiError {
  const what = plural === 'nodes' ? 'nodes' : 'pods';
  const missing = missingParts.get(`${plural}/${subresource}`) ?? 'no containers run';
  return failure(501, undefined, `${what} of this cluster are simulated: ${missing}`, {});
}
