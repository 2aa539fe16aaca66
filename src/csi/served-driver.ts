import type { CallOptions } from './csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from './csi-methods.ts';
import type {
  ControllerServiceCapability_RPC_Type,
  NodeServiceCapability_RPC_Type,
  PluginCapability_Service_Type,
} from './generated/csi.ts';

/** A CSI driver as controllers see it: its name, its capabilities, and calls. */
export interface ServedCsiDriver {
  readonly name: string;
  /** Whether volumes are not accessible from every node; only then does the driver read and return topology. */
  readonly hasTopology: boolean;
  hasPluginCapability(capability: keyof typeof PluginCapability_Service_Type): boolean;
  hasControllerCapability(capability: keyof typeof ControllerServiceCapability_RPC_Type): boolean;
  hasNodeCapability(capability: keyof typeof NodeServiceCapability_RPC_Type): boolean;
  /** Rejects with a `CsiError`, whose `outcome` says what to do. */
  call<Name extends CsiMethodName>(
    name: Name,
    request: CsiRequestInit<Name>,
    options: Omit<CallOptions, 'connection'>,
  ): Promise<CsiReply<Name>>;
  /** `listener` is called when a call has ended, with or without success, before its caller continues. Returns how to stop that. */
  onCallEnd(listener: (call: EndedCall) => void): () => void;
  /**
   * Only drivers that know when their capacity changes by other than calls have it: `listener` is called with labels of the nodes from which
   * the changed capacity can be reached. Returns how to stop that.
   */
  onCapacityChange?: CapacityChanges | undefined;
}

export type CapacityChanges = (listener: (segments: Readonly<Record<string, string>>) => void) => () => void;

/** A call that has ended. */
export interface EndedCall {
  readonly method: CsiMethodName;
  /** As the caller wrote it. It may contain secrets: never log it. */
  readonly request: unknown;
  /** Undefined after success. */
  readonly error: unknown;
}

/** The CSI drivers whose controller service this process uses. */
export interface CsiDriverSet {
  /** Undefined while the driver has not answered yet, too. */
  get(name: string): ServedCsiDriver | undefined;
  all(): readonly ServedCsiDriver[];
  /** `listener` is called with each driver that answers for the first time from now on. Returns how to stop that. */
  onJoin(listener: (driver: ServedCsiDriver) => void): () => void;
  /** Whether a driver has not answered yet: its name is not known, so any driver that is not in the set may still join. */
  readonly isIncomplete?: boolean;
}

/** For processes without CSI drivers. */
export const noCsiDrivers: CsiDriverSet = { get: () => undefined, all: () => [], onJoin: () => () => {} };
