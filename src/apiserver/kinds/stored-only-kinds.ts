import { apiVersionOf } from '../../kube/resource.ts';
import type { ServedKind } from './served-kind.ts';

/**
 * The kinds that the server stores although nothing here does what their objects ask for: in Kubernetes a controller, the kubelet
 * or kube-proxy would. Data that no component of Kubernetes acts on by itself, such as a ConfigMap, is not listed. When a
 * controller for a kind is added, its line is removed.
 */
export const storedOnlyKinds: readonly StoredOnlyKind[] = [
  { group: '', kinds: ['LimitRange', 'ReplicationController', 'ResourceQuota', 'Service'] },
  { group: 'apps', kinds: ['DaemonSet'] },
  { group: 'batch', kinds: ['CronJob', 'Job'] },
  {
    group: 'resource.k8s.io',
    kinds: ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  },
];

export interface StoredOnlyKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
}

/** The warning for every write of such a kind; undefined for all other kinds. */
export function storedOnlyWarning(kind: Pick<ServedKind, 'group' | 'version' | 'kind'>): string | undefined {
  const isListed = storedOnlyKinds.some(
    ({ group, kinds }) => group === kind.group && kinds.includes(kind.kind),
  );
  if (!isListed) return undefined;
  return `${apiVersionOf(kind)} ${kind.kind}: ${storedOnlyText}`;
}

export const storedOnlyText = 'no controller of this server acts on it; it is stored only';
