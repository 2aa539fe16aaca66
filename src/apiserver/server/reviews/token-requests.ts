import type { TokenRequest } from '../../../kube/api/authentication-v1.ts';
import type { Access } from '../../access/access.ts';
import { answerTokenRequest } from '../../access/token-request.ts';
import { valueAnswer } from '../answers/answers.ts';
import { negotiate } from '../answers/negotiation.ts';
import type { FullAnswer, HttpRequest } from '../http/exchange.ts';
import type { RequestContext } from '../request-context.ts';
import { readObject } from '../resource-writes.ts';
import type { ResourceTarget } from '../router.ts';
import { readWriteOptions } from '../write-options.ts';

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
