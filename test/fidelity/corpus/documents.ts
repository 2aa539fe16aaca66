import { get, post, type Scenario, scenario } from '../scenario.ts';
import { pathOf, servedVersions } from '../served.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** Documents in which the server describes itself. */
export const documentScenarios: readonly Scenario[] = [
  scenario(
    'discovery',
    get('/api', { form: 'discovery' }),
    get('/api/', { form: 'discovery' }),
    get('/apis', { form: 'discovery' }),
    get('/apis/', { form: 'discovery' }),
    get('/api', { accept: aggregated, form: 'discovery' }),
    get('/apis', { accept: aggregated, form: 'discovery' }),
    get('/apis', { accept: 'text/html' }),
    get('/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList' }),
    ...servedVersions.map((version) => get(pathOf(version), { form: 'discovery' })),
    ...servedVersions
      .filter((version) => version.includes('/'))
      .map((version) => get(`/apis/${version.split('/')[0]}`, { form: 'discovery' })),
  ),
  scenario(
    'version and health',
    get('/version', { form: 'keys' }),
    ...[
      '/healthz',
      '/livez',
      '/readyz',
      '/healthz/ping',
      '/livez/ping',
      '/readyz/ping',
      '/healthz/nothing',
    ].map((path) => get(path)),
  ),
  scenario(
    'the index of OpenAPI',
    get('/openapi/v3', { form: 'discovery' }),
    get('/openapi/v3/nothing'),
    get('/openapi/v3/apis/nothing/v1'),
  ),
  scenario(
    'OpenAPI',
    ...servedVersions.map((version) => get(`/openapi/v3${pathOf(version)}`, { form: 'openapi' })),
  ),
  scenario(
    'questions about access',
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: '{{ns}}' } },
    }),
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { verb: 'get', path: '/x' } },
    }),
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: {} }),
    post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: 'somebody', resourceAttributes: { verb: 'get', resource: 'pods' } },
    }),
    post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: {} }),
    post('/apis/authorization.k8s.io/v1/namespaces/{{ns}}/localsubjectaccessreviews', {
      metadata: { namespace: '{{ns}}' },
      spec: { user: 'x', resourceAttributes: { namespace: '{{ns}}', verb: 'get', resource: 'pods' } },
    }),
    post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}),
    post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'wrong' } }),
    post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} }),
    get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'),
    get('/api/v1/namespaces/{{ns}}/pods', { headers: { authorization: 'Bearer wrong' } }),
    get('/version', { headers: { authorization: 'Bearer wrong' } }),
  ),
];
