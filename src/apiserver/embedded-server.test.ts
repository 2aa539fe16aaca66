import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { systemRandom } from '../runtime/random.ts';
import { EmbeddedServer } from './embedded-server.ts';

let server: EmbeddedServer;
let agent: Agent;
const errors: unknown[] = [];

beforeAll(async () => {
  const onError = (error: unknown) => void errors.push(error);
  server = await EmbeddedServer.start({ clock: realClock, ids: systemIds, random: systemRandom, onError });
  agent = new Agent({ keepAlive: true, ca: server.certificate });
});
afterAll(async () => {
  agent.destroy();
  await server.close();
  expect(errors).toEqual([]);
});

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** `body` is sent as it is: JSON.stringify knows no 64-bit integers. */
function call(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { users } = parse(server.kubeconfig) as { users: { user: { token: string } }[] };
  const authorization = `Bearer ${users[0]?.user.token}`;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { authorization, ...type, ...headers } };
    const sent = request(new URL(path, server.url), options, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.on('error', reject).end(body);
  });
}

describe('64-bit integers of custom resources stay exact', () => {
  const large = '9007199254740993';
  const largest = '9223372036854775807';
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';

  beforeAll(async () => {
    const value = { type: 'integer', format: 'int64' };
    const properties = {
      limited: { ...value, minimum: 0, maximum: 9007199254740992 },
      ruled: { ...value, 'x-kubernetes-validations': [{ rule: 'self % 2 == 1', message: 'must be odd' }] },
      value,
    };
    const spec = { type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true };
    const openAPIV3Schema = { type: 'object', properties: { spec } };
    const column = { name: 'Value', type: 'integer', jsonPath: '.spec.value' };
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema },
      additionalPrinterColumns: [column],
    };
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    };
    await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', JSON.stringify(definition));
    await vi.waitFor(async () => expect((await call('GET', widgets)).status).toBe(200), { timeout: 120_000 });
  });

  const widget = (name: string, spec: string) =>
    `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;

  test('when they are created and read, in JSON, YAML, lists, tables and watches', async () => {
    const created = await call('POST', widgets, widget('a', `{"value":${largest},"free":[-${large}]}`));
    expect([created.status, created.text]).toEqual([201, expect.stringContaining(`"value":${largest}`)]);
    const yaml = await call('GET', `${widgets}/a`, undefined, { accept: 'application/yaml' });
    expect(yaml.text).toContain(`value: ${largest}`);
    expect(yaml.text).toContain(`- -${large}`);
    expect((await call('GET', `${widgets}/a?pretty=true`)).text).toContain(`"value": ${largest}`);
    expect((await call('GET', widgets)).text).toContain(`"free":[-${large}]`);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await call('GET', widgets, undefined, { accept })).text).toContain(`"cells":["a",${largest}]`);
    const watched = await call('GET', `${widgets}?watch=true&timeoutSeconds=1`);
    expect(watched.text).toContain(`"value":${largest}`);
  });

  test('in YAML bodies', async () => {
    const body = `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {value: ${large}}\n`;
    const created = await call('POST', widgets, body, { 'content-type': 'application/yaml' });
    expect(created.text).toContain(`"value":${large}`);
  });

  test('in patches of every type, with their field owners', async () => {
    await call('POST', widgets, widget('b', `{"value":${large}}`));
    const merged = await call('PATCH', `${widgets}/b`, `{"spec":{"other":${largest}}}`, {
      'content-type': 'application/merge-patch+json',
    });
    expect(merged.text).toContain(`"other":${largest}`);
    expect(merged.text).toContain(`"value":${large}`);
    const operations = `[{"op":"test","path":"/spec/value","value":${large}},{"op":"copy","from":"/spec/value","path":"/spec/copy"}]`;
    const patched = await call('PATCH', `${widgets}/b`, operations, {
      'content-type': 'application/json-patch+json',
    });
    expect(patched.text).toContain(`"copy":${large}`);
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    const path = `${widgets}/b?fieldManager=m&force=true`;
    const applied = await call('PATCH', path, widget('b', `{"value":${largest}}`), apply);
    expect([applied.status, applied.text]).toEqual([200, expect.stringContaining(`"value":${largest}`)]);
    const other = `${widgets}/b?fieldManager=n`;
    expect((await call('PATCH', other, widget('b', `{"value":${large}}`), apply)).status).toBe(409);
    expect((await call('PATCH', other, widget('b', `{"value":${largest}}`), apply)).status).toBe(200);
  });

  test('in bounds and rules', async () => {
    const limited = await call('POST', widgets, widget('c', `{"limited":${large}}`));
    expect([limited.status, limited.text]).toEqual([
      422,
      expect.stringContaining(
        `Invalid value: ${large}: spec.limited in body should be less than or equal to 9007199254740992`,
      ),
    ]);
    expect((await call('POST', widgets, widget('c', '{"ruled":9007199254740992}'))).text).toContain(
      'must be odd',
    );
    expect((await call('POST', widgets, widget('c', `{"ruled":${large}}`))).status).toBe(201);
  });

  test('beyond 64 bits they are floating-point numbers, which are not integers', async () => {
    const refused = await call('POST', widgets, widget('d', '{"value":9223372036854775808}'));
    expect(refused.status).toBe(422);
    const free = await call('POST', widgets, widget('d', '{"free":100000000000000000000}'));
    expect([free.status, free.text]).toEqual([201, expect.stringContaining('"free":100000000000000000000')]);
  });
});

describe('64-bit integers of built-in kinds stay exact', () => {
  const largest = '9223372036854775807';
  const large = '9007199254740993';
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (name: string, rest: string) =>
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"a","image":"b"}],${rest}}}`;

  test('when they are created and read, in JSON, YAML, lists, tables and watches', async () => {
    const created = await call(
      'POST',
      revisions,
      `{"metadata":{"name":"a"},"data":{},"revision":${largest}}`,
    );
    expect([created.status, created.text]).toEqual([201, expect.stringContaining(`"revision":${largest}`)]);
    const yaml = await call('GET', `${revisions}/a`, undefined, { accept: 'application/yaml' });
    expect(yaml.text).toContain(`revision: ${largest}`);
    expect((await call('GET', revisions)).text).toContain(`"revision":${largest}`);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await call('GET', revisions, undefined, { accept })).text).toContain(`,${largest},`);
    const watched = await call('GET', `${revisions}?watch=true&timeoutSeconds=1`);
    expect(watched.text).toContain(`"revision":${largest}`);
  });

  test('in patches of every type, with their field owners', async () => {
    const path = `${pods}/p`;
    const tolerations = (seconds: string) =>
      `"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}]`;
    const created = await call('POST', pods, pod('p', `"terminationGracePeriodSeconds":${large}`));
    expect([created.status, created.text]).toEqual([
      201,
      expect.stringContaining(`"terminationGracePeriodSeconds":${large}`),
    ]);
    const strategic = await call('PATCH', path, `{"spec":{${tolerations(largest)}}}`, {
      'content-type': 'application/strategic-merge-patch+json',
    });
    expect([strategic.status, strategic.text]).toEqual([200, expect.stringContaining(largest)]);
    const operations = `[{"op":"test","path":"/spec/terminationGracePeriodSeconds","value":${large}},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`;
    const type = { 'content-type': 'application/json-patch+json' };
    expect((await call('PATCH', path, operations, type)).status).toBe(200);
    const refused = await call('PATCH', path, `{"spec":{"terminationGracePeriodSeconds":${largest}}}`, {
      'content-type': 'application/merge-patch+json',
    });
    expect(refused.status).toBe(422);
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    const applied = await call(
      'PATCH',
      `${path}?fieldManager=m&force=true`,
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":${large}}}`,
      apply,
    );
    expect([applied.status, applied.text]).toEqual([
      200,
      expect.stringContaining(`"terminationGracePeriodSeconds":${large}`),
    ]);
  });

  test('in the grace period of a deletion', async () => {
    const placed = pod('q', '"nodeName":"n","terminationGracePeriodSeconds":30');
    expect((await call('POST', pods, placed)).status).toBe(201);
    const deleted = await call('DELETE', `${pods}/q?gracePeriodSeconds=${large}`);
    expect([deleted.status, deleted.text]).toEqual([
      200,
      expect.stringContaining(`"deletionGracePeriodSeconds":${large}`),
    ]);
    for (const shape of ['Table', 'PartialObjectMetadataList', 'PartialObjectMetadata']) {
      const accept = `application/json;as=${shape};v=v1;g=meta.k8s.io`;
      const path = shape === 'PartialObjectMetadata' ? `${pods}/q` : pods;
      expect((await call('GET', path, undefined, { accept })).text).toContain(large);
    }
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const watched = await call('GET', `${pods}?watch=true&timeoutSeconds=1`, undefined, { accept });
    expect(watched.text).toContain(large);
  });

  test('in the status of a definition', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com/status';
    const status = `{"status":{"observedGeneration":${large}}}`;
    const patched = await call('PATCH', path, status, { 'content-type': 'application/merge-patch+json' });
    expect([patched.status, patched.text]).toEqual([
      200,
      expect.stringContaining(`"observedGeneration":${large}`),
    ]);
    expect((await call('GET', '/apis/example.com/v1/namespaces/default/widgets')).status).toBe(200);
  });

  test('beyond 64 bits they are refused', async () => {
    const refused = await call('POST', revisions, '{"metadata":{"name":"b"},"revision":9223372036854775808}');
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('cannot unmarshal number 9223372036854775808'),
    ]);
  });
});

