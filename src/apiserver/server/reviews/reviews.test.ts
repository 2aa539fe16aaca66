import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapPolicy } from '../../access/bootstrap-policy.ts';
import { bootstrap } from '../../registry/bootstrap.ts';
import { type ServedCluster, serveCluster } from '../testing/served-cluster.ts';

let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
  await bootstrap(cluster.registry);
  await bootstrapPolicy(cluster.registry);
});

afterAll(async () => {
  await cluster.close();
});

const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';
const pods = { verb: 'get', resource: 'pods' };
const admin = { username: 'stowage-admin', groups: ['system:masters', 'system:authenticated'] };

describe('a review', () => {
  test.each([
    ['selfsubjectaccessreviews', { resourceAttributes: pods }, { allowed: true }],
    ['selfsubjectaccessreviews', { nonResourceAttributes: { path: '/x', verb: 'get' } }, { allowed: true }],
    ['subjectaccessreviews', { user: 'bob', resourceAttributes: pods }, { allowed: false }],
    ['subjectaccessreviews', { groups: ['system:masters'], resourceAttributes: pods }, { allowed: true }],
    [
      'namespaces/a/localsubjectaccessreviews',
      { user: 'bob', resourceAttributes: { ...pods, namespace: 'a' } },
      { allowed: false },
    ],
    [
      'selfsubjectrulesreviews',
      { namespace: 'a' },
      {
        resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
        nonResourceRules: expect.arrayContaining([{ verbs: ['*'], nonResourceURLs: ['*'] }]),
        incomplete: false,
      },
    ],
  ])('%s of %j returns %j', async (resource, spec, status) => {
    const reply = await cluster.call('POST', `${authorization}/${resource}`, { body: { spec } });
    expect(reply.status).toBe(201);
    expect(reply.json()).toMatchObject({ apiVersion: 'authorization.k8s.io/v1', status });
  });

  test('of the caller returns the user', async () => {
    const reply = await cluster.call('POST', `${authentication}/selfsubjectreviews`, { body: {} });
    expect(reply.status).toBe(201);
    expect(reply.json()).toMatchObject({ kind: 'SelfSubjectReview', status: { userInfo: admin } });
  });

  test('of a token returns its user', async () => {
    const review = async (spec: object) =>
      (await cluster.call('POST', `${authentication}/tokenreviews`, { body: { spec } })).json().status;
    const { token } = cluster.credentials;
    const known = { authenticated: true, user: admin, audiences: ['https://kubernetes.default.svc'] };
    expect(await review({ token })).toEqual(known);
    expect(await review({ token: 'nope' })).toEqual({ user: {}, error: 'invalid bearer token' });
    expect(await review({ token, audiences: ['other'] })).toEqual({
      user: {},
      error: 'invalid bearer token',
    });
  });

  test.each([
    [
      `${authorization}/selfsubjectaccessreviews`,
      {},
      422,
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      `${authorization}/selfsubjectaccessreviews`,
      { resourceAttributes: pods, nonResourceAttributes: { path: '/x', verb: 'get' } },
      422,
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      `${authorization}/subjectaccessreviews`,
      { resourceAttributes: pods },
      422,
      '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      `${authorization}/namespaces/a/localsubjectaccessreviews`,
      { user: 'bob', resourceAttributes: { ...pods, namespace: 'b' } },
      422,
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "b": must match metadata.namespace',
    ],
    [`${authorization}/selfsubjectrulesreviews`, {}, 400, 'no namespace on request'],
    [`${authentication}/tokenreviews`, {}, 400, 'token is required for TokenReview in authentication'],
  ])('at %s of %j is refused with %i', async (path, spec, code, message) => {
    const reply = await cluster.call('POST', path, { body: { spec } });
    expect(reply.json()).toMatchObject({ code, message });
  });

  test('cannot be read, nor shown as a table', async () => {
    const path = `${authorization}/selfsubjectaccessreviews`;
    expect((await cluster.call('GET', path)).status).toBe(405);
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const body = { spec: { resourceAttributes: pods } };
    expect((await cluster.call('POST', path, { body, headers })).status).toBe(406);
  });
});
