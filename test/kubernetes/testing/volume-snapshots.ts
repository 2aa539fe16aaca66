import {
  snapshotGroup,
  volumeSnapshotContents,
  volumeSnapshots,
} from '../../../src/controllers/provisioner/csi/snapshot-objects.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import type { TestBed } from '../test-bed.ts';
import { applied } from './audited-bed.ts';
import type { MockDriver } from './mock-driver.ts';

/** The objects that a snapshot controller makes, and their kinds, for the snapshot `1`, which the driver has from its start. */
export async function makeSnapshot(
  bed: TestBed,
  { name: driver }: MockDriver,
  key: { readonly namespace: string; readonly name: string },
): Promise<void> {
  for (const kind of [volumeSnapshots, volumeSnapshotContents])
    await applied(bed, ['create', '-f', '-'], JSON.stringify(definitionOf(kind)));
  const definitions = [volumeSnapshots, volumeSnapshotContents].map(
    ({ plural }) => `crd/${plural}.${snapshotGroup}`,
  );
  await applied(bed, ['wait', '--for=condition=Established', ...definitions, '--timeout=300s']);
  const apiVersion = `${snapshotGroup}/v1`;
  const made = await applied(
    bed,
    ['create', '-o', 'jsonpath={.metadata.uid}', '-f', '-'],
    JSON.stringify({
      apiVersion,
      kind: 'VolumeSnapshot',
      metadata: key,
      status: { readyToUse: true, restoreSize: '1Gi', boundVolumeSnapshotContentName: 'content' },
    }),
  );
  await applied(
    bed,
    ['create', '-f', '-'],
    JSON.stringify({
      apiVersion,
      kind: 'VolumeSnapshotContent',
      metadata: { name: 'content' },
      spec: {
        driver,
        sourceVolumeMode: 'Filesystem',
        volumeSnapshotRef: { ...key, uid: made.trim() },
      },
      status: { snapshotHandle: '1' },
    }),
  );
}

/** Replaces the snapshot controller's own; without a subresource, so that a test can write the status. */
function definitionOf({ group, kind, plural, namespaced }: Resource): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const approval = 'https://github.com/kubernetes-csi/external-snapshotter/pull/814';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': approval } },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
