import { expect, test } from 'vitest';
import { type GrpcErrorCode, grpcCodeNames } from './grpc-codes.ts';
import { type CallKind, outcomeOf } from './rpc-outcomes.ts';

const errorCodes = grpcCodeNames.slice(1) as GrpcErrorCode[];
const changes: readonly CallKind[] = ['create', 'delete', 'publish', 'unpublish', 'expand', 'modify'];

function unknownFor(kind: CallKind): string[] {
  return errorCodes.filter((code) => outcomeOf(code, kind).effect === 'unknown').sort();
}

test('a volume may exist after the codes for which external-provisioner keeps asking', () => {
  expect(unknownFor('create')).toEqual(['Aborted', 'Canceled', 'DeadlineExceeded', 'Unavailable']);
});

test.each(changes.slice(1))(
  'the driver may still be at work after %s, as for external-attacher and -resizer',
  (kind) => {
    const expected = ['Aborted', 'Canceled', 'DeadlineExceeded', 'ResourceExhausted', 'Unavailable'];
    expect(unknownFor(kind)).toEqual(expected);
  },
);

test('a call that only reads makes nothing, whatever its code', () => {
  expect(unknownFor('read')).toEqual([]);
});

test('only ResourceExhausted of CreateVolume asks for another place', () => {
  const moving = [...changes, 'read' as const].flatMap((kind) =>
    errorCodes.filter((code) => outcomeOf(code, kind).next === 'move').map((code) => `${kind} ${code}`),
  );
  expect(moving).toEqual(['create ResourceExhausted']);
});

test.each([
  ['expand', ['AlreadyExists', 'InvalidArgument', 'NotFound', 'OutOfRange', 'Unimplemented']],
  ['create', ['AlreadyExists', 'InvalidArgument', 'OutOfRange', 'Unimplemented']],
] as const)('%s is pointless to repeat unchanged after %j', (kind, codes) => {
  expect(errorCodes.filter((code) => outcomeOf(code, kind).next === 'change').sort()).toEqual(codes);
});
