import { describe, expect, test } from 'vitest';
import { type Answer, ExtenderFixture, namespace } from './testing/extender-fixture.ts';

const pod = { metadata: { namespace, name: 'p', uid: 'u' } };

function said({ status, text }: Answer): string {
  return `${status} ${text.trim()}`;
}

const bad: readonly (readonly [name: string, path: string, body: string, said: string | RegExp])[] = [
  ['no JSON', '/filter', '{', /^400 the body is no JSON: /],
  ['a list', '/filter', '[]', '400 the body: must be an object'],
  ['nothing', '/filter', '', /^400 the body is no JSON: /],
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
    'names that are none',
    '/prioritize',
    JSON.stringify({ Pod: pod, NodeNames: [1] }),
    /^400 NodeNames: must be a text/,
  ],
  [
    'nodes that are none',
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
    'victims that are none',
    '/preempt',
    JSON.stringify({ Pod: pod, NodeNameToMetaVictims: { n: { Pods: [1] } } }),
    '400 n: must be an object',
  ],
  ['a pod without a name', '/bind', '{"PodNamespace":"d"}', '400 PodName: must be a text that is not empty'],
  [
    'an unknown path',
    '/filters',
    '{}',
    '404 there is no /filters; there are /filter, /prioritize, /preempt, /bind, /healthz',
  ],
  ['a path of JavaScript', '/__proto__', '{}', /^404 /],
];

describe('a request that makes no sense is told so:', () => {
  test.each(bad)('%s', async (_, path, body, expected) => {
    await using fixture = await ExtenderFixture.start();
    const answer = said(await fixture.send(path, body));
    if (typeof expected === 'string') expect(answer).toBe(expected);
    else expect(answer).toMatch(expected);
  });

  test('one that is too large', async () => {
    await using fixture = await ExtenderFixture.start();
    const answer = await fixture.send('/filter', ' '.repeat(64 * 1024 * 1024 + 1));
    expect(said(answer)).toBe('413 the body is too large: at most 67108864 bytes are taken');
  });

  test('another method', async () => {
    await using fixture = await ExtenderFixture.start();
    expect(said(await fixture.send('/filter', '', { method: 'GET' }))).toBe(
      '405 /filter takes POST, not GET',
    );
  });
});

test.each(['/healthz', '/livez', '/readyz'])('%s answers anybody', async (path) => {
  await using fixture = await ExtenderFixture.start();
  expect(said(await fixture.send(path, '', { method: 'GET', isNobody: true }))).toBe('200 ok');
});

describe('who may ask', () => {
  const args = { Pod: pod, NodeNames: [] };

  test('with an authority, only those that have a certificate of it', async () => {
    await using fixture = await ExtenderFixture.start();
    expect((await fixture.ask('/filter', args)).status).toBe(200);
    for (const path of ['/filter', '/prioritize', '/preempt', '/bind'])
      expect(said(await fixture.ask(path, args, { isNobody: true }))).toMatch(
        /^403 a client certificate of the configured authority is needed: /,
      );
  });

  test('without one, everybody; but nobody may bind', async () => {
    await using fixture = await ExtenderFixture.start({ isOpen: true });
    expect((await fixture.ask('/filter', args, { isNobody: true })).status).toBe(200);
    expect(said(await fixture.ask('/bind', args))).toBe(
      '403 /bind needs callers to prove themselves; start the extender with --client-ca',
    );
  });
});

const odd: readonly (readonly [name: string, rest: object])[] = [
  ['no spec', { spec: null }],
  ['a text for a spec', { spec: 'x' }],
  ['volumes that are no list', { spec: { volumes: {} } }],
  [
    'volumes that are nothing',
    { spec: { volumes: [null, 1, {}, { persistentVolumeClaim: null }, { csi: 1 }] } },
  ],
  ['containers that are a text', { spec: { containers: 'x', initContainers: [null] } }],
  ['a status that is a number', { status: 5 }],
  ['conditions that are no list', { status: { conditions: 'x' } }],
  ['conditions that are nothing', { status: { conditions: [null, 1] } }],
  [
    'labels that are a list',
    { metadata: { ...pod.metadata, labels: [1], annotations: 'x', ownerReferences: 1 } },
  ],
];

describe('a pod with parts that no API server would store is answered all the same:', () => {
  test.each(odd)('%s', async (_, rest) => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1');
    const args = { Pod: { ...pod, ...rest }, NodeNames: ['n1'] };
    for (const path of ['/filter', '/prioritize']) expect((await fixture.ask(path, args)).status).toBe(200);
    const victims = { NodeNameToMetaVictims: { n1: { Pods: [], NumPDBViolations: 'x' } } };
    expect((await fixture.ask('/preempt', { ...args, ...victims })).status).toBe(200);
  });
});
