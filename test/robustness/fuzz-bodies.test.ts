import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedKind } from '../../src/apiserver/kinds/served-kind.ts';
import { goldenObjects } from '../../src/apiserver/schema/testing/golden.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { type AttackedServer, attackedServer } from './testing/attacked-server.ts';
import { expectHealthy } from './testing/expect-healthy.ts';
import { mutated, spliced, trickyTexts } from './testing/mutations.ts';
import { responseProblem } from './testing/response-problem.ts';
import { collectionPath, type SampleOfKind, sampleObjects } from './testing/sample-objects.ts';
import { TypedObjects } from './testing/typed-objects.ts';

let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await attackedServer();
});
afterAll(async () => await attacked.close());

const samples = sampleObjects();
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const contentTypes = [
  ...patchTypes,
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json; charset=utf-16',
  'text/plain',
  'application/cbor',
  'constructor',
  '__proto__',
  ';',
  '',
];

const anySample = fc.constantFrom(...samples);
const anyType = fc.constantFrom(...contentTypes);
const anyMethod = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE');
const place = fc.double({ min: 0, max: 1, noNaN: true });
const sampleText = anySample.map(({ object }) => JSON.stringify(object));

interface Sending {
  readonly method: string;
  readonly kind: ServedKind;
  readonly body: string | Uint8Array | object;
  readonly contentType: string;
  readonly query?: string;
}

/** Sends the body. Returns what is wrong with the response or inside the server; undefined if all is well. */
async function problemAfterSending({ method, kind, body, contentType, query = '' }: Sending) {
  const path = collectionPath(kind) + (method === 'POST' ? '' : '/x');
  const reply = await attacked.call(method, `${path}?fieldManager=fuzz${query}`, {
    body,
    headers: { 'content-type': contentType },
  });
  return responseProblem(reply) ?? attacked.bugs.at(-1);
}

test('almost valid JSON or YAML is accepted, or rejected with an API error', async () => {
  const text = fc.oneof(
    fc.constantFrom(...trickyTexts),
    fc.tuple(sampleText, fc.constantFrom(...trickyTexts), place).map((parts) => spliced(...parts)),
    fc.json({ maxDepth: 4 }),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(anySample, text, anyType, anyMethod, async ({ kind }, body, contentType, method) => {
      expect(await problemAfterSending({ method, kind, body, contentType })).toBeUndefined();
    }),
    { numRuns: 300 },
  );
  await expectHealthy(attacked);
});

test('damaged bytes in a body do no harm', async () => {
  const bytes = mutated(sampleText.map((text) => Buffer.from(text)));
  await fc.assert(
    fc.asyncProperty(anySample, bytes, anyType, anyMethod, async ({ kind }, body, contentType, method) => {
      expect(await problemAfterSending({ method, kind, body, contentType })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
  await expectHealthy(attacked);
});

test('truncated or damaged protobuf is rejected', async () => {
  const golden = goldenObjects.flatMap(({ type, protobuf }) => {
    const kind = samples.find((sample) => sample.kind.type === type)?.kind;
    return kind === undefined ? [] : [{ kind, bytes: Buffer.from(protobuf, 'base64') }];
  });
  const damaged = fc
    .constantFrom(...golden)
    .chain(({ kind, bytes }) => fc.tuple(fc.constant(kind), mutated(fc.constant<Uint8Array>(bytes))));
  const contentType = 'application/vnd.kubernetes.protobuf';
  await fc.assert(
    fc.asyncProperty(damaged, fc.constantFrom('POST', 'PUT', 'DELETE'), async ([kind, body], method) => {
      expect(await problemAfterSending({ method, kind, body, contentType })).toBeUndefined();
    }),
    { numRuns: 400 },
  );
  await expectHealthy(attacked);
});

test('objects with wrong types in any field are rejected for every verb and patch type', async () => {
  for (const sample of onePerKind()) await create(sample);
  await fc.assert(
    fc.asyncProperty(
      anySample,
      fc.integer(),
      anyMethod,
      fc.constantFrom(...patchTypes),
      async ({ kind, object }, seed, method, patchType) => {
        const objects = new TypedObjects(seededRandom(seed), 0.05);
        const body = objects.next(kind, [{ ...object, metadata: { ...object.metadata, name: 'x' } }]);
        const contentType = method === 'PATCH' ? patchType : 'application/json';
        const query = '&dryRun=All';
        expect(await problemAfterSending({ method, kind, body, contentType, query })).toBeUndefined();
      },
    ),
    { numRuns: 300 },
  );
  await expectHealthy(attacked);
});

test('random JSON patches are accepted or rejected', async () => {
  const paths = [
    '',
    '/',
    '/metadata',
    '/metadata/name',
    '/metadata/labels/a',
    '/spec',
    '/spec/-',
    '/data/__proto__',
    '/~',
    '/~2',
    '/metadata/managedFields/0',
    '/kind',
    'x',
    '/constructor/prototype/x',
  ];
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'Add', '', 'x', null, 1),
      path: fc.oneof(fc.constantFrom(...paths), fc.string(), fc.constant(7)),
      from: fc.constantFrom(...paths),
      value: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant(null)),
    },
    { requiredKeys: [] },
  );
  const contentType = 'application/json-patch+json';
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...onePerKind()), fc.array(operation), async ({ kind }, body) => {
      expect(
        await problemAfterSending({ method: 'PATCH', kind, body, contentType, query: '&dryRun=All' }),
      ).toBeUndefined();
    }),
    { numRuns: 250 },
  );
  await expectHealthy(attacked);
});

test.each([
  ['with a length', {}],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body over the limit, sent %s, is rejected with 413', async (_how, headers) => {
  const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"huge"},"data":{"x":"${'x'.repeat(3 * 2 ** 20)}"}}`;
  const path = '/api/v1/namespaces/default/configmaps';
  const reply = await attacked.call('POST', path, { body, headers });
  expect([reply.status, responseProblem(reply)]).toEqual([413, undefined]);
  await expectHealthy(attacked);
});

function onePerKind(): readonly SampleOfKind[] {
  return [...new Map(samples.map((sample) => [sample.kind.type, sample])).values()];
}

async function create({ kind, object }: SampleOfKind): Promise<void> {
  const body = { ...object, metadata: { ...object.metadata, name: 'x' } };
  await attacked.call('POST', collectionPath(kind), { body });
}
