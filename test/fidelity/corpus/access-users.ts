import { del, get, post, type Scenario, type Step, scenario } from '../scenario.ts';

const core = '/api/v1/namespaces/{{ns}}';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const reviews = '/apis/authorization.k8s.io/v1';
const localReviews = `${reviews}/namespaces/{{ns}}/localsubjectaccessreviews`;

const account = { metadata: { name: 'robot' } };
const tokens = `${core}/serviceaccounts/robot/token`;
const makeAccount = post(`${core}/serviceaccounts`, account, { form: 'metadata' });
const by = (token: string) => ({ headers: { Authorization: `Bearer {{${token}.status.token}}` } });

/** A pod without a node, so it never runs. */
const pod = (name: string, spec: object): Step =>
  post(
    `${core}/pods`,
    { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
    { form: 'metadata' },
  );

const impersonated = (headers: Readonly<Record<string, string>>): Step => post(self, {}, { headers });
const ofBob = (headers: Readonly<Record<string, string>>): Step =>
  get(`${core}/pods`, { headers: { Authorization: 'Bearer {{bob.status.token}}', ...headers } });

function wanted(attributes: object, who: object = { user: '{{ns}}-bob' }): object {
  return { spec: { ...who, resourceAttributes: { namespace: '{{ns}}', ...attributes } } };
}

export const accessUserScenarios: readonly Scenario[] = [
  scenario(
    'tokens of service accounts',
    makeAccount,
    post(tokens, {}, { as: 'token' }),
    post(tokens, { spec: { audiences: [], expirationSeconds: 7200 } }),
    post(tokens, { spec: { audiences: ['a', 'b'], expirationSeconds: 600 } }, { as: 'foreign' }),
    post(self, {}, by('token')),
    get(`${core}/pods`, by('token')),
    get('/.well-known/openid-configuration', { ...by('token'), form: 'keys' }),
    get('/openid/v1/jwks', { ...by('token'), form: 'keys' }),
    get('/api', by('foreign')),
    post(tokenReviews, { spec: { token: '{{token.status.token}}' } }),
    post(tokenReviews, { spec: { token: '{{foreign.status.token}}' } }),
    post(tokenReviews, { spec: { token: '{{foreign.status.token}}', audiences: ['b', 'c'] } }),
    del(`${core}/serviceaccounts/robot`),
    post(tokenReviews, { spec: { token: '{{foreign.status.token}}', audiences: ['a'] } }),
    makeAccount,
    post(tokenReviews, { spec: { token: '{{foreign.status.token}}', audiences: ['b'] } }),
    post(tokenReviews, { spec: {} }),
  ),
  scenario(
    'token requests that are refused',
    makeAccount,
    post(`${core}/serviceaccounts/nobody/token`, {}),
    post(tokens, { spec: { expirationSeconds: 599 } }),
    post(tokens, { spec: { expirationSeconds: 4294967297 } }),
    post(tokens, { spec: { expirationSeconds: -1 } }),
    post(tokens, { metadata: { name: 'other' } }),
    post(tokens, { metadata: { namespace: 'other' } }),
    post(tokens, { metadata: { uid: 'other' } }),
    post(tokens, { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' }),
    post(tokens, { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } } }),
    post(tokens, { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'x' } } }),
    post(tokens, { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } } }),
    post(tokens, { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'x' } } }),
    post(tokens, { spec: { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'x' } } }),
    pod('p', {}),
    post(tokens, { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } } }),
    get(tokens),
    del(tokens),
  ),
  scenario(
    'tokens that are bound to objects',
    makeAccount,
    pod('p', { serviceAccountName: 'robot', nodeName: 'far-away' }),
    post(`${core}/secrets`, { metadata: { name: 's' } }, { form: 'metadata' }),
    post(
      tokens,
      { spec: { audiences: ['a'], boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } } },
      { as: 'pod' },
    ),
    post(
      tokens,
      { spec: { audiences: ['a'], boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } } },
      { as: 'secret' },
    ),
    post(tokens, { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'wrong' } } }),
    post(tokens, {
      spec: { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } },
    }),
    post(tokenReviews, { spec: { token: '{{pod.status.token}}', audiences: ['a'] } }),
    post(tokenReviews, { spec: { token: '{{secret.status.token}}', audiences: ['a'] } }),
    del(`${core}/pods/p`, { gracePeriodSeconds: 0 }, { form: 'metadata' }),
    del(`${core}/secrets/s`),
    post(tokenReviews, { spec: { token: '{{pod.status.token}}', audiences: ['a', 'b'] } }),
    post(tokenReviews, { spec: { token: '{{secret.status.token}}', audiences: ['a', 'b'] } }),
  ),
  scenario(
    'impersonation by one who may do everything',
    impersonated({ 'Impersonate-User': 'bob' }),
    impersonated({ 'Impersonate-User': 'bob', 'Impersonate-Group': 'g' }),
    impersonated({ 'Impersonate-User': 'bob', 'Impersonate-Uid': 'u', 'Impersonate-Extra-Scopes': 'a' }),
    impersonated({ 'Impersonate-User': 'bob', 'Impersonate-Extra-Acme.com%2fproject': 'a' }),
    impersonated({ 'Impersonate-User': 'bob', 'Impersonate-Group': 'system:masters' }),
    impersonated({ 'Impersonate-User': 'bob', 'Impersonate-Group': 'system:unauthenticated' }),
    impersonated({ 'Impersonate-User': 'system:anonymous' }),
    impersonated({ 'Impersonate-User': 'system:serviceaccount:a:b' }),
    impersonated({ 'Impersonate-User': 'system:serviceaccount:a:b', 'Impersonate-Group': 'g' }),
    impersonated({ 'Impersonate-Group': 'g' }),
    impersonated({ 'Impersonate-Uid': 'u' }),
    impersonated({ 'Impersonate-Extra-A': 'x' }),
  ),
  scenario(
    'impersonation by one who may not',
    makeAccount,
    post(tokens, {}, { as: 'bob', form: 'keys' }),
    ofBob({ 'Impersonate-User': 'ann' }),
    ofBob({ 'Impersonate-User': 'system:serviceaccount:a:b' }),
    ofBob({ 'Impersonate-User': 'system:node:n1' }),
    ofBob({ 'Impersonate-User': 'system:serviceaccount:a:b', 'Impersonate-Group': 'g' }),
    ofBob({ 'Impersonate-User': 'ann', 'Impersonate-Group': 'system:masters' }),
  ),
  scenario(
    'impersonation of the one user who may be impersonated',
    makeAccount,
    post(tokens, {}, { as: 'bob', form: 'keys' }),
    post(
      `${rbac}/clusterroles`,
      {
        metadata: { name: '{{ns}}' },
        rules: [{ apiGroups: [''], resources: ['users'], resourceNames: ['ann'], verbs: ['impersonate'] }],
      },
      { form: 'keys' },
    ),
    post(
      `${rbac}/clusterrolebindings`,
      {
        metadata: { name: '{{ns}}' },
        roleRef: { kind: 'ClusterRole', name: '{{ns}}' },
        subjects: [{ kind: 'ServiceAccount', namespace: '{{ns}}', name: 'robot' }],
      },
      { form: 'keys' },
    ),
    { ...ofBob({ 'Impersonate-User': 'ann' }), settle: true },
    ofBob({ 'Impersonate-User': 'eve' }),
    ofBob({ 'Impersonate-User': 'ann', 'Impersonate-Group': 'g' }),
    ofBob({ 'Impersonate-User': 'ann', 'Impersonate-Uid': 'u' }),
  ),
  scenario(
    'questions about what somebody may do',
    post(
      `${rbac}/namespaces/{{ns}}/roles`,
      { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
      { form: 'keys' },
    ),
    post(
      `${rbac}/namespaces/{{ns}}/rolebindings`,
      {
        metadata: { name: 'b' },
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: '{{ns}}-bob' },
          { kind: 'Group', name: '{{ns}}-staff' },
          { kind: 'ServiceAccount', name: 'robot' },
        ],
      },
      { form: 'keys' },
    ),
    post(`${reviews}/subjectaccessreviews`, wanted({ verb: 'get', resource: 'pods' }), { settle: true }),
    post(
      `${reviews}/subjectaccessreviews`,
      wanted({ verb: 'get', resource: 'pods' }, { user: 'x', groups: ['{{ns}}-staff'] }),
    ),
    post(
      `${reviews}/subjectaccessreviews`,
      wanted({ verb: 'get', resource: 'pods' }, { user: 'system:serviceaccount:{{ns}}:robot' }),
    ),
    post(`${reviews}/subjectaccessreviews`, wanted({ verb: 'list', resource: 'pods' })),
    post(`${reviews}/subjectaccessreviews`, wanted({ verb: 'get', resource: 'pods', subresource: 'log' })),
    post(`${reviews}/subjectaccessreviews`, wanted({ verb: 'get', resource: 'pods', namespace: 'other' })),
    post(
      `${reviews}/subjectaccessreviews`,
      wanted({ verb: 'get', resource: 'pods' }, { groups: ['system:masters'] }),
    ),
    post(`${reviews}/subjectaccessreviews`, {
      spec: {
        user: 'x',
        groups: ['system:authenticated'],
        nonResourceAttributes: { path: '/openapi/v3', verb: 'get' },
      },
    }),
    post(`${reviews}/subjectaccessreviews`, {
      spec: { user: 'x', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    }),
    post(`${reviews}/subjectaccessreviews`, { metadata: { name: 'x' }, ...wanted({ verb: 'get' }) }),
    post(
      `${reviews}/subjectaccessreviews`,
      wanted({ verb: 'list', resource: 'pods', fieldSelector: { rawSelector: 'a=b=c' } }),
    ),
    post(`${reviews}/subjectaccessreviews`, wanted({ verb: 'list', resource: 'pods', labelSelector: {} })),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      { spec: { resourceAttributes: { namespace: '{{ns}}', verb: 'get', resource: 'pods' } } },
      { headers: { 'Impersonate-User': '{{ns}}-bob' } },
    ),
    post(`${reviews}/selfsubjectaccessreviews`, { spec: {} }),
    post(localReviews, wanted({ verb: 'get', resource: 'pods' })),
    post(localReviews, wanted({ verb: 'get', resource: 'pods', namespace: 'other' })),
    post(
      `${reviews}/selfsubjectrulesreviews`,
      { spec: { namespace: '{{ns}}' } },
      { headers: { 'Impersonate-User': '{{ns}}-bob', 'Impersonate-Group': 'system:unauthenticated' } },
    ),
  ),
];
