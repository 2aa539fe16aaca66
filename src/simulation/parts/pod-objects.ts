import type { Cluster } from '../../cluster/cluster.ts';
import type { Pod } from '../../kube/api/core.ts';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { createIfAbsent } from '../../reconcile/create-if-absent.ts';
import { urgentClassName } from '../base-cluster.ts';

/** The namespace of all objects of people. */
export const namespace = 'default';
export const podNames = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'] as const;

export interface PodWithClaims {
  readonly name: string;
  readonly claims: readonly NamedClaim[];
  /** The size of each claim. */
  readonly gib: number;
  readonly cpu: number;
  readonly isUrgent: boolean;
  /** The class of a generic ephemeral volume of the pod; undefined if it has none. */
  readonly scratchClassName: string | undefined;
}

interface NamedClaim {
  readonly name: string;
  readonly storageClassName: string;
}

/** `PREFIX0`, `PREFIX1` and so on. */
export function claimsOf(prefix: string, count: number, storageClassName: string): readonly NamedClaim[] {
  return Array.from({ length: count }, (_, at) => ({ name: `${prefix}${at}`, storageClassName }));
}

/** Creates the claims of the pod first; those that exist already are used again. */
export async function createPodWithClaims(cluster: Cluster, pod: PodWithClaims): Promise<void> {
  for (const { name, storageClassName } of pod.claims) {
    const resources = { requests: { storage: `${pod.gib}Gi` } };
    await createIfAbsent(
      cluster.resource(persistentVolumeClaims).create({
        metadata: { namespace, name },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources },
      }),
    );
  }
  await cluster.resource(pods).create(podOf(pod));
}

function podOf({ name, claims, cpu, isUrgent, scratchClassName }: PodWithClaims): Pod {
  return {
    metadata: { namespace, name },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...(isUrgent && { priorityClassName: urgentClassName }),
      containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: String(cpu) } } }],
      volumes: [
        ...claims.map((claim) => ({ name: claim.name, persistentVolumeClaim: { claimName: claim.name } })),
        ...(scratchClassName === undefined ? [] : [scratchVolume(scratchClassName)]),
      ],
    },
  };
}

/** A generic ephemeral volume: its claim is created and deleted with the pod. */
function scratchVolume(storageClassName: string) {
  return {
    name: 'scratch',
    ephemeral: {
      volumeClaimTemplate: {
        spec: {
          accessModes: ['ReadWriteOnce' as const],
          storageClassName,
          resources: { requests: { storage: '1Gi' } },
        },
      },
    },
  };
}
