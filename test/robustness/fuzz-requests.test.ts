import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedServer, attackedServer } from './testing/attacked-server.ts';
import { expectHealthy } from './testing/expect-healthy.ts';
import { responseProblem } from './testing/response-problem.ts';
import { collectionPath, sampleObjects } from './testing/sample-objects.ts';
import { inheritedNames } from './testing/typed-objects.ts';

let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await attackedServer();
});
afterAll(async () => await attacked.close());

const kinds = [...new Set(sampleObjects().map(({ kind }) => kind))];
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Segments of paths: valid ones, and ones that try to escape from the API. */
const segments = [
  ...['api', 'apis', 'v1', 'apps', 'storage.k8s.io', 'namespaces', 'default', 'pods', 'configmaps', 'watch'],
  ...[
    'nodes',
    'x',
    'status',
    'scale',
    'binding',
    'eviction',
    'finalize',
    'log',
    'exec',
    'proxy',
    'ephemeralcontainers',
  ],
  ...['healthz', 'livez', 'readyz', 'ping', 'openapi', 'v2', 'v3', 'version', 'metrics', 'debug', 'pprof'],
  ...[
    '',
    '.',
    '..',
    '%2e%2e',
    '%2E',
    '%2f',
    '%2F..%2f',
    '%00',
    '%',
    '%zz',
    '%c0%af',
    '%ff',
    '%25',
    '%252e%252e',
  ],
  ...['..;', '*', '~', '\\', '@', ':', 'a'.repeat(300), '%F0%9F%98%80', 'ü', 'A', 'constructor', '__proto__'],
  ...[
    'toString',
    'hasOwnProperty',
    'authentication.k8s.io',
    'authorization.k8s.io',
    'selfsubjectaccessreviews',
  ],
];
const path = fc
  .array(fc.constantFrom(...segments), { minLength: 0, maxLength: 7 })
  // Node sends only Latin letters, as other clients do; others are escaped.
  .map((parts) => `/${parts.join('/')}`.replaceAll('ü', '%C3%BC'));
const knownPath = fc
  .tuple(fc.constantFrom(...kinds), fc.array(fc.constantFrom(...segments), { maxLength: 3 }))
  .map(([kind, parts]) => [collectionPath(kind), ...parts].join('/').replaceAll('ü', '%C3%BC'));
const methods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'REPORT',
];

test('unknown and malicious paths get the same kind of response as from a real server', async () => {
  const request = fc.tuple(fc.oneof(path, knownPath), fc.constantFrom(...methods));
  await fc.assert(
    fc.asyncProperty(request, async ([path, method]) => {
      // Without a timeout, a watch of a collection would not end.
      const reply = await attacked.call(method, `${path}?timeoutSeconds=1&dryRun=All`);
      expect(method === 'HEAD' ? undefined : responseProblem(reply), `${method} ${path}`).toBeUndefined();
      expect(attacked.bugs).toEqual([]);
    }),
    { numRuns: 1_500 },
  );
  await expectHealthy(attacked);
});

test('a path of many thousand characters gets a response, or is rejected by HTTP', async () => {
  for (const length of [2_000, 20_000, 60_000]) {
    const { status } = await attacked.call('GET', `${configMaps}/${'a'.repeat(length)}`);
    expect([400, 404, 414, 431]).toContain(status);
  }
  await expectHealthy(attacked);
});

const numbers = [
  '',
  '0',
  '1',
  '-1',
  '2',
  '+3',
  '1e3',
  '0x10',
  ' 1',
  '99999999999999999999',
  '9223372036854775807',
  'x',
  'NaN',
  '1.5',
];
const versions = [...numbers, '18446744073709551615', '9007199254740993', '00', '5'];
const selectors = [
  '',
  'a',
  '!a',
  'a=b',
  'a==b,c!=d',
  'a in (b,c)',
  'a notin ()',
  'a in (',
  ',',
  '=',
  'a=b=c',
  'a>1',
  'metadata.name=x',
  'metadata.name!=x',
  'spec.x=1',
  'metadata.name==x,metadata.namespace=default',
  'a\\,b=c',
  'ü=1',
  `${'a'.repeat(300)}=b`,
  '__proto__=x',
  'constructor',
  '(',
  'a in (a,,b)',
  '\u0000',
  'x'.repeat(5_000),
];
const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokens = [
  '',
  'x',
  'e30',
  token(null),
  token([]),
  token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a\u0000' }),
  token({ v: 'meta.k8s.io/v1', rv: 4, start: 'default/a\u0000' }),
  token({ v: 'meta.k8s.io/v1', rv: -1, start: '../../x\u0000' }),
  token({ v: 'meta.k8s.io/v1', rv: -7, start: 'x' }),
  token({ v: 'meta.k8s.io/v1', rv: 0, start: 'x' }),
  token({ v: 'meta.k8s.io/v1', rv: 1_000_000, start: 'x' }),
  token({ v: 'meta.k8s.io/v1', rv: 2 ** 53, start: 'x' }),
  token({ v: 'meta.k8s.io/v1', rv: 1.5, start: 'x' }),
  token({ v: 'meta.k8s.io/v1', rv: '1', start: 5 }),
  token({ v: 'meta.k8s.io/v2', rv: 1, start: 'x' }),
];
const bools = ['', 'true', 'false', '1', '0', 'x', 'TRUE'];
const values: Readonly<Record<string, readonly string[]>> = {
  limit: numbers,
  continue: tokens,
  resourceVersion: versions,
  resourceVersionMatch: ['', 'Exact', 'NotOlderThan', 'exact', 'x', 'constructor'],
  labelSelector: selectors,
  fieldSelector: selectors,
  watch: bools,
  allowWatchBookmarks: bools,
  sendInitialEvents: bools,
  pretty: bools,
  includeObject: ['', 'None', 'Metadata', 'Object', 'x'],
  dryRun: ['All', '', 'x'],
  fieldValidation: ['', 'Strict', 'Warn', 'Ignore', 'x', 'constructor'],
  fieldManager: ['', 'x', 'a'.repeat(200), '\u0000', 'ü', '😀'.repeat(40)],
  force: bools,
  gracePeriodSeconds: numbers,
  propagationPolicy: ['', 'Orphan', 'Background', 'Foreground', 'x', 'constructor'],
  orphanDependents: bools,
  nothing: inheritedNames,
};
const everyOption = Object.entries(values).flatMap(([name, all]) =>
  all.map((value) => [name, value] as const),
);
/** Few options at a time: with many, one invalid option would hide the others. */
const listOptions = fc.uniqueArray(fc.constantFrom(...everyOption), {
  selector: ([name]) => name,
  maxLength: 3,
});

