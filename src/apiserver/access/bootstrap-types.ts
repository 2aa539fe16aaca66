import type { PolicyRule, Subject } from '../../kube/api/stored/rbac.ts';

/** A default role of every cluster. */
export interface BootstrapRole {
  readonly name: string;
  /** Undefined for a ClusterRole. */
  readonly namespace?: string;
  /** Labels besides the one that all default roles have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The labels of the roles that it aggregates. */
  readonly aggregates?: readonly Readonly<Record<string, string>>[];
  readonly rules: readonly PolicyRule[];
}

export interface BootstrapBinding {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** `ClusterRole/view`. */
  readonly role: string;
  readonly subjects: readonly Subject[];
}
