import type { Pod, PodSpec } from '../../../../src/kube/api/core.ts';
import { busyboxImage } from '../busybox-image.ts';

/** Pods of a test wait for a second at most when they are deleted. */
const container = {
  name: 'c',
  image: busyboxImage,
  imagePullPolicy: 'Never',
  command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1; done'],
} as const;

export const scheduled: PodSpec = {
  schedulerName: 'stowage',
  terminationGracePeriodSeconds: 1,
  containers: [container],
};

/** A pod of our scheduler that runs until it is deleted. */
export function podNamed(name: string, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { ...scheduled, ...spec },
  } as Pod;
}

/** A pod with a volume at `/data`. */
export function podWith(name: string, source: object, spec: Partial<PodSpec> = {}): Pod {
  return podNamed(name, { ...withVolume(source), ...spec });
}

export function withVolume(source: object): Pick<PodSpec, 'containers' | 'volumes'> {
  return {
    containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', ...source }],
  };
}

export function claimNamed(name: string, storageClassName: string, storage: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: claimSpec(storageClassName, storage),
  };
}

export function claimSpec(storageClassName: string, storage: string): object {
  return { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
}
