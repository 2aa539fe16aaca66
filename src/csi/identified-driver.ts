import { CallListeners } from './call-listeners.ts';
import type { CallOptions } from './csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from './csi-methods.ts';
import type { CsiDriverIdentity } from './driver-identity.ts';
import type { EndedCall, ServedCsiDriver } from './served-driver.ts';

/** A driver that has said who it is: answers questions about it, and reports when calls end. Subclasses send the calls. */
export abstract class IdentifiedDriver implements ServedCsiDriver {
  readonly #listeners = new CallListeners();

  /** It may change when the driver is upgraded, except for the name. */
  protected abstract readonly identity: CsiDriverIdentity;

  protected abstract send<Name extends CsiMethodName>(
    name: Name,
    request: CsiRequestInit<Name>,
    options: Omit<CallOptions, 'connection'>,
  ): Promise<CsiReply<Name>>;

  get name(): string {
    return this.identity.name;
  }

  get hasTopology(): boolean {
    return this.hasPluginCapability('VOLUME_ACCESSIBILITY_CONSTRAINTS');
  }

  hasPluginCapability(...[capability]: Parameters<ServedCsiDriver['hasPluginCapability']>): boolean {
    return this.identity.hasPlugin(capability);
  }

  hasControllerCapability(...[capability]: Parameters<ServedCsiDriver['hasControllerCapability']>): boolean {
    return this.identity.hasController(capability);
  }

  hasNodeCapability(...[capability]: Parameters<ServedCsiDriver['hasNodeCapability']>): boolean {
    return this.identity.hasNode(capability);
  }

  onCallEnd(listener: (call: EndedCall) => void): () => void {
    return this.#listeners.add(listener);
  }

  call<Name extends CsiMethodName>(
    name: Name,
    request: CsiRequestInit<Name>,
    options: Omit<CallOptions, 'connection'>,
  ): Promise<CsiReply<Name>> {
    return this.#listeners.observe({ method: name, request }, () => this.send(name, request, options));
  }
}