test('query parameters with random values, in any combination, are accepted or rejected', async () => {
  const what = fc.tuple(
    fc.constantFrom(...kinds),
    fc.constantFrom('GET', 'GET', 'GET', 'DELETE', 'PUT', 'POST'),
    fc.boolean(),
  );
  await fc.assert(
    fc.asyncProperty(what, listOptions, async ([kind, method, isNamed], options) => {
      const query = new URLSearchParams(Object.fromEntries(options));
      query.set('timeoutSeconds', '1');
      // Deleting everything would leave nothing for later requests.
      if (method === 'DELETE' && !isNamed) query.set('labelSelector', 'none=such');
      const target = `${collectionPath(kind)}${isNamed ? '/x' : ''}?${query}`;
      const isWatch = method === 'GET' && !isNamed && !['false', '0', null].includes(query.get('watch'));
      if (isWatch) await attacked.firstLine(`${target}&timeoutSeconds=1`);
      else
        expect(responseProblem(await attacked.call(method, target)), `${method} ${target}`).toBeUndefined();
      expect(attacked.bugs).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
  await expectHealthy(attacked);
});

test('headers with random values are accepted or ignored', async () => {
  const accepts = [
    '',
    '*/*',
    'x',
    ',',
    ';;;',
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'application/json;as=constructor;g=meta.k8s.io;v=v1',
    'application/yaml',
    'text/html',
    'application/json;q=NaN',
    'application/vnd.kubernetes.protobuf',
    'application/json;stream=watch',
    'application/cbor',
    'a/b/c',
    `${'a/b,'.repeat(1_000)}*/*`,
  ];
  const header = fc.record(
    {
      accept: fc.constantFrom(...accepts),
      'accept-encoding': fc.constantFrom('gzip', 'gzip;q=0', 'x', 'identity', '*', ''),
      'content-type': fc.constantFrom(...accepts),
      'user-agent': fc.constantFrom('', 'curl', 'kubectl/v1', '/', '\u00ff'.repeat(300), 'Mozilla/5.0'),
      'content-encoding': fc.constantFrom('gzip', 'x'),
      'if-none-match': fc.constantFrom('*', '"x"', ''),
      range: fc.constantFrom('bytes=0-1', 'x'),
      expect: fc.constantFrom('100-continue'),
      origin: fc.constantFrom('https://elsewhere.example', 'null'),
      'x-forwarded-for': fc.constantFrom('127.0.0.1'),
      'x-http-method-override': fc.constantFrom('DELETE'),
      'x-remote-user': fc.constantFrom('system:admin'),
      cookie: fc.constantFrom('a=b', ''),
      te: fc.constantFrom('trailers'),
    },
    { requiredKeys: [] },
  );
  const targets = [
    configMaps,
    `${configMaps}/x`,
    '/api',
    '/apis',
    '/apis/apps/v1',
    '/version',
    '/openapi/v3',
    '/healthz',
    '/none',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...targets),
      fc.constantFrom('GET', 'POST', 'DELETE'),
      header,
      async (target, method, headers) => {
        const { status: _s, ...rest } = { status: 0, ...headers };
        const body = method === 'POST' ? '{"metadata":{"name":"x"}}' : undefined;
        const path = method === 'DELETE' ? `${target}?labelSelector=none%3Dsuch&dryRun=All` : target;
        const reply = await attacked.call(method, path, {
          headers: rest as Record<string, string>,
          ...(body && { body }),
        });
        expect(responseProblem(reply), `${method} ${path} ${JSON.stringify(headers)}`).toBeUndefined();
        expect(attacked.bugs).toEqual([]);
      },
    ),
    { numRuns: 400 },
  );
  await expectHealthy(attacked);
});
