import { CsiCallError, CsiError } from '../../../../csi/csi-errors.ts';
import { messageOf } from '../../../../runtime/error-message.ts';

/** The steps of a kubelet, as they appear in its Events. */
export type MountOperation =
  | 'MountVolume.NewMounter initialization'
  | 'MountVolume.MountDevice'
  | 'MountVolume.SetUp'
  | 'MapVolume.SetUpDevice'
  | 'MapVolume.MapPodDevice';

/** A volume cannot be staged or published now. */
export class MountProblem extends Error {
  override readonly name = 'MountProblem';

  constructor(operation: MountOperation, specName: string, cause: unknown) {
    super(`${operation} failed for volume "${specName}" : ${grpcErrorText(cause)}`, { cause });
  }
}

/** As a kubelet prints an error of gRPC. */
export function grpcErrorText(error: unknown): string {
  if (error instanceof CsiCallError) return `rpc error: code = ${error.code} desc = ${error.details}`;
  return error instanceof CsiError ? error.message : messageOf(error);
}

/** Whether the plugin has ended the operation, and it had no effect. */
export function hadNoEffect(error: unknown): boolean {
  return !(error instanceof CsiError) || error.outcome.effect === 'none';
}
