import { CsiCallError } from './csi-errors.ts';
import type { CsiReply } from './csi-methods.ts';
import {
  ControllerServiceCapability_RPC_Type as ControllerCapability,
  NodeServiceCapability_RPC_Type as NodeCapability,
  PluginCapability_Service_Type as PluginCapability,
} from './generated/csi.ts';

/** The calls that ask a driver about itself; none has a field in its request. */
type IdentityMethod =
  | 'GetPluginInfo'
  | 'GetPluginCapabilities'
  | 'ControllerGetCapabilities'
  | 'NodeGetCapabilities';

type Ask = <Name extends IdentityMethod>(method: Name) => Promise<CsiReply<Name>>;

/** The request of these calls. The type of a method that is not known yet cannot say that it has no fields. */
export const noFields = {} as never;

/** The name, version and capabilities that a driver reports. */
export class CsiDriverIdentity {
  readonly name: string;
  readonly vendorVersion: string;
  readonly #plugin: ReadonlySet<number>;
  readonly #controller: ReadonlySet<number>;
  readonly #node: ReadonlySet<number>;

  static async ask(ask: Ask): Promise<CsiDriverIdentity> {
    const info = await ask('GetPluginInfo');
    const { capabilities } = await ask('GetPluginCapabilities');
    const plugin = capabilities.flatMap(({ type }) => (type.case === 'service' ? [type.value.type] : []));
    const hasController = plugin.includes(PluginCapability.CONTROLLER_SERVICE);
    const controller = hasController ? await capabilitiesOf(ask, 'ControllerGetCapabilities') : [];
    return new CsiDriverIdentity(info, plugin, controller, await capabilitiesOf(ask, 'NodeGetCapabilities'));
  }

  private constructor(
    { name, vendorVersion }: { readonly name: string; readonly vendorVersion: string },
    plugin: readonly number[],
    controller: readonly number[],
    node: readonly number[],
  ) {
    this.name = name;
    this.vendorVersion = vendorVersion;
    this.#plugin = new Set(plugin);
    this.#controller = new Set(controller);
    this.#node = new Set(node);
  }

  hasPlugin(capability: keyof typeof PluginCapability): boolean {
    return this.#plugin.has(PluginCapability[capability]);
  }

  hasController(capability: keyof typeof ControllerCapability): boolean {
    return this.#controller.has(ControllerCapability[capability]);
  }

  hasNode(capability: keyof typeof NodeCapability): boolean {
    return this.#node.has(NodeCapability[capability]);
  }
}

/** None where the service is not served: a controller plugin need not have the node service. */
async function capabilitiesOf(
  ask: Ask,
  method: 'ControllerGetCapabilities' | 'NodeGetCapabilities',
): Promise<readonly number[]> {
  try {
    const { capabilities } = await ask(method);
    return capabilities.flatMap(({ type }): number[] => (type.case === 'rpc' ? [type.value.type] : []));
  } catch (error) {
    if (error instanceof CsiCallError && error.code === 'Unimplemented') return [];
    throw error;
  }
}
