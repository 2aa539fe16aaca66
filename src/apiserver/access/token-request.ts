import type { BoundObjectReference, TokenRequest } from '../../kube/api/stored/authentication.ts';
import type { Pod } from '../../kube/api/stored/core.ts';
import { badRequest, conflict, invalid, isReason, notFound } from '../../kube/api-error.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import type { Registry } from '../registry/registry.ts';
import { parseApiVersion } from '../schema/group-version-kind.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { type AccountBinding, issuer, type ObjectIdentity } from './account-claims.ts';
import type { AccountTokens } from './account-tokens.ts';

export interface TokenRequestContext {
  readonly registry: Registry;
  readonly tokens: AccountTokens;
  readonly clock: Clock;
}

const kind = { group: 'authentication.k8s.io', kind: 'TokenRequest' };

const lifetimeDefaultSeconds = 3600;
const lifetimeMinSeconds = 10 * 60;
const lifetimeMaxSeconds = 2 ** 32;

/** Legacy clients request this lifetime and never renew. A pod's token then lasts a year and notes the requested expiry. */
const extendedExpirationSeconds = 3607;
const yearSeconds = 365 * 24 * 3600;

/** POST to `serviceaccounts/NAME/token`: issues a token for the account. It is not stored. */
export async function issueRequestedToken(
  context: TokenRequestContext,
  { namespace = '', name }: ObjectKey,
  request: TokenRequest,
): Promise<TokenRequest> {
  checkNames(request, namespace, name);
  const account = await get(context, 'serviceaccounts', { namespace, name });
  const completed = completeRequest(request, account, context.clock.nowMs());
  checkLifetime(completed);
  const bound = await bindingOf(context, { namespace, name }, completed.spec.boundObjectRef ?? undefined);
  const binding = { namespace, ...bound, serviceaccount: identityOf(account) };
  completed.status = statusOf(context, completed, binding);
  return completed;
}

function checkNames({ metadata }: TokenRequest, namespace: string, name: string): void {
  const given = metadata.namespace ?? '';
  if (given !== '' && given !== namespace) {
    const where = 'does not match the namespace sent on the request';
    throw badRequest(`the namespace of the provided object ${where}`);
  }
  const errors = new FieldErrors();
  const givenName = metadata.name ?? '';
  if (givenName !== '' && givenName !== name) {
    errors.invalid('metadata.name', givenName, 'must match the service account name if specified');
  }
  if (!errors.isEmpty) throw invalid(kind, name, errors.causes);
}

function completeRequest(request: TokenRequest, account: StoredObject, nowMs: number): TokenRequest {
  const { name = '', namespace, uid = '' } = account.metadata;
  const given = request.metadata.uid ?? '';
  if (given !== '' && given !== uid) {
    const why = `the UID in the token request (${given}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: kind.group, plural: kind.kind }, name, why);
  }
  const { audiences, expirationSeconds, boundObjectRef } = request.spec;
  return {
    ...request,
    metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: formatTimestamp(nowMs) },
    spec: {
      audiences: audiences === null || audiences.length === 0 ? [issuer] : audiences,
      expirationSeconds: expirationSeconds ?? lifetimeDefaultSeconds,
      boundObjectRef,
    },
  };
}

function checkLifetime({ spec }: TokenRequest): void {
  const errors = new FieldErrors();
  const seconds = spec.expirationSeconds ?? 0;
  const field = 'spec.expirationSeconds';
  if (seconds < lifetimeMinSeconds) {
    errors.invalid(field, seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds > lifetimeMaxSeconds) {
    errors.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  if (!errors.isEmpty) throw invalid(kind, '', errors.causes);
}

function statusOf(
  { tokens, clock }: TokenRequestContext,
  { spec }: TokenRequest,
  binding: AccountBinding,
): TokenRequest['status'] {
  const nowMs = clock.nowMs();
  const audiences = spec.audiences ?? [];
  const wanted = Number(spec.expirationSeconds ?? 0);
  const isExtended =
    binding.pod !== undefined &&
    wanted === extendedExpirationSeconds &&
    audiences.every((audience) => audience === issuer);
  const warning = isExtended ? { warnafter: Math.floor(nowMs / 1000) + wanted } : {};
  const token = tokens.issue({
    binding: { ...binding, ...warning },
    audiences,
    nowMs,
    lifetimeSeconds: isExtended ? yearSeconds : wanted,
  });
  return { token, expirationTimestamp: formatTimestamp(nowMs + wanted * 1000) };
}

type Bound = Pick<AccountBinding, 'node' | 'pod' | 'secret'>;

async function bindingOf(
  context: TokenRequestContext,
  { namespace, name }: ObjectKey,
  ref: BoundObjectReference | undefined,
): Promise<Bound> {
  if (ref === undefined) return {};
  const { kind: wanted = '', name: refName = '', apiVersion = '' } = ref;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  const key = { namespace, name: refName };
  switch (group === '' ? wanted : '') {
    case 'Pod': {
      const pod = (await get(context, 'pods', key)) as Pod;
      if ((pod.spec.serviceAccountName ?? '') !== name) throw accountMismatch(name);
      checkUid(ref, pod);
      return { pod: identityOf(pod), ...(await nodeOfPod(context, pod)) };
    }
    case 'Secret': {
      const secret = await get(context, 'secrets', key);
      checkUid(ref, secret);
      return { secret: identityOf(secret) };
    }
    case 'Node': {
      const node = await get(context, 'nodes', { name: refName });
      checkUid(ref, node);
      return { node: identityOf(node) };
    }
    default:
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${wanted}`);
  }
}

/** An unknown node is still named in the token. */
async function nodeOfPod(context: TokenRequestContext, { spec }: Pod): Promise<Pick<Bound, 'node'>> {
  const { nodeName = '' } = spec;
  if (nodeName === '') return {};
  try {
    return { node: identityOf(await get(context, 'nodes', { name: nodeName })) };
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    return { node: { name: nodeName } };
  }
}

function accountMismatch(name: string) {
  const quoted = JSON.stringify(name);
  return badRequest(
    `cannot bind token for serviceaccount ${quoted} to pod running with different serviceaccount name.`,
  );
}

function checkUid(
  { uid = '', kind: wanted = '', name = '' }: BoundObjectReference,
  object: StoredObject,
): void {
  if (uid === '' || uid === object.metadata.uid) return;
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict({ group: '', plural: wanted }, name, why);
}

function identityOf({ metadata }: StoredObject): ObjectIdentity {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

async function get({ registry }: TokenRequestContext, plural: string, key: ObjectKey): Promise<StoredObject> {
  const found = registry.kinds.byPlural('v1', plural);
  if (found === undefined) throw notFound({ group: '', plural }, key.name);
  return (await registry.get(found, key)).object;
}
