import type { CsiSettings } from '../../controllers/csi-settings.ts';
import { CsiAddressError, socketPathOf } from '../../csi/csi-address.ts';
import { callTimeoutMs } from '../../csi/csi-client.ts';
import { usage } from '../errors/cli-error.ts';
import { type CapacityPublishingFlags, capacitySettingsOf, type PodEnvironment } from './capacity-flags.ts';

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

export interface CsiSettingsContext {
  /** The pod of this process, if it is one of the cluster that the settings are for. */
  readonly pod?: PodEnvironment;
  /** The controllers that run. `drives` has a built-in CSI driver, without an address. */
  readonly controllers?: readonly string[];
}

/** Undefined without drivers. Flags that no driver would read are refused. */
export function csiSettingsOf(flags: CsiFlags, context: CsiSettingsContext = {}): CsiSettings | undefined {
  const { csiAddress = [], csiTimeout, strictTopology, extraCreateMetadata, defaultFstype } = flags;
  const { pod = {}, controllers = [] } = context;
  const nodeName = ownNode(flags);
  const capacity = capacitySettingsOf(flags, pod);
  if (csiAddress.length === 0) {
    const [first] = flagNames.filter((name) => flags[name] !== undefined);
    if (first === undefined) return undefined;
    if (!controllers.includes('drives'))
      throw usage(`${flagText(first)}: has a meaning only with a CSI driver; name it with --csi-address`);
  }
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

/** All flags but `--csi-address`; the compiler finds one that is missing. */
const flagNames = Object.keys({
  csiTimeout: true,
  strictTopology: true,
  immediateTopology: true,
  extraCreateMetadata: true,
  defaultFstype: true,
  nodeDeployment: true,
  nodeName: true,
  capacityForm: true,
  capacityPollInterval: true,
  capacityForEphemeral: true,
  capacityForImmediateBinding: true,
  capacityTopologyPrefix: true,
  capacityOwnerrefLevel: true,
  capacityThreads: true,
} satisfies Record<Exclude<keyof CsiFlags, 'csiAddress'>, true>) as (keyof CsiFlags)[];

function flagText(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The node that this process is responsible for. The name alone would be easy to misread, so both flags are needed. */
function ownNode({ nodeDeployment = false, nodeName }: CsiFlags): string | undefined {
  if (nodeDeployment && (nodeName === undefined || nodeName === ''))
    throw usage('--node-deployment: needs the name of the node; give it with --node-name');
  if (!nodeDeployment && nodeName !== undefined)
    throw usage('--node-name: has a meaning only with --node-deployment or the controller disk-agent');
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
