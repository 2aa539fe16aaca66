import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import type { CsiServer } from '../csi/csi-server.ts';
import { registerWithKubelet } from '../csi/registration/kubelet-registration.ts';
import { CsiSocketError } from '../csi/server-socket.ts';
import { drivesDriver } from '../kube/drive.ts';
import { realClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { CliError, usage } from './cli-error.ts';

export interface KubeletRegistrationFlags {
  readonly endpoint: string;
  /** The folder that the kubelet watches for drivers. */
  readonly kubeletRegistration?: string;
  /** Where the kubelet sees the socket of `--endpoint`, if this process runs in a container; the same path by default. */
  readonly kubeletEndpoint?: string;
}

/** Registers the driver with the kubelet, once its socket answers. Undefined without `--kubelet-registration`. */
export async function registeredWithKubelet(
  flags: KubeletRegistrationFlags,
  log: Log,
): Promise<CsiServer | undefined> {
  const { kubeletRegistration: folder, kubeletEndpoint, endpoint } = flags;
  if (folder === undefined) return undefined;
  try {
    return await registerWithKubelet({
      folder,
      driver: drivesDriver,
      endpoint: kubeletEndpoint ?? endpoint,
      clock: realClock,
      log,
    });
  } catch (error) {
    if (error instanceof CsiSocketError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

/** `servesNode` is whether this process serves the node service, the only one that a kubelet calls. */
export function checkKubeletRegistration(flags: KubeletRegistrationFlags, servesNode: boolean): void {
  const { kubeletRegistration: folder, kubeletEndpoint: endpoint } = flags;
  if (folder === undefined) {
    if (endpoint !== undefined) throw usage('--kubelet-endpoint: needs --kubelet-registration');
    return;
  }
  if (!servesNode) throw usage('--kubelet-registration: needs the node service; add node to --services');
  if (!folder.startsWith('/'))
    throw usage(
      `--kubelet-registration: invalid value ${JSON.stringify(folder)}: it must be an absolute path`,
    );
  if (endpoint === undefined) return;
  try {
    socketPathOf(endpoint, '--kubelet-endpoint');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}
