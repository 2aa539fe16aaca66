import type { CsiDriverSet } from '../../csi/served-driver.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { runWorkers } from '../../reconcile/workers.ts';
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

const name = 'provisioner';
const workers = 4;
const snapshotsKey = 'snapshots';
/** As many calls as external-provisioner makes at once (`--worker-threads`); drivers can be slow. */
const workersWithDrivers = 100;

export interface ProvisionerOptions {
  /** Where `local.stowage.dev` creates its directories; if left out, there is no provisioner of that name. */
  readonly localRoot?: string | undefined;
  /** The feature gate of that name; on by default. Off: delayed claims get volumes at once. */
  readonly volumeScheduling?: boolean | undefined;
  /** `disks.stowage.dev` allocates volumes although no node can mount them: nodes are simulated, or another program mounts them. */
  readonly allocationOnly?: boolean | undefined;
  /** Additional provisioners. One with the name of a built-in provisioner replaces it, and so does it replace a CSI driver. */
  readonly provisioners?: readonly Provisioner[];
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
 * either recorded or going to be reconciled again. A PersistentVolume in turn has a finalizer until its asset is gone.
 */
export function provisionerController(options: ProvisionerOptions = {}): Controller {
  return { name, run: (context, signal) => run(options, context, signal) };
}

/** Keys are `claim NAMESPACE/NAME`, `volume NAME`, `source NAMESPACE/NAME` for claims that were cloned, and `snapshots` for their sweep. */
async function run(
  options: ProvisionerOptions,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const caches = options.csiDrivers === undefined ? undefined : new CsiCaches(context);
  const { provisioners, scope } = partsOf(options, context, caches);
  const { volumeScheduling = true, csiDrivers } = options;
  const watch = new ClaimWatch(context, provisioners);
  const claims = new ClaimProvisioning({ context, provisioners, watch, volumeScheduling, scope });
  const nodeName = scope && options.csi?.nodeName;
  const servedNode = nodeName === undefined ? undefined : new ServedNode(nodeName, context);
  const volumes = new VolumeReclaim(
    context,
    provisioners,
    servedNode && ((volume) => servedNode.owns(volume)),
  );
  if (!(await watch.synced(signal)) || (await caches?.synced(signal)) === false) return;
  /** Only drivers with snapshots leave finalizers on them. */
  const sweepIfNeeded = () => {
    const haveSnapshots = csiDrivers
      ?.all()
      .some((driver) => driver.hasControllerCapability('CREATE_DELETE_SNAPSHOT'));
    if (haveSnapshots === true) watch.queue.add(snapshotsKey);
  };
  const stops = [
    watch.listen(),
    provisioners.onJoin((joined) => {
      watch.queueAllOf(joined);
      sweepIfNeeded();
    }),
    servedNode?.onChange(() => watch.queueEndedVolumes()),
    caches?.listen(
      () => watch.wake(),
      (volume) => watch.queue.add(`volume ${volume}`),
    ),
  ];
  const reconcile = async (key: string) => {
    const [what, rest = ''] = key.split(' ');
    try {
      if (what === 'claim') return await claims.reconcile(rest, signal);
      if (what === 'volume') return await volumes.reconcile(rest, signal);
      if (what === snapshotsKey) {
        const { cluster, log } = context;
        return await sweepSnapshots(cluster, { claims: watch.allClaims(), log }, signal);
      }
      return await releaseCloneSource(context.cluster, rest, watch.allClaims(), signal);
    } catch (error) {
      // The PV binder writes to the claim too. The next run reads the new version.
      if (isReason(error, 'Conflict')) return {};
      throw error;
    }
  };
  sweepIfNeeded();
  try {
    await runWorkers(watch.queue, reconcile, {
      workers: csiDrivers === undefined ? workers : workersWithDrivers,
      signal,
      onError: (error, key) => context.report({ controller: name, key, error }),
    });
  } finally {
    for (const stop of stops) stop?.();
  }
}

/** Where each node has a process of its own, it serves only its driver: no other provisioner belongs to a node. */
function partsOf(
  { csiDrivers, csi, localRoot, allocationOnly = false, provisioners = [] }: ProvisionerOptions,
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
