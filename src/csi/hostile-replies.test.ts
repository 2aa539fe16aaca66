import { create, type DescField, type DescMessage, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsiError, CsiReplyError } from './csi-errors.ts';
import { type CsiMethodName, csiMethods } from './csi-methods.ts';
import { CsiFixture } from './testing/csi-fixture.ts';
import { RawGrpcServer } from './testing/raw-grpc-server.ts';

/* Drivers that answer with anything: each call resolves, or rejects with a CsiError, and the next call works. */

const methods = Object.keys(csiMethods) as CsiMethodName[];
const method = fc.constantFrom(...methods);

/** Bytes that mostly look like fields with a wrong type, a wrong length or a wrong nesting. */
const randomBytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc
    .array(
      fc.tuple(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 7 }),
        fc.uint8Array({ maxLength: 12 }),
      ),
    )
    .map((fields) =>
      Uint8Array.from(fields.flatMap(([number, type, rest]) => [number * 8 + type, rest.length, ...rest])),
    ),
  fc.integer({ min: 1, max: 50_000 }).map((depth) => new Uint8Array(depth).fill(0x0a)),
  fc.integer({ min: 1, max: 50_000 }).map((depth) => new Uint8Array(depth).fill(0xfb)),
);

test('random bytes are typed errors or replies, never a crash or a hang', async () => {
  await using fixture = new CsiFixture();
  const raw = await RawGrpcServer.start(fixture.path);
  fixture.onClose(() => raw.stop());
  const client = fixture.client();
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(method, randomBytes, async (name, bytes) => {
      raw.answer = bytes;
      const error = await outcome(client.call(name, {}, { signal: fixture.signal, timeoutMs: 60_000 }));
      if (error !== undefined) refused += 1;
      expect(error === undefined || error instanceof CsiReplyError).toBe(true);
    }),
    { numRuns: 150 },
  );
  expect(refused).toBeGreaterThan(0);
});

test('random well-formed messages are typed errors or replies that CSI allows', async () => {
  await using fixture = new CsiFixture();
  const raw = await RawGrpcServer.start(fixture.path);
  fixture.onClose(() => raw.stop());
  const client = fixture.client();
  const seen = { resolved: 0, refused: 0 };
  const answered = method.chain((name) =>
    messageOf(csiMethods[name].rpc.output).map((init) => ({ name, init })),
  );
  await fc.assert(
    fc.asyncProperty(answered, async ({ name, init }) => {
      const { input, output } = csiMethods[name].rpc;
      raw.answer = toBinary(output as DescMessage, create(output as DescMessage, init));
      const request =
        'capacity_range' in fieldsOf(input) ? { capacityRange: { requiredBytes: 5n, limitBytes: 9n } } : {};
      const error = await outcome(client.call(name, request, { signal: fixture.signal, timeoutMs: 60_000 }));
      expect(error === undefined || error instanceof CsiReplyError).toBe(true);
      if (error instanceof CsiReplyError) {
        expect(error.field).not.toBe('');
        expect(error.message).toContain(`${name}: invalid reply: ${error.field}`);
      }
      seen[error === undefined ? 'resolved' : 'refused'] += 1;
    }),
    { numRuns: 150 },
  );
  expect(Math.min(seen.resolved, seen.refused)).toBeGreaterThan(0);
});

test('random codes and texts are typed errors', async () => {
  await using fixture = new CsiFixture();
  const raw = await RawGrpcServer.start(fixture.path);
  fixture.onClose(() => raw.stop());
  const client = fixture.client();
  await fc.assert(
    fc.asyncProperty(
      method,
      fc.integer({ min: 1, max: 200 }),
      fc.string({ unit: 'binary' }),
      async (name, code, details) => {
        raw.answer = { code, details };
        const error = await outcome(client.call(name, {}, { signal: fixture.signal, timeoutMs: 60_000 }));
        expect(error).toBeInstanceOf(CsiError);
      },
    ),
    { numRuns: 50 },
  );
});

function outcome(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function fieldsOf(message: DescMessage): Record<string, DescField> {
  return Object.fromEntries(message.fields.map((field) => [field.name, field]));
}

/** Any value of a message: fields left out, huge, negative, empty. */
function messageOf(message: DescMessage): fc.Arbitrary<Record<string, unknown>> {
  const plain = message.fields.filter(({ oneof }) => oneof === undefined);
  const fields = Object.fromEntries(plain.map((field) => [field.localName, fieldValue(field)]));
  const oneofs = Object.fromEntries(
    message.oneofs.map(({ localName, fields: cases }) => [
      localName,
      fc.oneof(...cases.map((field) => fieldValue(field).map((value) => ({ case: field.localName, value })))),
    ]),
  );
  return fc.record({ ...fields, ...oneofs }, { requiredKeys: [] });
}

function fieldValue(field: DescField): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case 'list':
      return fc.array<unknown>(
        field.listKind === 'message' ? messageOf(field.message) : fc.integer({ min: 0, max: 30 }),
        { maxLength: 3 },
      );
    case 'map':
      return fc.dictionary(text, text, { maxKeys: 3 });
    case 'message':
      // Wrappers such as Int64Value are their value.
      return isWrapper(field.message) ? fieldValue(field.message.fields[0]!) : messageOf(field.message);
    case 'enum':
      return fc.integer({ min: -1, max: 99 });
    default:
      return scalarValue(field.scalar);
  }
}

function isWrapper({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.') && typeName.endsWith('Value');
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', '__proto__', 'a'.repeat(5000)),
);

/** Returns values of the scalar type with this number in descriptor.proto. */
function scalarValue(type: number): fc.Arbitrary<unknown> {
  if (type === 8) return fc.boolean();
  if (type === 9) return text;
  if (type === 3)
    return fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 12n }));
  return fc.integer({ min: -5, max: 2 ** 31 - 1 });
}
