import { del, get, patch, post, put, type Scenario, type Step, scenario } from '../scenario.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const inNamespace = `${rbac}/namespaces/{{ns}}`;
const core = '/api/v1/namespaces/{{ns}}';
const group = 'rbac.authorization.k8s.io';

const as = (user: string) => ({ headers: { 'Impersonate-User': user } });
const bob = as('{{ns}}-bob');

interface Grant {
  readonly name: string;
  readonly rules: readonly object[];
  /** The default is user bob. */
  readonly subject?: object;
}

/** Creates a role in the namespace of the scenario, and a binding for it. */
function grant({ name, rules, subject = { kind: 'User', name: '{{ns}}-bob' } }: Grant): readonly Step[] {
  return [
    post(`${inNamespace}/roles`, { metadata: { name }, rules }, { form: 'keys' }),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name }, roleRef: { kind: 'Role', name }, subjects: [subject] },
      { form: 'keys' },
    ),
  ];
}

/** Creates a cluster role and a binding for it. Their names are unique to the scenario. */
function grantAll({ name, rules, subject = { kind: 'User', name: '{{ns}}-bob' } }: Grant): readonly Step[] {
  const metadata = { name: `{{ns}}-${name}` };
  return [
    post(`${rbac}/clusterroles`, { metadata, rules }, { form: 'keys' }),
    post(
      `${rbac}/clusterrolebindings`,
      { metadata, roleRef: { kind: 'ClusterRole', name: metadata.name }, subjects: [subject] },
      { form: 'keys' },
    ),
  ];
}

const config = { metadata: { name: 'm' } };
const readConfigs = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] };
const writeRoles = { apiGroups: [group], resources: ['roles', 'rolebindings'], verbs: ['*'] };
const settled = { settle: true };

