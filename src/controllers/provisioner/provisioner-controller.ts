import { isReason } from '../../kube/api-error.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { runWorkers } from '../../reconcile/workers.ts';
import { ClaimProvisioning } from './claim-provisioning.ts';
import { ClaimWatch } from './claim-watch.ts';
import { localProvisioner } from './local/local-provisioner.ts';
import type { Provisioner } from './provisioner.ts';
import { ProvisionerRegistry } from './provisioner-registry.ts';
import { VolumeReclaim } from './volume-reclaim.ts';
import { zonalProvisioner } from './zonal/zonal-provisioner.ts';

const name = 'provisioner';
const workers = 4;

export interface ProvisionerOptions {
  /** Where `local.stowage.dev` creates its directories; if left out, there is no provisioner of that name. */
  readonly localRoot?: string | undefined;
  /** The feature gate of that name; on by default. Off: delayed claims get volumes at once. */
  readonly volumeScheduling?: boolean | undefined;
  /** Additional provisioners, such as those for a CSI driver. One with the name of a built-in provisioner replaces it. */
  readonly provisioners?: readonly Provisioner[];
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
  const provisioners = registryOf(options);
  const { volumeScheduling = true } = options;
  return { name, run: (context, signal) => run({ provisioners, volumeScheduling }, context, signal) };
}

function registryOf({ localRoot, provisioners = [] }: ProvisionerOptions): ProvisionerRegistry {
  const local = localRoot === undefined ? [] : [localProvisioner(localRoot)];
  return new ProvisionerRegistry([zonalProvisioner, ...local, ...provisioners]);
}

/** Keys are `claim NAMESPACE/NAME` and `volume NAME`. */
async function run(
  { provisioners, volumeScheduling }: { provisioners: ProvisionerRegistry; volumeScheduling: boolean },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const watch = new ClaimWatch(context, provisioners);
  const claims = new ClaimProvisioning({ context, provisioners, watch, volumeScheduling });
  const volumes = new VolumeReclaim(context, provisioners);
  if (!(await watch.synced(signal))) return;
  const stop = watch.listen();
  try {
    const reconcile = async (key: string) => {
      const [what, rest = ''] = key.split(' ');
      try {
        return await (what === 'claim' ? claims.reconcile(rest, signal) : volumes.reconcile(rest, signal));
      } catch (error) {
        // The PV binder writes to the claim too. The next run reads the new version.
        if (isReason(error, 'Conflict')) return {};
        throw error;
      }
    };
    await runWorkers(watch.queue, reconcile, {
      workers,
      signal,
      onError: (error, key) => context.report({ controller: name, key, error }),
    });
  } finally {
    stop();
  }
}
