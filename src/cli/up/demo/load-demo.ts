import type { Cluster } from '../../../cluster/cluster.ts';
import { ApiError, isReason } from '../../../kube/api-error.ts';
import type { Resource } from '../../../kube/resource.ts';
import { type Drive, drives } from '../../../kube/stowage/drive.ts';
import { type StorageNode, storageNodes } from '../../../kube/stowage/storage-node.ts';
import { CliError } from '../../errors/cli-error.ts';
import { demoManifests, type Manifest } from './manifests.ts';

export interface LoadedDemo {
  /** The number of objects that were created. */
  readonly made: number;
  /** The number of objects that existed and were not changed. */
  readonly found: number;
}

export interface DemoTarget {
  readonly cluster: Cluster;
  readonly resourceOf: (apiVersion: string, kind: string) => Resource | undefined;
}

/** Creates missing objects of the demo. It does not change existing ones, so it may run at every start. */
export async function loadDemo(target: DemoTarget): Promise<LoadedDemo> {
  let made = 0;
  const manifests = demoManifests();
  for (const manifest of manifests) {
    if (await isMade(target, manifest)) made += 1;
    if (manifest.kind === 'Drive') await reportDrive(target.cluster, manifest as Drive);
    if (manifest.kind === 'StorageNode') await reportDisks(target.cluster, manifest as StorageNode);
  }
  return { made, found: manifests.length - made };
}

/** `6 nodes, 5 volumes, ...`: a summary of what is loaded. */
export function demoContents(): string {
  const kinds = demoManifests().map(({ kind }) => kind);
  return Object.entries(words)
    .map(([kind, word]) => `${kinds.filter((one) => one === kind).length} ${word}`)
    .join(', ');
}

const words = {
  Node: 'nodes in 3 zones',
  StorageClass: 'storage classes',
  PersistentVolume: 'local disks',
  Drive: 'drives',
  StatefulSet: 'stateful sets',
  Pod: 'single pods',
};

/** The status of a simulated drive, which its node would report. A drive that has one keeps it. */
async function reportDrive(cluster: Cluster, { metadata, status }: Drive): Promise<void> {
  const client = cluster.resource(drives);
  const found = await client.get({ name: metadata?.name ?? '' });
  if (found.status?.state !== undefined || status === undefined) return;
  await client.update({ ...found, status }, { subresource: 'status', fieldManager: 'stowage-demo' });
}

/** The same for the disks of a simulated StorageNode. */
async function reportDisks(cluster: Cluster, { metadata, status }: StorageNode): Promise<void> {
  const client = cluster.resource(storageNodes);
  const found = await client.get({ name: metadata?.name ?? '' });
  if (found.status?.diskStatus !== undefined || status === undefined) return;
  await client.update({ ...found, status }, { subresource: 'status', fieldManager: 'stowage-demo' });
}

async function isMade({ cluster, resourceOf }: DemoTarget, manifest: Manifest): Promise<boolean> {
  const { apiVersion, kind, metadata } = manifest;
  const resource = resourceOf(apiVersion, kind);
  if (resource === undefined)
    throw new Error(`the demo has a ${kind}, and the API server does not serve ${apiVersion}`);
  try {
    await cluster
      .resource(resource)
      .create(manifest, { fieldValidation: 'Strict', fieldManager: 'stowage-demo' });
    return true;
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return false;
    // Most likely a full disk, which the caller reports.
    if (!(error instanceof ApiError)) throw error;
    const message = `cannot load the demo's ${kind} ${metadata?.name}: ${error.message}; --fresh starts over with an empty data directory`;
    throw new CliError(message, 1, { cause: error });
  }
}
