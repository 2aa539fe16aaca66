import { isReason } from '../../kube/api-error.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { runWorkers } from '../../reconcile/workers.ts';
import { ClaimWatch } from './claim-watch.ts';
import { ClaimProvisioning } from './claim-work.ts';
import { localProvisioner } from './local/local-provisioner.ts';
import type { Provisioner, Provisioners } from './provisioner.ts';
import { VolumeReclaim } from './volume-work.ts';
import { zonalProvisioner } from './zonal/zonal-provisioner.ts';

const name = 'provisioner';
const workers = 4;

export interface ProvisionerOptions {
  /** Where `local.stowage.dev` puts its directories; left out, nobody answers to that name. */
  readonly localRoot?: string | undefined;
  /** The gate of that name; on by default. Off: delayed claims get volumes at once. */
  readonly volumeScheduling?: boolean | undefined;
  /** Further ones, such as those that speak to a driver. One with the name of a built-in takes its place. */
  readonly provisioners?: readonly Provisioner[];
}

/**
 * Makes volumes for claims, and removes them when they are released, for the provisioners that it knows. It acts on what the
 * binder of volumes and the scheduler wrote on a claim; everybody else's claims and volumes are left alone.
 *
 * Safe to die anywhere. A volume's name comes from its claim's uid, so it is never made twice. Before it is made, the claim
 * carries a finalizer that says so; it goes when the PersistentVolume is written, or all is undone. So whatever was made is
 * either recorded or going to be looked at again. A PersistentVolume in turn carries a finalizer until its asset is gone.
 */
export function provisionerController(options: ProvisionerOptions = {}): Controller {
  const provisioners = registryOf(options);
  const { volumeScheduling = true } = options;
  return { name, run: (context, signal) => run({ provisioners, volumeScheduling }, context, signal) };
}

function registryOf({ localRoot, provisioners = [] }: ProvisionerOptions): Provisioners {
  const local = localRoot === undefined ? [] : [localProvisioner(localRoot)];
  return new Map([zonalProvisioner, ...local, ...provisioners].map((one) => [one.name, one]));
}

/** Keys are `claim NAMESPACE/NAME` and `volume NAME`. */
async function run(
  { provisioners, volumeScheduling }: { provisioners: Provisioners; volumeScheduling: boolean },
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
        // Whoever binds the claim writes to it too. The next look sees what they wrote.
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
