import { expect } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, storageClasses } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { claimOf, classOf, nodeOf, type TestClaimOptions } from './objects.ts';

const namespace = 'default';
/** Turns after which the condition must be true. */
const turnsMax = 2000;

/** A cluster in memory with three nodes in two zones and a class. */
export class ProvisionerFixture implements AsyncDisposable {
  readonly virtualTime: VirtualTimeCluster;
  readonly cluster: Cluster;

  private constructor(virtualTime: VirtualTimeCluster) {
    this.virtualTime = virtualTime;
    this.cluster = virtualTime.cluster;
  }

  static async start(controllers: readonly Controller[], storageClass: StorageClass = classOf()) {
    const fixture = new ProvisionerFixture(await VirtualTimeCluster.start());
    for (const line of ['a1 a r1', 'a2 a r1', 'b1 b r1'])
      await fixture.cluster.resource(nodes).create(nodeOf(line));
    await fixture.cluster.resource(storageClasses).create(storageClass);
    if (controllers.length > 0) fixture.virtualTime.run(controllers);
    return fixture;
  }

  async makeClaim(options: TestClaimOptions = {}): Promise<PersistentVolumeClaim> {
    return await this.cluster.resource(persistentVolumeClaims).create(claimOf(options));
  }

  async claim(name = 'data'): Promise<PersistentVolumeClaim | undefined> {
    return await undefinedIfNotFound(this.cluster.resource(persistentVolumeClaims).get({ namespace, name }));
  }

  async annotate(changes: Readonly<Record<string, string | null>>, name = 'data'): Promise<void> {
    const body = { metadata: { annotations: changes } };
    await this.cluster.resource(persistentVolumeClaims).patch({ namespace, name }, { type: 'merge', body });
  }

  /** Deletes the claim, and removes the finalizer of protection. */
  async deleteClaim(name = 'data'): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).delete({ namespace, name });
    await this.#unprotectClaim(name);
  }

  async volumes(): Promise<readonly PersistentVolume[]> {
    return (await this.cluster.resource(persistentVolumes).list()).items;
  }

  /** Does the work of the PV binder when the claim no longer exists. */
  async release(name: string): Promise<void> {
    const client = this.cluster.resource(persistentVolumes);
    const body = { status: { phase: 'Released' } };
    await client.patch({ name }, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Does the work of the protection controller for a volume that is not bound. */
  async unprotectVolume(name: string): Promise<void> {
    const client = this.cluster.resource(persistentVolumes);
    await this.#unprotect(
      () => client.get({ name }),
      (body) => client.patch({ name }, { type: 'merge', body }),
    );
  }

  async #unprotectClaim(name: string): Promise<void> {
    const client = this.cluster.resource(persistentVolumeClaims);
    const key = { namespace, name };
    await this.#unprotect(
      () => client.get(key),
      (body) => client.patch(key, { type: 'merge', body }),
    );
  }

  async #unprotect<T extends PersistentVolume | PersistentVolumeClaim>(
    read: () => Promise<T>,
    patch: (body: object) => Promise<T>,
  ): Promise<void> {
    const object = await undefinedIfNotFound(read());
    if (object === undefined) return;
    const finalizers = (object.metadata?.finalizers ?? []).filter(
      (name) => !/^kubernetes\.io\/.*-protection$/.test(name),
    );
    await undefinedIfNotFound(
      patch({ metadata: { finalizers: finalizers.length === 0 ? null : finalizers } }),
    );
  }

  /** Does the work of the PV binder and the protection controller. */
  async finishOtherControllersWork(): Promise<void> {
    const { items } = await this.cluster.resource(persistentVolumeClaims).list();
    const uids = new Set(items.map(({ metadata }) => metadata?.uid));
    for (const claim of items)
      if (claim.metadata?.deletionTimestamp !== undefined)
        await this.#unprotectClaim(claim.metadata.name ?? '');
    for (const { metadata, spec, status } of await this.volumes()) {
      if (!uids.has(spec?.claimRef?.uid) && status?.phase !== 'Released')
        await this.release(metadata?.name ?? '');
      if (metadata?.deletionTimestamp !== undefined) await this.unprotectVolume(metadata.name ?? '');
    }
  }

  /** Lets everything run, including file operations, until the condition is true. */
  async until(condition: () => Promise<boolean> | boolean): Promise<void> {
    for (let turn = 0; turn < turnsMax; turn++) {
      if (await condition()) return;
      await this.settle();
    }
    expect.fail(`never became true: ${condition}`);
  }

  async settle(): Promise<void> {
    await this.virtualTime.settle(20);
    // Files are read in real time.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.virtualTime[Symbol.asyncDispose]();
  }
}