describe('the Service default/kubernetes', () => {
  const endpoints = '/api/v1/namespaces/default/endpoints/kubernetes';
  const slice = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

  test('has Endpoints and an EndpointSlice with the port of the server', async () => {
    const port = Number(new URL(server.url).port);
    expect(JSON.parse((await call('GET', endpoints)).text)).toMatchObject({
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{}], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    });
    expect(JSON.parse((await call('GET', slice)).text)).toMatchObject({
      metadata: { labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [expect.any(String)], conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    });
  });

  test.each([endpoints, slice])('restores a deleted or changed %s', async (path) => {
    const { uid } = JSON.parse((await call('GET', path)).text).metadata;
    await call('DELETE', path);
    const current = async () => JSON.parse((await call('GET', path)).text);
    await expect.poll(async () => (await current()).metadata.uid).not.toBeOneOf([uid, undefined]);
    const patch = { 'content-type': 'application/merge-patch+json' };
    await call('PATCH', path, '{"metadata":{"labels":{"mine":"x"}},"subsets":null,"endpoints":null}', patch);
    await expect.poll(async () => (await call('GET', path)).text).toMatch(/"addresses":\[/);
    expect((await current()).metadata.labels.mine).toBe('x');
  });
});

test.each([
  ['invalid', 'time: invalid duration \\"invalid\\"'],
  ['5', 'time: missing unit in duration \\"5\\"'],
  ['5x', 'time: unknown unit \\"x\\" in duration \\"5x\\"'],
])('the timeout %s is refused', async (timeout, why) => {
  const { status, text } = await call('GET', `/api/v1/namespaces?timeout=${timeout}`);
  const message = `"message":"invalid timeout specified in the request URL - ${why}","reason":"BadRequest"`;
  expect([status, text]).toEqual([400, expect.stringContaining(message)]);
});

test('valid timeouts are accepted', async () => {
  expect((await call('GET', '/api/v1/namespaces?timeout=1m30s')).status).toBe(200);
});

test('programs in the same process get tokens of service accounts that the server accepts', async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await call('POST', accounts, '{"metadata":{"name":"robot"}}');
  const account = { namespace: 'default', name: 'robot' };
  const { token = '' } = await server.issueToken(account, { expirationSeconds: 600n });
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = await call('POST', path, '{}', { authorization: `Bearer ${token}` });
  expect(review.text).toContain('"username":"system:serviceaccount:default:robot"');
  const other = await server.issueToken(account, { audiences: ['vault'] });
  const refused = await call('GET', accounts, undefined, { authorization: `Bearer ${other.token}` });
  expect(refused.status, 'a token for another audience').toBe(401);
});
