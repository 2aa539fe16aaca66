/** Virtual kinds that the API answers without storing: they can be created but not read. */
export interface ReviewKind {
  readonly group: 'authorization.k8s.io' | 'authentication.k8s.io';
  readonly version: 'v1';
  readonly kind: ReviewName;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** The type's name in the API tables. */
  readonly type: string;
}

export type ReviewName =
  | 'LocalSubjectAccessReview'
  | 'SelfSubjectAccessReview'
  | 'SelfSubjectReview'
  | 'SelfSubjectRulesReview'
  | 'SubjectAccessReview'
  | 'TokenReview';

export const reviewKinds: readonly ReviewKind[] = [
  review('authorization', 'LocalSubjectAccessReview'),
  review('authorization', 'SelfSubjectAccessReview'),
  review('authorization', 'SelfSubjectRulesReview'),
  review('authorization', 'SubjectAccessReview'),
  review('authentication', 'SelfSubjectReview'),
  review('authentication', 'TokenReview'),
];

function review(group: 'authorization' | 'authentication', kind: ReviewName): ReviewKind {
  const singular = kind.toLowerCase();
  return {
    group: `${group}.k8s.io`,
    version: 'v1',
    kind,
    plural: `${singular}s`,
    singular,
    namespaced: kind === 'LocalSubjectAccessReview',
    type: `${group}.k8s.io/v1.${kind}`,
  };
}
