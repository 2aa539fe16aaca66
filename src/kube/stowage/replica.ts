import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

/** One copy of a Volume's data: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface Replica extends KubeObject {
  readonly spec?: {
    readonly volumeName?: string;
    readonly volumeSize?: number;
    readonly nodeID?: string;
    /** The UUID of its disk, which is the name of the DiskSchedule. */
    readonly diskID?: string;
    readonly desiredState?: 'stopped' | 'running';
  };
  readonly status?: {
    readonly currentState?: 'stopped' | 'starting' | 'running' | 'error';
    /** Bytes of its file. */
    readonly size?: number;
    /** Why it does not run. */
    readonly message?: string;
    /** Set once it had all of the data. */
    readonly healthyAt?: string;
    /** Set while it has failed. */
    readonly failedAt?: string;
    /** Hash of the token with which its agent fetches its data from another agent. */
    readonly transferTokenSHA256?: string;
  };
}

/** Whether it has had all of the data, or failed with what it had. */
export function hasReplicaData({ status }: Pick<Replica, 'status'>): boolean {
  return (status?.healthyAt ?? status?.failedAt) !== undefined;
}

/**
 * On a Replica with data while an instance of the controller `disks` removes it. A marked replica does not count as another copy of the data, so two
 * instances with different caches never remove both of two replicas: each marks its own first, and then looks for one that is healthy and not marked.
 */
export const removalMarkKey = 'stowage.dev/removing';

/** On a Replica until its bytes have been released. */
export const replicaFinalizer = 'stowage.dev/replica';

/** An agent has it on a Replica or BackingImage while it keeps a file of it. */
export const diskAgentFinalizer = 'stowage.dev/disk-agent';

export const replicas: Resource<Replica> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'Replica',
  plural: 'replicas',
  isOptional: true,
};