/** Requests of users with limited rights, and how the server rejects them. */
export const accessRequestScenarios: readonly Scenario[] = [
  scenario(
    'requests of somebody who may do nothing',
    get(`${core}/pods`, bob),
    get(`${core}/pods/x`, bob),
    get(`${core}/pods/x/log`, bob),
    get('/api/v1/pods', bob),
    get('/api/v1/nodes/n', bob),
    get('/api/v1/namespaces/{{ns}}', bob),
    put('/api/v1/namespaces/{{ns}}/finalize', {}, bob),
    post(`${core}/pods`, { metadata: { name: 'x' } }, bob),
    post(`${core}/pods/x/eviction`, {}, bob),
    put(`${core}/configmaps/x`, config, bob),
    patch('merge', `${core}/configmaps/x`, {}, bob),
    patch('apply', `${core}/configmaps/x?fieldManager=me`, {}, bob),
    del(`${core}/configmaps/x`, undefined, bob),
    del(`${core}/configmaps`, undefined, bob),
    get(`${core}/configmaps?watch=1`, bob),
    get('/api/v1/watch/namespaces/{{ns}}/configmaps', bob),
    get('/api/v1/watch/namespaces/{{ns}}/configmaps/x', bob),
    get(`${core}/configmaps?fieldSelector=metadata.name%3Dx`, bob),
    get(`${core}/configmaps?fieldSelector=metadata.name!%3Dx`, bob),
    get('/apis/apps/v1/deployments?limit=1', bob),
    put('/apis/apps/v1/namespaces/{{ns}}/deployments/x/scale', {}, bob),
    get('/apis/nothing.example/v1/things', bob),
    get('/apis/nothing.example/v1/namespaces/{{ns}}/things/x/part', bob),
    get('/nowhere', bob),
    get('/api/v1/namespaces/{{ns}}/nowhere', bob),
    get('/metrics', bob),
    post('/version', {}, bob),
    post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {}, bob),
    post('/apis/authentication.k8s.io/v1/tokenreviews', {}, bob),
    post(`${core}/serviceaccounts/default/token`, {}, bob),
    get('/openid/v1/jwks', bob),
    get(`${core}/pods/x`, as('<b>&"bold"')),
  ),
  scenario(
    'requests that everybody may make',
    get('/version', { ...bob, form: 'keys' }),
    get('/api', { ...bob, form: 'keys' }),
    get('/apis', { ...bob, form: 'keys' }),
    get('/api/v1', { ...bob, form: 'keys' }),
    get('/apis/apps/v1', { ...bob, form: 'keys' }),
    get('/openapi/v3', { ...bob, form: 'keys' }),
    post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, bob),
    post(
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
      bob,
    ),
  ),
  scenario(
    'requests by rules of a namespace',
    post(`${core}/configmaps`, config, { form: 'metadata' }),
    grant({ name: 'read', rules: [readConfigs] }),
    get(`${core}/configmaps/m`, { ...bob, ...settled, form: 'metadata' }),
    get(`${core}/configmaps?limit=1`, { ...bob, form: 'keys' }),
    get('/api/v1/configmaps', bob),
    get('/api/v1/namespaces/default/configmaps', bob),
    del(`${core}/configmaps/m`, undefined, bob),
    get(`${core}/secrets`, bob),
  ),
  scenario(
    'requests by names and parts of resources',
    grant({
      name: 'named',
      rules: [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: ['m'], verbs: ['*'] },
        { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] },
        { apiGroups: [''], resources: ['pods/status'], verbs: ['get'] },
      ],
    }),
    post(`${core}/configmaps`, config, { ...bob, ...settled }),
    put(`${core}/configmaps/m`, config, { ...bob, form: 'metadata' }),
    get(`${core}/configmaps`, bob),
    get(`${core}/configmaps?fieldSelector=metadata.name%3Dm`, { ...bob, form: 'keys' }),
    get(`${core}/configmaps?fieldSelector=metadata.name%3Dn`, bob),
    get(`${core}/configmaps/n`, bob),
    get('/apis/apps/v1/namespaces/{{ns}}/deployments/d/scale', bob),
    get('/apis/apps/v1/namespaces/{{ns}}/deployments/d', bob),
    get(`${core}/pods/p/status`, bob),
    get(`${core}/pods/p`, bob),
    del(`${core}/configmaps`, undefined, bob),
    del(`${core}/configmaps/m`, undefined, bob),
  ),
  scenario(
    'objects that a change makes',
    grant({
      name: 'change',
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['update', 'patch'] }],
    }),
    put(`${core}/configmaps/m`, config, { ...bob, ...settled }),
    patch(
      'apply',
      `${core}/configmaps/m?fieldManager=me`,
      { apiVersion: 'v1', kind: 'ConfigMap', ...config },
      bob,
    ),
    patch('merge', `${core}/configmaps/m`, {}, bob),
    grant({ name: 'make', rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }] }),
    put(`${core}/configmaps/m`, config, { ...bob, ...settled, form: 'metadata' }),
  ),
  scenario(
    'requests by bindings whose role is not there',
    post(
      `${inNamespace}/rolebindings`,
      {
        metadata: { name: 'x' },
        roleRef: { kind: 'ClusterRole', name: 'nobody-made-this' },
        subjects: [{ kind: 'User', name: '{{ns}}-bob' }],
      },
      { form: 'keys' },
    ),
    get(`${core}/pods`, { ...bob, ...settled }),
    get('/api/v1/pods', bob),
  ),
  scenario(
    'roles that would give more than their writer has',
    grant({ name: 'writer', rules: [writeRoles, readConfigs] }),
    post(
      `${inNamespace}/roles`,
      { metadata: { name: 'ok' }, rules: [readConfigs] },
      { ...bob, ...settled, form: 'metadata' },
    ),
    post(
      `${inNamespace}/roles`,
      {
        metadata: { name: 'more' },
        rules: [
          { ...readConfigs, verbs: ['get', 'delete', 'update'] },
          { apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['get', 'list'] },
          { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get', 'patch'] },
        ],
      },
      bob,
    ),
    post(
      `${inNamespace}/roles`,
      { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
      bob,
    ),
    post(`${inNamespace}/roles`, { metadata: { name: 'odd' }, rules: [{ verbs: ['get'] }] }, bob),
    put(
      `${inNamespace}/roles/new`,
      { metadata: { name: 'new' }, rules: [{ ...readConfigs, verbs: ['*'] }] },
      bob,
    ),
    patch('merge', `${inNamespace}/roles/ok`, { rules: [{ ...readConfigs, resources: ['pods'] }] }, bob),
    patch(
      'merge',
      `${inNamespace}/roles/ok`,
      { metadata: { labels: { a: 'b' } } },
      { ...bob, form: 'metadata' },
    ),
    patch(
      'merge',
      `${inNamespace}/roles/writer`,
      { metadata: { finalizers: ['a.b/c'] } },
      { ...bob, form: 'metadata' },
    ),
    patch(
      'merge',
      `${inNamespace}/roles/writer`,
      { metadata: { finalizers: null } },
      { ...bob, form: 'metadata' },
    ),
  ),
  scenario(
    'roles that their writer may escalate',
    grant({
      name: 'escalator',
      rules: [
        writeRoles,
        { apiGroups: [group], resources: ['roles'], verbs: ['escalate'], resourceNames: ['mine'] },
      ],
    }),
    post(
      `${inNamespace}/roles`,
      { metadata: { name: 'mine' }, rules: [readConfigs] },
      { ...bob, ...settled },
    ),
    put(
      `${inNamespace}/roles/mine`,
      { metadata: { name: 'mine' }, rules: [readConfigs] },
      { ...bob, form: 'metadata' },
    ),
    put(`${inNamespace}/roles/yours`, { metadata: { name: 'yours' }, rules: [readConfigs] }, bob),
  ),
  scenario(
    'bindings that would give more than their writer has',
    grant({ name: 'writer', rules: [writeRoles, readConfigs] }),
    post(`${inNamespace}/roles`, { metadata: { name: 'same' }, rules: [readConfigs] }, { form: 'keys' }),
    post(
      `${inNamespace}/roles`,
      { metadata: { name: 'more' }, rules: [{ ...readConfigs, verbs: ['delete'] }] },
      { form: 'keys' },
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'same' }, roleRef: { kind: 'Role', name: 'same' } },
      { ...bob, ...settled, form: 'metadata' },
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'more' }, roleRef: { kind: 'Role', name: 'more' } },
      bob,
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'none' }, roleRef: { kind: 'Role', name: 'none' } },
      bob,
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'admin' }, roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } },
      bob,
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'odd' }, roleRef: { kind: 'Odd', name: 'x' } },
      bob,
    ),
    post(
      `${rbac}/clusterrolebindings`,
      { metadata: { name: '{{ns}}-x' }, roleRef: { kind: 'ClusterRole', name: 'view' } },
      bob,
    ),
    grant({
      name: 'binder',
      rules: [
        {
          apiGroups: [group],
          resources: ['clusterroles'],
          verbs: ['bind'],
          resourceNames: ['cluster-admin'],
        },
      ],
    }),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'admin' }, roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } },
      { ...bob, ...settled, form: 'metadata' },
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: 'edit' }, roleRef: { kind: 'ClusterRole', name: 'system:aggregate-to-admin' } },
      bob,
    ),
  ),
  scenario(
    'cluster roles that gather others',
    grantAll({ name: 'writer', rules: [{ apiGroups: [group], resources: ['clusterroles'], verbs: ['*'] }] }),
    post(
      `${rbac}/clusterroles`,
      {
        metadata: { name: '{{ns}}-gather' },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { none: 'has' } }] },
      },
      { ...bob, ...settled },
    ),
    post(
      `${rbac}/clusterroles`,
      { metadata: { name: '{{ns}}-plain' }, rules: [] },
      { ...bob, form: 'metadata' },
    ),
    post(
      `${rbac}/clusterroles`,
      { metadata: { name: '{{ns}}-paths' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/a', '/b/*'] }] },
      bob,
    ),
  ),
];
