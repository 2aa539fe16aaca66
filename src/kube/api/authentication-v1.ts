// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { ObjectMeta } from './meta-v1.ts';

export interface BoundObjectReference {
  kind?: string | undefined;
  apiVersion?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
}

export interface SelfSubjectReview {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  status: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewStatus {
  userInfo: UserInfo;
}

export interface TokenRequest {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: TokenRequestSpec;
  status: TokenRequestStatus;
}

export interface TokenRequestSpec {
  audiences: string[] | null;
  expirationSeconds: number | null;
  boundObjectRef: BoundObjectReference | null;
}

export interface TokenRequestStatus {
  token: string;
  expirationTimestamp: string | null;
}

export interface TokenReview {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: TokenReviewSpec;
  status: TokenReviewStatus;
}

export interface TokenReviewSpec {
  token?: string | undefined;
  audiences?: string[] | undefined;
}

export interface TokenReviewStatus {
  authenticated?: boolean | undefined;
  user: UserInfo;
  audiences?: string[] | undefined;
  error?: string | undefined;
}

export interface UserInfo {
  username?: string | undefined;
  uid?: string | undefined;
  groups?: string[] | undefined;
  extra?: Record<string, string[]> | undefined;
}
