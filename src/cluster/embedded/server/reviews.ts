import type { StatusCause } from '../../../kube/status.ts';
import { badRequest, invalid } from '../../api-error.ts';
import type { TokenReview } from '../schema/generated/authentication-v1.ts';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../schema/generated/authorization-v1.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import type { ReviewKind } from './review-kinds.ts';

/** Whoever has the token: the one user there is, who may do everything. */
export const admin = {
  username: 'stowage-admin',
  groups: ['system:masters', 'system:authenticated'],
} as const;

export interface ReviewContext {
  readonly namespace: string | undefined;
  /** RFC 3339. */
  readonly now: string;
  isToken(token: string): boolean;
}

type Review =
  | LocalSubjectAccessReview
  | SelfSubjectAccessReview
  | SelfSubjectRulesReview
  | SubjectAccessReview
  | TokenReview;

/**
 * Answers who may do what. There is one user and no rules to evaluate: the admin may do everything, and so may everyone in
 * the group of masters; nobody else may do anything.
 */
export function reviewed({ kind, group }: ReviewKind, body: object, context: ReviewContext): object {
  const review = { metadata: {}, ...body } as Review;
  switch (kind) {
    case 'SelfSubjectReview':
      return { ...review, metadata: { creationTimestamp: context.now }, status: { userInfo: admin } };
    case 'TokenReview':
      return { ...review, status: tokenStatus(review as TokenReview, context) };
    case 'SelfSubjectRulesReview':
      return rulesReviewed(review as SelfSubjectRulesReview);
    case 'SelfSubjectAccessReview':
      refuse(group, checkAttributes(review as SelfSubjectAccessReview, new FieldErrors()));
      return { ...review, status: { allowed: true } };
    case 'SubjectAccessReview':
      refuse(group, checkSubject(review as SubjectAccessReview, new FieldErrors()));
      return { ...review, status: { allowed: isMaster(review as SubjectAccessReview) } };
    case 'LocalSubjectAccessReview':
      return localReviewed(group, review as LocalSubjectAccessReview, context);
  }
}

const allRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

function rulesReviewed(review: SelfSubjectRulesReview): object {
  if ((review.spec?.namespace ?? '') === '') throw badRequest('no namespace on request');
  return { ...review, spec: {}, status: allRules };
}

/** The audience of every token here, as the real server names its own by default. */
const audience = 'https://kubernetes.default.svc';

function tokenStatus({ spec }: TokenReview, { isToken }: ReviewContext): object {
  const token = spec?.token ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = spec?.audiences ?? [];
  const isFor = asked.length === 0 || asked.includes(audience);
  if (!isFor || !isToken(token)) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user: admin, audiences: [audience] };
}

function localReviewed(
  group: string,
  review: LocalSubjectAccessReview,
  { namespace }: ReviewContext,
): object {
  const errors = checkSubject(review, new FieldErrors());
  const { resourceAttributes, nonResourceAttributes } = review.spec;
  if (resourceAttributes !== undefined && resourceAttributes.namespace !== namespace) {
    const given = resourceAttributes.namespace ?? '';
    errors.invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace');
  }
  if (nonResourceAttributes !== undefined) {
    const shown = { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' };
    errors.invalid('spec.nonResourceAttributes', shown, 'disallowed on this kind of request');
  }
  refuse(group, errors);
  return { ...review, metadata: { namespace }, status: { allowed: isMaster(review) } };
}

function isMaster({ spec }: SubjectAccessReview | LocalSubjectAccessReview): boolean {
  return (spec.groups ?? []).includes('system:masters');
}

function checkSubject(
  review: SubjectAccessReview | LocalSubjectAccessReview,
  errors: FieldErrors,
): FieldErrors {
  checkAttributes(review, errors);
  if ((review.spec?.user ?? '') === '' && (review.spec?.groups ?? []).length === 0) {
    errors.invalid('spec.user', '', 'at least one of user or group must be specified');
  }
  return errors;
}

function checkAttributes(review: Pick<SelfSubjectAccessReview, 'spec'>, errors: FieldErrors): FieldErrors {
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
  return errors;
}

/** The real server leaves the kind out of these. */
function refuse(
  group: string,
  { causes, isEmpty }: { causes: readonly StatusCause[]; isEmpty: boolean },
): void {
  if (!isEmpty) throw invalid({ group, kind: '' }, '', causes);
}
