import { get, patch, post, put, type Scenario, scenario } from '../scenario.ts';
import type { Sample } from './lifecycle.ts';
import { changes, creations } from './variations.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const inNamespace = `${rbac}/namespaces/{{ns}}`;
const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

const readPods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
const bob = { kind: 'User', name: 'bob' };

export const accessSamples: readonly Sample[] = [
  {
    apiVersion,
    kind: 'Role',
    plural: 'roles',
    minimal: {},
    rich: {
      rules: [
        readPods,
        { apiGroups: ['apps', ''], resources: ['*/scale'], resourceNames: ['a', 'b'], verbs: ['*'] },
      ],
    },
    change: { rules: [{ ...readPods, verbs: ['watch'] }] },
  },
  {
    apiVersion,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    isClusterWide: true,
    minimal: { rules: [] },
    rich: { rules: [readPods, { nonResourceURLs: ['/fidelity/*'], verbs: ['get'] }] },
    change: { rules: [] },
  },
  {
    apiVersion,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    minimal: { roleRef: { kind: 'Role', name: 'x' } },
    rich: {
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'nobody-has-this' },
      subjects: [
        bob,
        { kind: 'Group', name: 'readers' },
        { kind: 'ServiceAccount', name: 'default', namespace: 'a' },
        { kind: 'ServiceAccount', name: 'local' },
      ],
    },
    change: { subjects: [bob] },
  },
  {
    apiVersion,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    isClusterWide: true,
    minimal: { roleRef: { kind: 'ClusterRole', name: 'x' } },
    rich: {
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'nobody-has-this' },
      subjects: [bob, { kind: 'ServiceAccount', name: 'default', namespace: 'a' }],
    },
    change: { subjects: null },
  },
];

const role = { metadata: { name: 'r' } };
const reader = { ...role, rules: [readPods] };
const clusterRole = { metadata: { name: '{{ns}}-role' } };
const binding = { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'x' } };
const clusterBinding = { metadata: { name: '{{ns}}-b' }, roleRef: { kind: 'ClusterRole', name: 'x' } };

const wrongRules = [
  { rules: [{}] },
  { rules: [{ verbs: [], apiGroups: [''], resources: ['pods'] }] },
  { rules: [{ verbs: ['get'], resources: ['pods'] }] },
  { rules: [{ verbs: ['get'], apiGroups: [''] }] },
  { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
  { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }] },
  { rules: [readPods, { nonResourceURLs: ['/x'], resourceNames: ['a'] }] },
  { rules: 'all' },
];

const wrongSubjects = [
  { subjects: [{}] },
  { subjects: [{ kind: 'User' }] },
  { subjects: [{ kind: 'Odd', name: 'x' }] },
  { subjects: [{ kind: 'User', name: 'x', apiGroup: 'other' }] },
  { subjects: [{ kind: 'Group', name: 'x', apiGroup: 'v1' }] },
  { subjects: [{ kind: 'ServiceAccount', name: 'x', apiGroup: group }] },
  { subjects: [{ kind: 'ServiceAccount', name: 'Not_Valid!' }] },
  { roleRef: { kind: 'Role', name: '' } },
  { roleRef: { kind: 'Odd', name: 'x' } },
  { roleRef: { kind: 'ClusterRole', name: 'a/b' } },
  { roleRef: { kind: 'ClusterRole', name: 'x', apiGroup: 'apps' } },
  { roleRef: null },
];

const label = { matchLabels: { 'fidelity/aggregate': '{{ns}}' } };

/** Validation and updates of roles and bindings as objects. */
export const accessScenarios: readonly Scenario[] = [
  creations('roles that are refused', `${inNamespace}/roles`, role, [
    ...wrongRules,
    { metadata: { name: 'system:Any:thing.goes_' } },
    { metadata: { name: 'a/b' } },
    { metadata: { name: '..' } },
    { metadata: { name: '', generateName: 'x%' } },
  ]),
  creations('cluster roles that are refused', `${rbac}/clusterroles`, clusterRole, [
    ...wrongRules,
    { aggregationRule: {} },
    { aggregationRule: { clusterRoleSelectors: [{}] } },
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'bad key!': 'x' } }] } },
    { aggregationRule: { clusterRoleSelectors: [label, { matchLabels: { a: 'bad value!' } }] } },
    {
      aggregationRule: {
        clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'Odd', values: ['b'] }] }],
      },
    },
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } },
  ]),
  creations('role bindings that are refused', `${inNamespace}/rolebindings`, binding, wrongSubjects),
  creations('cluster role bindings that are refused', `${rbac}/clusterrolebindings`, clusterBinding, [
    ...wrongSubjects,
    { roleRef: { kind: 'Role', name: 'x' } },
    { subjects: [{ kind: 'ServiceAccount', name: 'x' }] },
  ]),
  changes({
    name: 'changes of role bindings',
    collection: `${inNamespace}/rolebindings`,
    object: binding,
    changes: [
      { roleRef: { name: 'y' } },
      { roleRef: { kind: 'ClusterRole' } },
      { roleRef: { apiGroup: '' } },
      { subjects: [{ kind: 'User', name: 'x' }] },
      { subjects: [{ kind: 'Odd', name: 'x' }] },
      { subjects: null },
    ],
  }),
  changes({
    name: 'changes of cluster role bindings',
    collection: `${rbac}/clusterrolebindings`,
    object: clusterBinding,
    changes: [{ roleRef: { name: 'y' } }, { subjects: [{ kind: 'Group', name: 'x' }] }],
  }),
  changes({
    name: 'changes of roles',
    collection: `${inNamespace}/roles`,
    object: reader,
    changes: [{ rules: [{ verbs: ['get'] }] }, { rules: null }, { rules: [readPods, readPods] }],
  }),
  scenario(
    'roles and bindings that PUT and apply make',
    put(`${inNamespace}/roles/r`, { ...role, rules: [readPods] }),
    put(`${inNamespace}/rolebindings/b`, binding),
    put(`${inNamespace}/rolebindings/b`, { ...binding, roleRef: { kind: 'Role', name: 'other' } }),
    patch('apply', `${inNamespace}/rolebindings/c?fieldManager=me`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name: 'c' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
      subjects: [{ ...bob, apiGroup: group }],
    }),
    patch('apply', `${inNamespace}/rolebindings/c?fieldManager=you`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name: 'c' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
      subjects: [{ kind: 'Group', apiGroup: group, name: 'all' }],
    }),
    get(`${inNamespace}/rolebindings`, { form: 'everything' }),
  ),
  scenario(
    'roles that every cluster has',
    ...['cluster-admin', 'system:basic-user', 'system:discovery', 'system:kube-scheduler'].map((name) =>
      get(`${rbac}/clusterroles/${name}`),
    ),
    get(`${rbac}/clusterrolebindings/cluster-admin`),
    get(`${rbac}/clusterrolebindings/system:public-info-viewer`),
    get(`${rbac}/namespaces/kube-system/roles/extension-apiserver-authentication-reader`),
    get(`${rbac}/namespaces/kube-system/rolebindings/system::leader-locking-kube-scheduler`),
    post(`${rbac}/clusterroles`, { metadata: { name: 'cluster-admin' } }),
  ),
];
