import type { Cluster } from '../../../cluster/cluster.ts';
import { CsiCallError, CsiError } from '../../../csi/csi-errors.ts';
import type { GrpcErrorCode } from '../../../csi/grpc-codes.ts';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import { capabilityOfVolume } from '../../../csi/volume-capability.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { bytesOf, quantityOfBytes } from '../../../kube/quantities/bytes.ts';
import { csiSecrets } from '../../csi-secrets.ts';
import type { Expansion, Resizer } from './resizer.ts';

export interface CsiResizerOptions {
  readonly cluster: Cluster;
  readonly timeoutMs: number | undefined;
}

/** The codes that mean for external-resizer: this size will never be possible. */
const infeasibleCodes: ReadonlySet<GrpcErrorCode> = new Set(['InvalidArgument', 'OutOfRange', 'NotFound']);

/** The resizer for volumes of a CSI driver; undefined if neither its controller nor its nodes expand volumes. */
export function csiResizer(driver: ServedCsiDriver, options: CsiResizerOptions): Resizer | undefined {
  if (!driver.hasPluginCapability('CONTROLLER_SERVICE')) return undefined;
  if (driver.hasControllerCapability('EXPAND_VOLUME'))
    return {
      name: undefined,
      expand: (volume, size, signal) => expandByDriver(driver, options, { volume, size }, signal),
    };
  return driver.hasNodeCapability('EXPAND_VOLUME') ? nodeOnlyResizer : undefined;
}

const nodeOnlyResizer: Resizer = {
  name: undefined,
  isNodeOnly: true,
  expand: async (_volume, size) => ({ kind: 'expanded', size, needsNode: true }),
};

async function expandByDriver(
  driver: ServedCsiDriver,
  { cluster, timeoutMs }: CsiResizerOptions,
  { volume, size }: { readonly volume: PersistentVolume; readonly size: string },
  signal: AbortSignal,
): Promise<Expansion> {
  const { volumeHandle = '', controllerExpandSecretRef } = volume.spec?.csi ?? {};
  try {
    const request = {
      volumeId: volumeHandle,
      capacityRange: { requiredBytes: bytesOf(size) },
      volumeCapability: capabilityOfVolume(volume.spec, driver),
      secrets: await csiSecrets(cluster, controllerExpandSecretRef, signal),
    };
    const limits = timeoutMs === undefined ? { signal } : { signal, timeoutMs };
    const reply = await driver.call('ControllerExpandVolume', request, limits);
    const { capacityBytes, nodeExpansionRequired: needsNode } = reply;
    return { kind: 'expanded', size: quantityOfBytes(capacityBytes), needsNode };
  } catch (error) {
    return failureOf(error);
  }
}

/** An error before the call, such as a missing Secret, says nothing about an earlier call: the outcome of that may be unknown. */
function failureOf(error: unknown): Expansion {
  if (!(error instanceof CsiError) || error.outcome.effect === 'unknown') return { kind: 'unknown', error };
  const code = error instanceof CsiCallError ? error.code : undefined;
  if (code !== undefined && infeasibleCodes.has(code)) return { kind: 'infeasible', message: error.message };
  return { kind: 'failed', error, isInUse: code === 'FailedPrecondition' };
}
