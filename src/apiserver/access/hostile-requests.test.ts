import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessFixture } from './testing/access-fixture.ts';

let fixture: AccessFixture;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

const secrets = '/api/v1/namespaces/default/secrets';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

describe('a user who may watch one object by name', () => {
  let token = '';

  beforeAll(async () => {
    for (const name of ['own', 'foreign']) await fixture.admin('POST', secrets, { metadata: { name } });
    token = await fixture.token('watcher');
    const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['watch'], resourceNames: ['own'] };
    await fixture.allow('watcher', rule);
  });

  async function seen(name: string, query: string): Promise<readonly string[]> {
    const path = `/api/v1/watch/namespaces/default/secrets/${name}?timeoutSeconds=1&${query}`;
    const { status, text } = await fixture.as(token, 'GET', path);
    if (status !== 200) return [String(status)];
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map(
      (line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name,
    );
  }

  test.each([
    ['nothing', ''],
    ['its name', 'fieldSelector=metadata.name%3Down'],
    ['its name and more', 'fieldSelector=metadata.name%3Down,metadata.namespace%3Ddefault'],
  ])('sees it with the selector %s', async (_, query) => {
    expect(await seen('own', query)).toEqual(['own']);
  });

  test.each([
    ['with an escape at the end', 'metadata.name!=x\\'],
    ['of all but one', 'metadata.name!=x'],
    ['of another one', 'metadata.name=foreign'],
    ['that can not be read', 'metadata.name'],
  ])('sees nothing else with the selector %s', async (_, selector) => {
    expect(await seen('own', `fieldSelector=${encodeURIComponent(selector)}`)).toEqual(['400']);
  });

  test('sees nothing else with a name that looks like a selector', async () => {
    expect(await seen('own,metadata.name!=x', '')).toEqual(['403']);
  });
});

test('a name in a legacy watch path is never parsed as a selector', async () => {
  const path = '/api/v1/watch/namespaces/default/secrets/own%2Cmetadata.name=own?timeoutSeconds=1';
  expect(await fixture.cluster.call('GET', path)).toMatchObject({ status: 200, text: '' });
});

test('no impersonation header is dropped among many headers', async () => {
  const padding = Object.fromEntries(Array.from({ length: 2500 }, (_, index) => [`a${index}`, '']));
  const headers = { ...padding, 'impersonate-user': 'unprivileged' };
  const answer = await fixture.cluster.call('GET', secrets, { headers });
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('User \\"unprivileged\\" cannot list');
});

describe('a role whose rules expand beyond the limit', () => {
  const many = (prefix: string) => Array.from({ length: 300 }, (_, index) => `${prefix}${index}`);
  const huge = {
    apiGroups: ['', ...many('g')],
    resources: ['pods', ...many('r')],
    verbs: ['get', ...many('v')],
    resourceNames: many('n'),
  };
  const write = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] };
  const roles = `${rbac}/namespaces/default/roles`;

  test('is refused to a user without its permissions, without expanding the rules', async () => {
    const token = await fixture.token('lister');
    await fixture.allow('lister', write);
    const answer = await fixture.as(token, 'POST', roles, {
      body: { metadata: { name: 'huge' }, rules: [huge] },
    });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('not currently held');
  });

  test('is accepted from a user who holds the permissions', async () => {
    const token = await fixture.token('holder');
    await fixture.allow('holder', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] });
    const answer = await fixture.as(token, 'POST', roles, {
      body: { metadata: { name: 'huge' }, rules: [huge] },
    });
    expect(answer.status).toBe(201);
  });
});

test.each(['!', 'a,', '(', 'a=b,'])(
  'a review with megabytes of %s in its selectors is answered without parsing them',
  async (part) => {
    const rawSelector = part.repeat(1_400_000 / part.length);
    const selectors = { fieldSelector: { rawSelector }, labelSelector: { rawSelector } };
    const body = { spec: { resourceAttributes: { verb: 'get', resource: 'pods', ...selectors } } };
    const token = await fixture.token('unprivileged');
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const answer = await fixture.as(token, 'POST', path, { body });
    const field = 'spec.resourceAttributes';
    const evaluationError = `${field}.fieldSelector ignored due to parse error; ${field}.labelSelector ignored due to parse error`;
    expect(answer.json().status).toEqual({ allowed: false, evaluationError });
  },
);

test('no request caused an unexpected exception', () => {
  expect(fixture.cluster.errors).toEqual([]);
});
