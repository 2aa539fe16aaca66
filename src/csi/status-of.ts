import { messageOf } from '../runtime/error-message.ts';
import { InvalidField } from './checks/field-checks.ts';
import { CsiStatusError } from './csi-errors.ts';
import type { GrpcErrorCode } from './grpc-codes.ts';

/** The gRPC status that answers a call whose implementation threw `error`. */
export function statusOf(error: unknown): { readonly code: GrpcErrorCode; readonly message: string } {
  if (error instanceof CsiStatusError) return { code: error.code, message: error.message };
  if (error instanceof InvalidField) return { code: 'InvalidArgument', message: error.message };
  return { code: 'Internal', message: messageOf(error) };
}
