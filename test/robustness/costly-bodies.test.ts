import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedServer, attackedServer } from './testing/attacked-server.ts';
import { expectHealthy } from './testing/expect-healthy.ts';
import { responseProblem } from './testing/response-problem.ts';

let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await attackedServer();
});
afterAll(async () => await attacked.close());

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function mapOf(count: number, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(many(count, (index) => [`${prefix}${index}`, 'v']));
}

function pod(container: object, spec: object = {}): object {
  return {
    metadata: { name: 'x' },
    spec: { containers: [{ name: 'c', image: 'x', ...container }], ...spec },
  };
}

/**
 * Bodies within the size limit that would take minutes or exhaust memory if the work grew faster than the size. The tests set no time limit
 * of their own; a server that takes minutes fails by the timeout of the test. The files `linear-work.test.ts` below `src/apiserver` count
 * the work for such requests instead.
 */
const jsonBodies: readonly (readonly [string, string, object])[] = [
  ['managers', configMaps, { metadata: { name: 'x', managedFields: many(10_000, manager) } }],
  ['keys', configMaps, { metadata: { name: 'x' }, data: mapOf(60_000, 'k') }],
  ['keys that are wrong', configMaps, { metadata: { name: 'x' }, data: mapOf(20_000, 'k ') }],
  ['labels that are wrong', configMaps, { metadata: { name: 'x', labels: mapOf(10_000, 'k ') } }],
  ['owners', configMaps, { metadata: { name: 'x', ownerReferences: many(10_000, owner) } }],
  [
    'finalizers',
    configMaps,
    { metadata: { name: 'x', finalizers: many(50_000, (index) => `a.b/c${index}`) } },
  ],
  ['variables', pods, pod({ env: many(30_000, (index) => ({ name: `A${index}`, value: 'x' })) })],
  [
    'ports',
    pods,
    pod({ ports: many(20_000, (index) => ({ containerPort: 1 + index, hostPort: 1 + index })) }),
  ],
  ['volumes', pods, pod({}, { volumes: many(15_000, (index) => ({ name: `v${index}`, emptyDir: {} })) })],
  [
    'tolerations',
    pods,
    pod({}, { tolerations: many(30_000, (index) => ({ key: `k${index}`, operator: 'Exists' })) }),
  ],
  ['letters of a name', configMaps, { metadata: { name: 'a.'.repeat(1_000_000) } }],
  ['digits of a quantity', pods, pod({ resources: { limits: { cpu: `${'9'.repeat(100_000)}x` } } })],
  [
    'brackets of a field path',
    pods,
    pod({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: `a${"['".repeat(60_000)}` } } }] }),
  ],
  [
    'files with the same path',
    pods,
    pod({}, { volumes: [{ name: 'v', configMap: { name: 'c', items: many(20_000, () => file('a')) } }] }),
  ],
  [
    'sources of one volume',
    pods,
    pod({}, { volumes: [{ name: 'v', projected: { sources: many(10_000, projectedSource) } }] }),
  ],
  [
    'controllers as owners',
    configMaps,
    { metadata: { name: 'x', ownerReferences: many(5_000, controller) } },
  ],
  [
    'slashes in a file',
    pods,
    pod({}, { volumes: [{ name: 'v', configMap: { name: 'c', items: [file(`${'/'.repeat(60_000)}b`)] } }] }),
  ],
];

/** As text, because an object has each key once. */
const jsonTexts: readonly (readonly [string, string])[] = [
  [
    'keys below a very long key',
    `{"${'k'.repeat(1_000_000)}":{${many(60_000, (index) => `"a${index}":1`).join(',')},"a1":2}}`,
  ],
  ['dots in duplicate keys', `{"data":{"${'a.'.repeat(500_000)}":"1","${'a.'.repeat(500_000)}":"2"}}`],
  ['digits of a number', `{"metadata":{"generation":${'9'.repeat(1_000_000)}}}`],
];

const yamlTexts: readonly (readonly [string, string])[] = [
  ['entries of an ordered map', `a: !!omap\n${many(40_000, (index) => `- k${index}: 1`).join('\n')}`],
  ['digits of an integer', `a: ${'9'.repeat(1_000_000)}`],
  ['aliases', `a: &a x\nb: [${many(60_000, () => '*a').join(',')}]`],
  ['bytes of a binary value', `a: !!binary ${'A'.repeat(1_000_000)}`],
];

test.each(jsonBodies)('a body with very many %s is accepted or rejected', async (_what, path, body) => {
  const reply = await attacked.call('POST', path, { body });
  if (!reply.text.includes('etcdserver: request is too large'))
    expect(responseProblem(reply)).toBeUndefined();
  await removeObject(`${path}/x`);
  await expectHealthy(attacked);
});

test.each([
  ...jsonTexts.map(([what, body]) => [what, 'application/json', body] as const),
  ...yamlTexts.map(([what, body]) => [what, 'application/yaml', body] as const),
])('a text with very many %s is accepted or rejected as %s', async (_what, type, body) => {
  for (const validation of ['Strict', 'Warn']) {
    const path = `${configMaps}?fieldValidation=${validation}`;
    const reply = await attacked.call('POST', path, { body, headers: { 'content-type': type } });
    expect(responseProblem(reply)).toBeUndefined();
  }
  await expectHealthy(attacked);
});

test('a path with very many slashes is not found', async () => {
  const reply = await attacked.call('GET', `/a${'/'.repeat(60_000)}b`);
  expect(reply.status).toBe(404);
  await expectHealthy(attacked);
});

// Work that grew with the square of a million bytes would take minutes too; one of them is as large as the server accepts.
test.each([
  ['- ', 500_000],
  ['[', 3_000_000],
  ['{a: ', 250_000],
  ['? ', 500_000],
  ['}', 1_000_000],
  [',', 1_000_000],
  ['&a ', 350_000],
  ['*', 1_000_000],
  ['!', 1_000_000],
])('a YAML body that consists of %j is rejected', async (piece, count) => {
  for (const [method, path, type] of [
    ['POST', configMaps, 'application/yaml'],
    ['PATCH', `${configMaps}/x?fieldManager=m`, 'application/apply-patch+yaml'],
  ] as const) {
    const reply = await attacked.call(method, path, {
      body: piece.repeat(count),
      headers: { 'content-type': type },
    });
    expect([reply.status, responseProblem(reply)]).toEqual([
      expect.toSatisfy((s: number) => s === 400 || s === 415),
      undefined,
    ]);
  }
  await expectHealthy(attacked);
});

/** Otherwise finalizers would keep the object: the next body would only be in conflict with it. */
async function removeObject(path: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  await attacked.call('PATCH', path, { body: { metadata: { finalizers: null } }, headers });
  await attacked.call('DELETE', `${path}?gracePeriodSeconds=0`);
  expect((await attacked.call('GET', path)).status).toBe(404);
}

function manager(index: number): object {
  const fieldsV1 = { 'f:data': { [`f:a${index}`]: {} } };
  const time = '2020-01-01T00:00:00Z';
  return {
    manager: `m${index}`,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
}

function file(path: string): object {
  return { key: 'k', path };
}

function projectedSource(index: number): object {
  return { configMap: { name: 'c', items: [file(`p${index}`)] } };
}

function controller(index: number): object {
  return { ...owner(index), controller: true };
}

function owner(index: number): object {
  return { apiVersion: 'v1', kind: 'Pod', name: `a${index}`, uid: `u${index}` };
}
