import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessFixture } from './testing/access-fixture.ts';

/** test/fidelity has kube-apiserver's recorded responses; these cases need rules that its scenarios do not create. */

let fixture: AccessFixture;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const selfReview = { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] };

interface Case {
  readonly name: string;
  readonly rules: readonly object[];
  readonly headers: Readonly<Record<string, string>>;
  readonly groups: readonly string[] | undefined;
}

function identity(mode: string, resource: string, more: object = {}): object {
  return {
    apiGroups: ['authentication.k8s.io'],
    resources: [resource],
    verbs: [`impersonate:${mode}`],
    ...more,
  };
}

function on(mode: string): object {
  return { ...selfReview, verbs: [`impersonate-on:${mode}:create`] };
}

const node = { 'impersonate-user': 'system:node:n1' };
const account = { 'impersonate-user': 'system:serviceaccount:a:b' };
const bob = { 'impersonate-user': 'bob' };

describe('impersonation of', () => {
  test.each<Case>([
    {
      name: 'a node by name, for the allowed verb',
      rules: [identity('arbitrary-node', 'nodes', { resourceNames: ['n1'] }), on('arbitrary-node')],
      headers: node,
      groups: ['system:nodes', 'system:authenticated'],
    },
    {
      name: 'a node for another verb is refused',
      rules: [identity('arbitrary-node', 'nodes')],
      headers: node,
      groups: undefined,
    },
    {
      name: 'another node is refused',
      rules: [identity('arbitrary-node', 'nodes', { resourceNames: ['n2'] }), on('arbitrary-node')],
      headers: node,
      groups: undefined,
    },
    {
      name: 'a node by the permission for the associated node is refused',
      rules: [identity('associated-node', 'nodes'), on('associated-node')],
      headers: node,
      groups: undefined,
    },
    {
      name: 'an account',
      rules: [identity('serviceaccount', 'serviceaccounts'), on('serviceaccount')],
      headers: account,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    },
    {
      name: 'a user with a group',
      rules: [identity('user-info', 'users'), identity('user-info', 'groups'), on('user-info')],
      headers: { ...bob, 'impersonate-group': 'g' },
      groups: ['g', 'system:authenticated'],
    },
    {
      name: 'system:masters is refused, whatever groups are allowed',
      rules: [identity('user-info', 'users'), identity('user-info', 'groups'), on('user-info')],
      headers: { ...bob, 'impersonate-group': 'system:masters' },
      groups: undefined,
    },
    {
      name: 'a user with an invalid extra key is refused',
      rules: [identity('user-info', 'users'), identity('user-info', 'userextras/*'), on('user-info')],
      headers: { ...bob, 'impersonate-extra-plain': 'x' },
      groups: undefined,
    },
    {
      name: 'a user in the legacy mode, for any verb',
      rules: [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }],
      headers: { ...bob, 'impersonate-group': 'g' },
      groups: ['g', 'system:authenticated'],
    },
    {
      name: 'a user with an unexpected extra key is refused',
      rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }],
      headers: { ...bob, 'impersonate-extra-__proto__': 'x' },
      groups: undefined,
    },
    {
      name: 'a user in the legacy mode by a permission of the new modes is refused',
      rules: [identity('user-info', 'users'), on('serviceaccount')],
      headers: bob,
      groups: undefined,
    },
  ])('$name', async ({ name, rules, headers, groups }) => {
    const who = `r-${name.replaceAll(/\W+/g, '-')}`;
    const token = await fixture.token(who);
    await fixture.admin('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: who },
      rules,
    });
    await fixture.admin('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: who },
      roleRef: { kind: 'ClusterRole', name: who },
      subjects: [{ kind: 'ServiceAccount', name: who, namespace: 'default' }],
    });
    const reply = await fixture.as(token, 'POST', self, { body: {}, headers });
    if (groups === undefined) expect(reply.status).toBe(403);
    else
      expect(reply.json()).toMatchObject({
        status: { userInfo: { username: headers['impersonate-user'], groups } },
      });
  });

  test('an account may impersonate its own node by a permission that names no node', async () => {
    await fixture.admin('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    const token = await fixture.token('agent', {
      boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' },
    });
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [identity('associated-node', 'nodes'), on('associated-node')];
    await fixture.admin('POST', `${rbac}/clusterroles`, { metadata: { name: 'agent' }, rules });
    await fixture.admin('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'agent' },
      roleRef: { kind: 'ClusterRole', name: 'agent' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }],
    });
    const own = await fixture.as(token, 'POST', self, { body: {}, headers: node });
    expect(own.json()).toMatchObject({ status: { userInfo: { username: 'system:node:n1' } } });
    const headers = { 'impersonate-user': 'system:node:n2' };
    expect((await fixture.as(token, 'POST', self, { body: {}, headers })).status).toBe(403);
  });
});

test('a repeated header names two groups, and a comma does not separate groups', async () => {
  const reply = await fixture.cluster.call('POST', self, {
    body: {},
    headers: { 'impersonate-user': 'bob', 'impersonate-group': 'a, b' },
  });
  expect(reply.json()).toMatchObject({ status: { userInfo: { groups: ['a, b', 'system:authenticated'] } } });
});
