/** The codes of gRPC, by the names that Go programs and their metrics use. The position is the number on the wire. */
export const grpcCodeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type GrpcCode = (typeof grpcCodeNames)[number];

/** A code that means failure. */
export type GrpcErrorCode = Exclude<GrpcCode, 'OK'>;

/** A number that gRPC does not define counts as `Unknown`, as gRPC asks for. */
export function grpcCodeOf(number: number): GrpcCode {
  return grpcCodeNames[number] ?? 'Unknown';
}

export function grpcNumberOf(code: GrpcCode): number {
  return grpcCodeNames.indexOf(code);
}
