import type { FullResponse } from '../../../io/http/full-response.ts';
import type { TokenRequest } from '../../../kube/api/stored/authentication.ts';
import type { Access } from '../../access/access.ts';
import { issueRequestedToken } from '../../access/token-request.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import type { RequestContext } from '../request-context.ts';
import { readRequestObject } from '../requests/request-object.ts';
import { readWriteOptions } from '../requests/write-options.ts';
import { valueResponse } from '../responses/body-responses.ts';
import { negotiate } from '../responses/negotiation.ts';
import type { ResourceTarget } from '../routing/router.ts';

/** POST to `serviceaccounts/NAME/token`. */
export async function createToken(
  { registry, clock, caller }: RequestContext,
  { tokens }: Access,
  request: IncomingRequest,
  { namespace, name = '' }: ResourceTarget,
): Promise<FullResponse> {
  const format = negotiate(request, { shapes: 'none' });
  const options = readWriteOptions(request.query, request.headers['user-agent'], 'CreateOptions');
  const body = await readRequestObject(request, caller.user, tokenRequestBody, options);
  const tokenRequest = body as unknown as TokenRequest;
  return valueResponse(
    201,
    format,
    await issueRequestedToken({ registry, clock, tokens }, { namespace, name }, tokenRequest),
  );
}

export function isTokenRequest({ kind, subresource }: ResourceTarget): boolean {
  return kind.group === '' && kind.plural === 'serviceaccounts' && subresource === 'token';
}

const tokenRequestBody = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  type: 'authentication.k8s.io/v1.TokenRequest',
};
