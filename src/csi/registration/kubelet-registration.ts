import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { socketPathOf } from '../csi-address.ts';
import { CsiServer } from '../csi-server.ts';

/** The kind of plugin, as the kubelet calls it. */
const pluginType = 'CSIPlugin';

/** The kubelet accepts a driver that has a version of major version 1; it compares no more than that. */
const supportedVersions = ['1.0.0'];

export interface KubeletRegistrationOptions {
  /** The folder that the kubelet watches, `/var/lib/kubelet/plugins_registry`, as this process sees it. */
  readonly folder: string;
  /** The driver's name. */
  readonly driver: string;
  /** The driver's own socket, as the kubelet sees it: `unix:///path` or an absolute path. */
  readonly endpoint: string;
  /** The flag that the endpoint comes from, for errors. */
  readonly endpointSource?: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Registers a driver with the kubelet of this node, as node-driver-registrar does: the kubelet finds a new socket in its folder, asks it for
 * the driver's name and socket, calls the driver's NodeGetInfo, and writes the node's CSINode. So the driver must answer before this is
 * called. The kubelet asks again after it was restarted, and repeats a registration that failed; this only logs what the kubelet reports.
 * When the returned server stops, its socket disappears, and the kubelet removes the driver from the CSINode.
 */
export async function registerWithKubelet(options: KubeletRegistrationOptions): Promise<CsiServer> {
  const { driver, clock, log, endpointSource = 'CSI endpoint' } = options;
  const endpoint = socketPathOf(options.endpoint, endpointSource);
  return await CsiServer.start({
    address: registrationSocket(options.folder, driver),
    addressSource: 'kubelet registration',
    clock,
    log,
    services: {
      registration: {
        getInfo: async () => ({ type: pluginType, name: driver, endpoint, supportedVersions }),
        notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
          if (pluginRegistered) log.info(`the kubelet has registered ${driver}`);
          else log.warn(`the kubelet cannot register ${driver}, and tries again`, { error });
          return {};
        },
      },
    },
  });
}

/** Registration sockets of all drivers are in one folder. */
export function registrationSocket(folder: string, driver: string): string {
  return join(folder, `${driver}-reg.sock`);
}
