import type { StatusCause } from '../../../kube/api/meta.ts';
import type { TokenReview } from '../../../kube/api/stored/authentication.ts';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../../../kube/api/stored/authorization.ts';
import { badRequest, invalid } from '../../../kube/api-error.ts';
import type { Access } from '../../access/access.ts';
import { issuer } from '../../access/account-claims.ts';
import type { Attributes } from '../../access/attributes.ts';
import { toUserInfo, type User } from '../../access/user.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import type { ReviewKind } from '../routing/review-kinds.ts';
import { checkSelectors, selectorProblem } from './review-selectors.ts';

export interface ReviewContext {
  readonly namespace: string | undefined;
  /** RFC 3339. */
  readonly now: string;
  /** The user who sends the review. */
  readonly user: User;
  readonly access: Access;
}

type Review =
  | LocalSubjectAccessReview
  | SelfSubjectAccessReview
  | SelfSubjectRulesReview
  | SubjectAccessReview
  | TokenReview;

/** Answers access reviews with the same authenticator and authorizer that requests go through. */
export async function answerReview(
  { kind, group }: ReviewKind,
  body: object,
  context: ReviewContext,
): Promise<object> {
  const review = { metadata: {}, ...body } as Review;
  switch (kind) {
    case 'SelfSubjectReview': {
      const status = { userInfo: toUserInfo(context.user) };
      return { ...review, metadata: { creationTimestamp: context.now }, status };
    }
    case 'TokenReview':
      return { ...review, status: await tokenStatus(review as TokenReview, context) };
    case 'SelfSubjectRulesReview':
      return answerRulesReview(review as SelfSubjectRulesReview, context);
    case 'SelfSubjectAccessReview':
      throwIfInvalid(group, checkSelf(review as SelfSubjectAccessReview, new FieldErrors()));
      return { ...review, status: accessStatus(review as SelfSubjectAccessReview, context.user, context) };
    case 'SubjectAccessReview':
      throwIfInvalid(group, checkSubject(review as SubjectAccessReview, new FieldErrors()));
      return { ...review, status: subjectStatus(review as SubjectAccessReview, context) };
    case 'LocalSubjectAccessReview':
      return answerLocalReview(group, review as LocalSubjectAccessReview, context);
  }
}

type AccessSpec = SelfSubjectAccessReview['spec'];

function subjectStatus(
  review: SubjectAccessReview | LocalSubjectAccessReview,
  context: ReviewContext,
): object {
  const { user = '', groups = [], uid, extra } = review.spec;
  return accessStatus(review, { name: user, groups, uid, extra }, context);
}

function accessStatus(
  { spec }: { readonly spec: AccessSpec },
  user: User,
  { access }: ReviewContext,
): object {
  const { isAllowed, reason } = access.authorizer.decide(user, requestedAccess(spec));
  const evaluationError = selectorProblem(spec.resourceAttributes);
  return {
    allowed: isAllowed,
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}

function requestedAccess({ resourceAttributes: requested, nonResourceAttributes }: AccessSpec): Attributes {
  if (requested === undefined) {
    const { verb = '', path = '' } = nonResourceAttributes ?? {};
    return { kind: 'path', verb, path };
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = requested;
  return { kind: 'resource', verb, group, resource, subresource, namespace, name };
}

function answerRulesReview(review: SelfSubjectRulesReview, { user, access }: ReviewContext): object {
  const namespace = review.spec?.namespace ?? '';
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules, problem } = access.authorizer.rulesFor(user, namespace);
  const onResources = rules.filter(({ resources = [] }) => resources.length > 0);
  const onPaths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  const status = {
    resourceRules: onResources.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      ...(apiGroups === undefined ? {} : { apiGroups }),
      resources,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    })),
    nonResourceRules: onPaths.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(problem === '' ? {} : { evaluationError: problem }),
  };
  return { ...review, metadata: {}, spec: {}, status };
}

async function tokenStatus({ spec }: TokenReview, { access }: ReviewContext): Promise<object> {
  const token = spec?.token ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const requested = spec?.audiences ?? [];
  const wanted = requested.length === 0 ? [issuer] : requested;
  const outcome = await access.authenticator.byToken(token, wanted);
  if (outcome.kind === 'refused') {
    const { why } = outcome;
    return { user: {}, error: why === '' ? invalidTokenMessage : `[${invalidTokenMessage}, ${why}]` };
  }
  const audiences = outcome.audiences.filter((audience) => wanted.includes(audience));
  // The admin's token is valid for this server's audience only.
  if (audiences.length === 0) return { user: {}, error: invalidTokenMessage };
  return { authenticated: true, user: toUserInfo(outcome.user), audiences };
}

const invalidTokenMessage = 'invalid bearer token';

function answerLocalReview(group: string, review: LocalSubjectAccessReview, context: ReviewContext): object {
  const { namespace = '' } = context;
  const errors = checkSubjectSpec(review, new FieldErrors());
  const { namespace: _, managedFields: __, ...metadata } = review.metadata;
  if (hasAny(metadata)) errors.invalid('metadata', review.metadata, 'must be empty except for namespace');
  const { resourceAttributes, nonResourceAttributes } = review.spec;
  if (resourceAttributes !== undefined && resourceAttributes.namespace !== namespace) {
    const given = resourceAttributes.namespace ?? '';
    errors.invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace');
  }
  if (nonResourceAttributes !== undefined) {
    const shown = { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' };
    errors.invalid('spec.nonResourceAttributes', shown, 'disallowed on this kind of request');
  }
  throwIfInvalid(group, errors);
  return { ...review, metadata: { namespace }, status: subjectStatus(review, context) };
}

function checkSelf(review: SelfSubjectAccessReview, errors: FieldErrors): FieldErrors {
  checkAttributes(review, errors);
  checkSelectors(review.spec?.resourceAttributes, errors);
  return checkMetadataEmpty(review, errors);
}

function checkSubject(review: SubjectAccessReview, errors: FieldErrors): FieldErrors {
  return checkMetadataEmpty(review, checkSubjectSpec(review, errors));
}

function checkSubjectSpec(
  review: SubjectAccessReview | LocalSubjectAccessReview,
  errors: FieldErrors,
): FieldErrors {
  checkAttributes(review, errors);
  if ((review.spec?.user ?? '') === '' && (review.spec?.groups ?? []).length === 0) {
    errors.invalid('spec.user', '', 'at least one of user or group must be specified');
  }
  checkSelectors(review.spec?.resourceAttributes, errors);
  return errors;
}

/** Reviews have no name or other metadata. */
function checkMetadataEmpty(
  { metadata }: Pick<SubjectAccessReview, 'metadata'>,
  errors: FieldErrors,
): FieldErrors {
  const { managedFields: _, ...rest } = metadata;
  if (hasAny(rest)) errors.invalid('metadata', metadata, 'must be empty');
  return errors;
}

function hasAny(metadata: object): boolean {
  return Object.values(metadata).some((value) => value !== undefined && value !== null);
}

function checkAttributes(review: Pick<SelfSubjectAccessReview, 'spec'>, errors: FieldErrors): void {
  const { resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const shown = { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' };
    const detail = 'cannot be specified in combination with resourceAttributes';
    errors.invalid('spec.nonResourceAttributes', shown, detail);
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.invalid('spec.resourceAttributes', null, detail);
  }
}

/** kube-apiserver omits the kind in these errors. */
function throwIfInvalid(
  group: string,
  { causes, isEmpty }: { causes: readonly StatusCause[]; isEmpty: boolean },
): void {
  if (!isEmpty) throw invalid({ group, kind: '' }, '', causes);
}
