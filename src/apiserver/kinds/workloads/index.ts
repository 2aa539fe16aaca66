/**
 * Workloads: what makes pods, and what protects them. Each kind is a file; the larger ones have their rules in files
 * beside them. Sentences, defaults and what a write may touch are those of Kubernetes 1.36; `testing/` holds answers of
 * the real server to compare with.
 */
import { anyKind, type Kind } from '../kind.ts';
import { controllerRevisionKind } from './controller-revision.ts';
import { cronJobKind } from './cron-job.ts';
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { jobKind } from './job.ts';
import { podDisruptionBudgetKind } from './pod-disruption-budget.ts';
import { replicaSetKind } from './replica-set.ts';
import { replicationControllerKind } from './replication-controller.ts';
import { statefulSetKind } from './stateful-set.ts';

export const workloadKinds: readonly Kind[] = [
  anyKind(statefulSetKind),
  anyKind(deploymentKind),
  anyKind(replicaSetKind),
  anyKind(daemonSetKind),
  anyKind(controllerRevisionKind),
  anyKind(jobKind),
  anyKind(cronJobKind),
  anyKind(replicationControllerKind),
  anyKind(podDisruptionBudgetKind),
];
