import { describe, expect, test } from 'vitest';
import { ExtenderFixture, type ExtenderResponse, namespace } from './testing/extender-fixture.ts';

const pod = { metadata: { namespace, name: 'p', uid: 'u' } };

function statusLine({ status, text }: ExtenderResponse): string {
  return `${status} ${text.trim()}`;
}

const invalidRequests: readonly (readonly [
  name: string,
  path: string,
  body: string,
  expected: string | RegExp,
])[] = [
  ['not JSON', '/filter', '{', /^400 the body is not valid JSON: /],
  ['an array', '/filter', '[]', '400 the body: must be an object'],
  ['an empty body', '/filter', '', /^400 the body is not valid JSON: /],
  ['no pod', '/filter', '{}', '400 Pod: must be an object'],
  [
    'a pod without a uid',
    '/filter',
    '{"Pod":{"metadata":{"name":"p","namespace":"d"}}}',
    /^400 Pod\.metadata\.uid: /,
  ],
  [
    'no nodes',
    '/filter',
    JSON.stringify({ Pod: pod, Nodes: null }),
    /^400 Nodes and NodeNames are both missing/,
  ],
  [
    'node names that are not strings',
    '/prioritize',
    JSON.stringify({ Pod: pod, NodeNames: [1] }),
    /^400 NodeNames: must be a non-empty string/,
  ],
  [
    'nodes that are not objects',
    '/filter',
    JSON.stringify({ Pod: pod, Nodes: { items: [1] } }),
    '400 Nodes.items: must be an object',
  ],
  [
    'no victims',
    '/preempt',
    JSON.stringify({ Pod: pod }),
    /^400 NodeNameToMetaVictims and NodeNameToVictims are both/,
  ],
  [
    'victims that are not objects',
    '/preempt',
    JSON.stringify({ Pod: pod, NodeNameToMetaVictims: { n: { Pods: [1] } } }),
    '400 n: must be an object',
  ],
  ['a pod without a name', '/bind', '{"PodNamespace":"d"}', '400 PodName: must be a non-empty string'],
  [
    'an unknown path',
    '/filters',
    '{}',
    '404 unknown path /filters; must be one of /filter, /prioritize, /preempt, /bind, /healthz',
  ],
  ['a property name of JavaScript objects', '/__proto__', '{}', /^404 /],
];

describe('an invalid request gets a response that names the problem:', () => {
  test.each(invalidRequests)('%s', async (_, path, body, expected) => {
    await using fixture = await ExtenderFixture.start();
    const answer = statusLine(await fixture.send(path, body));
    if (typeof expected === 'string') expect(answer).toBe(expected);
    else expect(answer).toMatch(expected);
  });

  test('a body that is too large', async () => {
    await using fixture = await ExtenderFixture.start();
    const answer = await fixture.send('/filter', ' '.repeat(64 * 1024 * 1024 + 1));
    expect(statusLine(answer)).toBe('413 the body is too large: must be at most 67108864 bytes');
  });

  test('another HTTP method', async () => {
    await using fixture = await ExtenderFixture.start();
    expect(statusLine(await fixture.send('/filter', '', { method: 'GET' }))).toBe(
      '405 /filter: the method must be POST, not GET',
    );
  });
});

test.each(['/healthz', '/livez', '/readyz'])('%s needs no client certificate', async (path) => {
  await using fixture = await ExtenderFixture.start();
  expect(statusLine(await fixture.send(path, '', { method: 'GET', isAnonymous: true }))).toBe('200 ok');
});

describe('authorization', () => {
  const args = { Pod: pod, NodeNames: [] };

  test('with a client authority, every request needs a certificate signed by it', async () => {
    await using fixture = await ExtenderFixture.start();
    expect((await fixture.post('/filter', args)).status).toBe(200);
    for (const path of ['/filter', '/prioritize', '/preempt', '/bind'])
      expect(statusLine(await fixture.post(path, args, { isAnonymous: true }))).toMatch(
        /^403 a client certificate signed by the configured authority is required: /,
      );
  });

  test('without a client authority, every request but /bind is allowed', async () => {
    await using fixture = await ExtenderFixture.start({ isOpen: true });
    expect((await fixture.post('/filter', args, { isAnonymous: true })).status).toBe(200);
    expect(statusLine(await fixture.post('/bind', args))).toBe(
      '403 /bind requires client certificates; start the extender with --client-ca',
    );
  });
});

const oddPods: readonly (readonly [name: string, rest: object])[] = [
  ['no spec', { spec: null }],
  ['a string as spec', { spec: 'x' }],
  ['volumes that are not an array', { spec: { volumes: {} } }],
  [
    'volumes that are null or empty',
    { spec: { volumes: [null, 1, {}, { persistentVolumeClaim: null }, { csi: 1 }] } },
  ],
  ['containers that are a string', { spec: { containers: 'x', initContainers: [null] } }],
  ['a status that is a number', { status: 5 }],
  ['conditions that are not an array', { status: { conditions: 'x' } }],
  ['conditions that are null or numbers', { status: { conditions: [null, 1] } }],
  [
    'labels that are an array',
    { metadata: { ...pod.metadata, labels: [1], annotations: 'x', ownerReferences: 1 } },
  ],
];

describe('a pod with fields that no API server would store still gets an answer:', () => {
  // At the same time: each of the three requests waits a second for the pod, which is in no cluster.
  test.concurrent.each(oddPods)('%s', async (_, rest) => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1');
    const args = { Pod: { ...pod, ...rest }, NodeNames: ['n1'] };
    for (const path of ['/filter', '/prioritize']) expect((await fixture.post(path, args)).status).toBe(200);
    const victims = { NodeNameToMetaVictims: { n1: { Pods: [], NumPDBViolations: 'x' } } };
    expect((await fixture.post('/preempt', { ...args, ...victims })).status).toBe(200);
  });
});
