import type { CsiSettings } from '../controllers/csi-settings.ts';
import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import { callTimeoutMs } from '../csi/csi-client.ts';
import { type CapacityPublishingFlags, capacitySettingsOf, type PodEnvironment } from './capacity-flags.ts';
import { usage } from './cli-error.ts';

/** The flags of `up` and `run` for CSI drivers, as given. */
export interface CsiFlags extends CapacityPublishingFlags {
  /** One value for each use of the flag. */
  readonly csiAddress?: readonly string[];
  readonly csiTimeout?: string;
  readonly strictTopology?: boolean;
  /** True if the flag has no value. */
  readonly immediateTopology?: boolean | string;
  readonly extraCreateMetadata?: boolean;
  readonly defaultFstype?: string;
  readonly nodeDeployment?: boolean;
  readonly nodeName?: string;
}

/** Undefined without drivers. `pod` is the pod of this process, if it is one of the cluster that the settings are for. */
export function csiSettingsOf(flags: CsiFlags, pod: PodEnvironment = {}): CsiSettings | undefined {
  const { csiAddress = [], csiTimeout, strictTopology, extraCreateMetadata, defaultFstype } = flags;
  const nodeName = ownNode(flags);
  const capacity = capacitySettingsOf(flags, pod);
  if (csiAddress.length === 0) return undefined;
  for (const address of csiAddress) checkAddress(address);
  return {
    addresses: csiAddress,
    timeoutMs: csiTimeout === undefined ? callTimeoutMs : secondsOf(csiTimeout, '--csi-timeout') * 1000,
    ...(nodeName === undefined ? {} : { nodeName }),
    strictTopology,
    immediateTopology: isImmediate(flags),
    extraCreateMetadata,
    defaultFsType: defaultFstype,
    capacity,
  };
}

/** The node that this process is responsible for. The name alone would be easy to misread, so both flags are needed. */
function ownNode({ nodeDeployment = false, nodeName }: CsiFlags): string | undefined {
  if (nodeDeployment && (nodeName === undefined || nodeName === ''))
    throw usage('--node-deployment: needs the name of the node; give it with --node-name');
  if (!nodeDeployment && nodeName !== undefined)
    throw usage('--node-name: has a meaning only with --node-deployment');
  return nodeName;
}

function isImmediate({ immediateTopology = true }: CsiFlags): boolean {
  if (typeof immediateTopology === 'boolean') return immediateTopology;
  if (immediateTopology === 'true' || immediateTopology === 'false') return immediateTopology === 'true';
  throw usage(`--immediate-topology: "${immediateTopology}" must be true or false`);
}

function checkAddress(address: string): void {
  try {
    socketPathOf(address, '--csi-address');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}

function secondsOf(text: string, flag: string): number {
  const seconds = Number(text.replace(/s$/, ''));
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw usage(`${flag}: "${text}" is no time; give seconds, such as 10`);
}
