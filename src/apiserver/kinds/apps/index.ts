/**
 * The group `apps/v1`. The rules of pod templates, selectors and replica counts that all workloads share are in
 * `../core/workloads/`.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { controllerRevisionKind } from './controller-revision.ts';
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { replicaSetKind } from './replica-set.ts';
import { statefulSetKind } from './stateful-set.ts';

export const appsKinds: readonly ServedKind[] = [
  anyKind(statefulSetKind),
  anyKind(deploymentKind),
  anyKind(replicaSetKind),
  anyKind(daemonSetKind),
  anyKind(controllerRevisionKind),
];
