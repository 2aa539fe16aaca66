import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiVersionOf } from '../../kube/resource.ts';
import { AccessFixture } from '../access/testing/access-fixture.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { reviewKinds } from './routing/review-kinds.ts';
import { subresourceVerbs } from './routing/verbs.ts';
import { servedKinds } from './testing/served-cluster.ts';

let fixture: AccessFixture;
let token = '';

beforeAll(async () => {
  fixture = await AccessFixture.start();
  token = await fixture.token('unprivileged');
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** What every authenticated user may request. */
const free = new Set([
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
  '/apis/authentication.k8s.io/v1/selfsubjectreviews',
]);

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

const routes = [
  ...servedKinds.flatMap(resourcePathsOf),
  ...reviewKinds.map((kind) =>
    pathOf(kind, kind.namespaced ? `namespaces/default/${kind.plural}` : kind.plural),
  ),
  '/metrics',
  '/nowhere',
  '/api/v2/pods',
  '/apis/nothing.example/v1/things',
  '/api/v1/namespaces/default/nothings/x/y/z',
];

/** Collections, objects and all subresources, in a namespace and across namespaces, and the legacy watch paths. */
function resourcePathsOf(kind: ServedKind): readonly string[] {
  const { plural, namespaced } = kind;
  const collection = namespaced ? `namespaces/default/${plural}` : plural;
  const parts = ['status', 'scale', ...(kind.subresources ?? []).map(({ name }) => name)];
  const served = parts.filter((part) => subresourceVerbs(kind, part).length > 0);
  return [
    ...(namespaced ? [plural, `watch/${plural}`] : []),
    collection,
    `${collection}/`,
    `${collection}?watch=true`,
    `${collection}?fieldSelector=metadata.name%3Dx`,
    `watch/${collection}`,
    `watch/${collection}/x`,
    `${collection}/x`,
    ...served.map((part) => `${collection}/x/${part}`),
  ].map((path) => pathOf(kind, path));
}

function pathOf(kind: { readonly group: string; readonly version: string }, rest: string): string {
  return `${kind.group === '' ? '/api' : '/apis'}/${apiVersionOf(kind)}/${rest}`;
}

async function statuses(path: string, given: string | undefined): Promise<readonly string[]> {
  const replies = methods.map(async (method) => {
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: {} } : {};
    return `${method} ${(await fixture.as(given, method, path, body)).status}`;
  });
  return await Promise.all(replies);
}

const all = (status: number) => methods.map((method) => `${method} ${status}`);

test('there are many routes', () => {
  expect(routes.length).toBeGreaterThan(300);
});

describe('a user without permissions', () => {
  test.each(routes)('is refused at %s', async (path) => {
    const expected = all(403).map((text) =>
      free.has(path) && text === 'POST 403' ? expect.not.stringMatching('40[13]') : text,
    );
    expect(await statuses(path, token)).toEqual(expected);
  });
});

describe('without a token, and with a wrong one', () => {
  test.each([
    ...routes,
    '/',
    '/api',
    '/apis',
    '/api/v1',
    '/openapi/v2',
    '/openapi/v3',
    '/openid/v1/jwks',
    '/.well-known/openid-configuration',
  ])('%s is unauthorized', async (path) => {
    expect(await statuses(path, undefined)).toEqual(all(401));
    expect((await fixture.as('wrong', 'GET', path)).status).toBe(401);
  });

  test.each(['/healthz', '/livez', '/readyz', '/version'])(
    '%s answers, but not to a wrong one',
    async (path) => {
      expect((await fixture.as(undefined, 'GET', path)).status).toBe(200);
      expect((await fixture.as('wrong', 'GET', path)).status).toBe(401);
      const headers = { 'impersonate-user': 'stowage-admin', 'impersonate-group': 'system:masters' };
      expect((await fixture.as(undefined, 'GET', path, { headers })).status).toBe(403);
    },
  );
});

test('the router and the access layer agree on every path', () => {
  expect(fixture.cluster.errors).toEqual([]);
});
