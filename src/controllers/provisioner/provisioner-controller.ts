import type { CsiDriverSet } from '../../csi/served-driver.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { CsiSettings } from '../csi-settings.ts';
import { ServedNode } from '../served-node.ts';
import { ClaimProvisioning } from './claim-provisioning.ts';
import { ClaimWatch } from './claim-watch.ts';
import { releaseCloneSource } from './csi/cloning-protection.ts';
import { CsiCaches } from './csi/csi-caches.ts';
import { CsiProvisioners } from './csi/csi-provisioners.ts';
import { csiProvisioningSettings } from './csi/csi-provisioning-settings.ts';
import { NodeScope } from './csi/node-scope.ts';
import { sweepSnapshots } from './csi/snapshot-protection.ts';
import { disksProvisioner } from './disks/disks-provisioner.ts';
import { localProvisioner } from './local/local-provisioner.ts';
import type { Provisioner } from './provisioner.ts';
import { ProvisionerRegistry } from './provisioner-registry.ts';
import { VolumeReclaim } from './volume-reclaim.ts';
import { zonalProvisioner } from './zonal/zonal-provisioner.ts';

const workers = 4;
const snapshotsKey = 'snapshots';
/** As many calls as external-provisioner makes at the same time (`--worker-threads`); drivers can be slow. */
const workersWithDrivers = 100;

export interface ProvisionerControllerSettings {
  /** Where `local.stowage.dev` creates its directories; if left out, there is no provisioner of that name. */
  readonly localRoot?: string | undefined;
  /** The feature gate of that name; on by default. Off: delayed claims get volumes immediately. */
  readonly volumeScheduling?: boolean | undefined;
  /** `disks.stowage.dev` allocates volumes although no node can mount them: nodes are simulated, or another program mounts them. */
  readonly allocationOnly?: boolean | undefined;
  /** Additional provisioners. One with the name of a built-in provisioner replaces it, and so does it replace a CSI driver. */
  readonly provisioners?: readonly Provisioner[] | undefined;
  /** The CSI drivers of this process, and how volumes of theirs are created. */
  readonly csiDrivers?: CsiDriverSet | undefined;
  readonly csi?: CsiSettings | undefined;
}

/**
 * Creates volumes for claims, and deletes them when they are released, for the provisioners that it has. It acts on what the
 * PV binder and the scheduler wrote on a claim; it ignores claims and volumes of other provisioners.
 *
 * Safe to crash anywhere. A volume's name comes from its claim's uid, so it is never created twice. Before it is created, the claim
 * gets a finalizer; it is removed when the PersistentVolume is written, or everything is undone. So whatever was created is
 * either recorded or going to be reconciled again. A PersistentVolume in turn has a finalizer until its asset is deleted.
 */
export function provisionerController(settings: ProvisionerControllerSettings = {}): Controller {
  return defineController({
    name: 'provisioner',
    workers: settings.csiDrivers === undefined ? workers : workersWithDrivers,
    create: (context) => new ProvisioningReconciler(context, settings),
  });
}

/** Keys are `claim NAMESPACE/NAME`, `volume NAME`, `source NAMESPACE/NAME` for claims that were cloned, and `snapshots` for their sweep. */
class ProvisioningReconciler implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #csiDrivers: CsiDriverSet | undefined;
  readonly #csiCaches: CsiCaches | undefined;
  readonly #provisioners: ProvisionerRegistry;
  readonly #servedNode: ServedNode | undefined;
  readonly #watch: ClaimWatch;
  readonly #claims: ClaimProvisioning;
  readonly #volumes: VolumeReclaim;

  constructor(context: LoopContext, settings: ProvisionerControllerSettings) {
    const { volumeScheduling = true, csiDrivers, csi } = settings;
    this.#context = context;
    this.#csiDrivers = csiDrivers;
    this.#csiCaches = csiDrivers === undefined ? undefined : new CsiCaches(context);
    const { provisioners, scope } = partsOf(settings, context, this.#csiCaches);
    const watch = new ClaimWatch(context, provisioners);
    const servedNode = scope && ServedNode.of(csi, context);
    const owns = servedNode && ((volume: PersistentVolume) => servedNode.owns(volume));
    this.#provisioners = provisioners;
    this.#watch = watch;
    this.#servedNode = servedNode;
    this.#claims = new ClaimProvisioning({ context, provisioners, watch, volumeScheduling, scope });
    this.#volumes = new VolumeReclaim(context, provisioners, owns);
    this.caches = this.#csiCaches === undefined ? [watch] : [watch, this.#csiCaches];
  }

  listen(): readonly (() => void)[] {
    const watch = this.#watch;
    const stops = [
      watch.listen(),
      this.#provisioners.onJoin((joined) => {
        watch.queueAllOf(joined);
        this.#sweepSnapshotsIfNeeded();
      }),
      this.#servedNode?.onChange(() => watch.queueEndedVolumes()),
      this.#csiCaches?.listen(
        () => watch.wake(),
        (volume) => this.#context.queue.add(`volume ${volume}`),
      ),
    ];
    this.#sweepSnapshotsIfNeeded();
    return stops.filter((stop) => stop !== undefined);
  }

  /** Only drivers with snapshots leave finalizers on them. */
  #sweepSnapshotsIfNeeded(): void {
    const drivers = this.#csiDrivers?.all() ?? [];
    if (drivers.some((driver) => driver.hasControllerCapability('CREATE_DELETE_SNAPSHOT')))
      this.#context.queue.add(snapshotsKey);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    try {
      return await this.#step(key, signal);
    } catch (error) {
      // The PV binder writes to the claim too. The next run reads the new version.
      if (isReason(error, 'Conflict')) return {};
      throw error;
    }
  }

  async #step(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { cluster, log } = this.#context;
    const [what, rest = ''] = key.split(' ');
    if (what === 'claim') return await this.#claims.reconcile(rest, signal);
    if (what === 'volume') return await this.#volumes.reconcile(rest, signal);
    const claims = this.#watch.allClaims();
    if (what === snapshotsKey) return await sweepSnapshots(cluster, { claims, log }, signal);
    return await releaseCloneSource(cluster, rest, claims, signal);
  }
}

/** Where each node has its own process, it serves only its driver: no other provisioner belongs to a node. */
function partsOf(
  { csiDrivers, csi, localRoot, allocationOnly = false, provisioners = [] }: ProvisionerControllerSettings,
  context: ControllerContext,
  caches: CsiCaches | undefined,
): { readonly provisioners: ProvisionerRegistry; readonly scope: NodeScope | undefined } {
  const local = localRoot === undefined ? [] : [localProvisioner(localRoot)];
  const own = [zonalProvisioner, disksProvisioner(context, { allocationOnly }), ...local, ...provisioners];
  if (csiDrivers === undefined || caches === undefined)
    return { provisioners: new ProvisionerRegistry(own), scope: undefined };
  const settings = csiProvisioningSettings(csi);
  const joining = new CsiProvisioners({ drivers: csiDrivers, context, caches, settings });
  const nodeName = csi?.nodeName;
  if (nodeName === undefined)
    return { provisioners: new ProvisionerRegistry(own, joining), scope: undefined };
  const { timeoutMs } = settings;
  const scope = new NodeScope({ nodeName, context, drivers: csiDrivers, caches, timeoutMs });
  return { provisioners: new ProvisionerRegistry([], joining), scope };
}
