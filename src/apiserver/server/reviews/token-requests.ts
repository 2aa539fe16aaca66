import type { FullAnswer } from '../../../io/http/full-response.ts';
import type { TokenRequest } from '../../../kube/api/stored/authentication.ts';
import type { Access } from '../../access/access.ts';
import { answerTokenRequest } from '../../access/token-request.ts';
import type { HttpRequest } from '../http/http-exchange.ts';
import type { RequestContext } from '../request-context.ts';
import { readObject } from '../requests/request-object.ts';
import { readWriteOptions } from '../requests/write-options.ts';
import { valueAnswer } from '../responses/body-responses.ts';
import { negotiate } from '../responses/negotiation.ts';
import type { ResourceTarget } from '../routing/router.ts';

/** POST to `serviceaccounts/NAME/token`. */
export async function requestToken(
  { registry, clock, caller }: RequestContext,
  { tokens }: Access,
  request: HttpRequest,
  { namespace, name = '' }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, { shapes: 'none' });
  const options = readWriteOptions(request.query, request.headers['user-agent'], 'CreateOptions');
  const body = await readObject(request, caller.user, tokenRequestBody, options);
  const asked = body as unknown as TokenRequest;
  return valueAnswer(
    201,
    form,
    await answerTokenRequest({ registry, clock, tokens }, { namespace, name }, asked),
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
