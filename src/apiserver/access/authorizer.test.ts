import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterRole, ClusterRoleBinding } from '../../kube/api/stored/rbac.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { RegistryFixture } from '../registry/testing/registry-fixture.ts';
import type { ResourceAttributes } from './attributes.ts';
import { Authorizer } from './authorizer.ts';
import { RuleIndex } from './rule-index.ts';
import { ruleAllows } from './rule-match.ts';
import { AccessFixture } from './testing/access-fixture.ts';
import type { User } from './user.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';

test('a client that has observed a change of a binding is judged by it', async () => {
  await using fixture = await AccessFixture.start();
  const token = await fixture.token('robot');
  await fixture.admin('POST', `${rbac}/roles`, {
    metadata: { name: 'read' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  });
  const binding = {
    metadata: { name: 'b' },
    roleRef: { kind: 'Role', name: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
  };
  const ask = async () => (await fixture.as(token, 'GET', '/api/v1/namespaces/default/configmaps')).status;
  for (let round = 0; round < 50; round++) {
    expect(await ask()).toBe(403);
    await fixture.admin('POST', `${rbac}/rolebindings`, binding);
    expect(await ask()).toBe(200);
    if (round % 2 === 0) await fixture.admin('DELETE', `${rbac}/rolebindings/b`);
    else await fixture.admin('PUT', `${rbac}/rolebindings/b`, { ...binding, subjects: [] });
    expect(await ask()).toBe(403);
    if (round % 2 === 1) await fixture.admin('DELETE', `${rbac}/rolebindings/b`);
  }
});

test('an authorizer that starts later knows the existing objects', async () => {
  const fixture = await RegistryFixture.start();
  const kind = (plural: string) =>
    fixture.registry.kinds.byPlural('rbac.authorization.k8s.io/v1', plural) as ServedKind;
  const write = { manager: 'test', user: 'test', warn() {} };
  const create = (plural: string, object: object) =>
    fixture.registry.create(kind(plural), undefined, object as StoredObject, write);
  await create('clusterroles', role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]));
  await create('clusterrolebindings', { ...binding('b', 'r', '', [{ kind: 'User', name: 'bob' }]) });
  const authorizer = await Authorizer.start(fixture.registry);
  const attributes = {
    kind: 'resource',
    verb: 'get',
    group: '',
    resource: 'pods',
    subresource: '',
    namespace: 'x',
    name: '',
  } as const;
  expect(authorizer.decide({ name: 'bob', groups: [] }, attributes)).toEqual({
    isAllowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "bob"',
  });
  authorizer.close();
});

/** The slow, obvious implementation: all bindings, all rules. */
function allowedBySearch(
  bindings: readonly ClusterRoleBinding[],
  roles: readonly ClusterRole[],
  user: User,
  attributes: ResourceAttributes,
): boolean {
  return bindings.some((each) => {
    const bindingNamespace = each.metadata.namespace ?? '';
    if (bindingNamespace !== '' && bindingNamespace !== attributes.namespace) return false;
    const isFor = (each.subjects ?? []).some(({ kind, name, namespace = '' }) => {
      if (kind === 'User') return name === user.name;
      if (kind === 'Group') return user.groups.includes(name);
      return user.name === `system:serviceaccount:${namespace === '' ? bindingNamespace : namespace}:${name}`;
    });
    const found = roles.find(
      ({ kind, metadata }) =>
        kind === each.roleRef.kind &&
        metadata.name === each.roleRef.name &&
        (kind === 'ClusterRole' || metadata.namespace === bindingNamespace),
    );
    return isFor && (found?.rules ?? []).some((rule) => ruleAllows(rule, attributes));
  });
}

const names = fc.constantFrom('a', 'b', 'c');
const namespaces = fc.constantFrom('', 'x', 'y');
const rules = fc.array(
  fc.record({
    verbs: fc.array(fc.constantFrom('get', 'list', '*'), { minLength: 1, maxLength: 2 }),
    apiGroups: fc.array(fc.constantFrom('', 'apps', '*'), { minLength: 1, maxLength: 2 }),
    resources: fc.array(fc.constantFrom('pods', 'pods/log', '*/log', '*'), { minLength: 1, maxLength: 2 }),
    resourceNames: fc.array(names, { maxLength: 1 }),
  }),
  { maxLength: 2 },
);
const subjects = fc.array(
  fc.record({
    kind: fc.constantFrom('User', 'Group', 'ServiceAccount'),
    name: names,
    namespace: fc.constantFrom('', 'x', 'y'),
  }),
  { maxLength: 3 },
);
const users = fc.record({
  name: fc.constantFrom('a', 'b', 'system:serviceaccount:x:a', 'system:serviceaccount:y:b'),
  groups: fc.uniqueArray(names, { maxLength: 2 }),
});
const attributesArbitrary = fc.record({
  kind: fc.constant('resource' as const),
  verb: fc.constantFrom('get', 'list', 'delete'),
  group: fc.constantFrom('', 'apps'),
  resource: fc.constantFrom('pods', 'nodes'),
  subresource: fc.constantFrom('', 'log'),
  namespace: namespaces,
  name: fc.constantFrom('', 'a', 'b'),
});

function role(name: string, its: ClusterRole['rules'], namespace = ''): ClusterRole {
  const kind = namespace === '' ? 'ClusterRole' : 'Role';
  const metadata = { name, ...(namespace === '' ? {} : { namespace }) };
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, rules: its };
}

function binding(
  name: string,
  bound: string,
  namespace: string,
  its: ClusterRoleBinding['subjects'],
  roleKind = 'ClusterRole',
): ClusterRoleBinding {
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const metadata = { name, ...(namespace === '' ? {} : { namespace }) };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: roleKind, name: bound };
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, roleRef, subjects: its };
}

describe('the index', () => {
  test('returns the same as a search through all bindings after any changes', () => {
    const roleChange = fc.tuple(names, namespaces, fc.option(rules));
    const bindingChange = fc.tuple(names, names, namespaces, fc.option(subjects), fc.boolean());
    const all = fc.record({
      roles: fc.array(roleChange, { maxLength: 8 }),
      bindings: fc.array(bindingChange, { maxLength: 10 }),
      attributes: fc.array(fc.tuple(users, attributesArbitrary), { minLength: 1, maxLength: 8 }),
    });
    const check = fc.property(all, ({ roles, bindings, attributes }) => {
      const index = new RuleIndex();
      const roleMap = new Map<string, ClusterRole>();
      const bindingMap = new Map<string, ClusterRoleBinding>();
      for (const [name, namespace, its] of roles) {
        const made = role(name, its ?? [], namespace);
        if (its === null) roleMap.delete(`${namespace}/${name}`);
        else roleMap.set(`${namespace}/${name}`, made);
        if (its === null) index.removeRole(made);
        else index.putRole(made);
      }
      for (const [name, bound, namespace, its, isLocal] of bindings) {
        const made = binding(
          name,
          bound,
          namespace,
          its ?? [],
          isLocal && namespace !== '' ? 'Role' : 'ClusterRole',
        );
        if (its === null) bindingMap.delete(`${namespace}/${name}`);
        else bindingMap.set(`${namespace}/${name}`, made);
        if (its === null) index.removeBinding(made);
        else index.putBinding(made);
      }
      for (const [user, question] of attributes) {
        const found = index
          .rulesFor(user, question.namespace)
          .rules.some(({ rule }) => ruleAllows(rule, question));
        const expected = allowedBySearch([...bindingMap.values()], [...roleMap.values()], user, question);
        expect(found).toBe(expected);
      }
    });
    fc.assert(check, { numRuns: 300 });
  });
});
