import type { CustomResourceDefinition } from '../../../../kube/api/apiextensions.ts';
import type { Resource } from '../../../../kube/resource.ts';
import {
  snapshotGroup,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
  volumeSnapshotContents,
  volumeSnapshots,
} from '../snapshot-objects.ts';
import { type CsiProvisionerFixture, driverName } from './csi-provisioner-fixture.ts';

/** The claim's `dataSource`. */
export const ofSnapshot = { apiGroup: snapshotGroup, kind: 'VolumeSnapshot', name: 'snap' };
const key = { namespace: 'default', name: 'snap' };

/** VolumeSnapshots as a snapshot controller writes them. The driver has the snapshot `snap-1` of 2 GiB. */
export class SnapshotFixture {
  readonly #fixture: CsiProvisionerFixture;

  private constructor(fixture: CsiProvisionerFixture) {
    this.#fixture = fixture;
  }

  static async install(fixture: CsiProvisionerFixture): Promise<SnapshotFixture> {
    const kinds = [volumeSnapshots, volumeSnapshotContents].map(definitionOf);
    await fixture.base.virtualTime.installKinds(kinds);
    fixture.driver.snapshots.add('snap-1');
    return new SnapshotFixture(fixture);
  }

  /** A snapshot that is ready, with changes to it and to its content. */
  async make(snapshot: VolumeSnapshot = {}, content: VolumeSnapshotContent = {}): Promise<void> {
    const { cluster } = this.#fixture.base;
    const status = { readyToUse: true, restoreSize: '2Gi', boundVolumeSnapshotContentName: 'content' };
    const made = await cluster.resource(volumeSnapshots).create({
      ...snapshot,
      metadata: { ...key, ...snapshot.metadata },
      status: { ...status, ...snapshot.status },
    });
    const volumeSnapshotRef = { ...key, uid: made.metadata?.uid ?? '', ...content.spec?.volumeSnapshotRef };
    await cluster.resource(volumeSnapshotContents).create({
      metadata: { name: 'content', ...content.metadata },
      spec: { driver: driverName, sourceVolumeMode: 'Filesystem', ...content.spec, volumeSnapshotRef },
      status: { snapshotHandle: 'snap-1', ...content.status },
    });
  }

  get(): Promise<VolumeSnapshot> {
    return this.#fixture.base.cluster.resource(volumeSnapshots).get(key);
  }

  async finalizers(): Promise<readonly string[]> {
    return (await this.get()).metadata?.finalizers ?? [];
  }

  async delete(): Promise<void> {
    await this.#fixture.base.cluster.resource(volumeSnapshots).delete(key);
  }
}

function definitionOf({ group, kind, plural, namespaced }: Resource): CustomResourceDefinition {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: {
      name: `${plural}.${group}`,
      annotations: {
        'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/814',
      },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as CustomResourceDefinition;
}
