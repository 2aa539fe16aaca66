import { asMetadata, asTable, del, get, patch, post, type Scenario, scenario } from '../scenario.ts';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const from = 'watch=true&timeoutSeconds=1&resourceVersion={{start.metadata.resourceVersion}}';

export const watchScenarios: readonly Scenario[] = [
  scenario(
    'watches of what happened',
    post(maps, { metadata: { name: 'start', labels: { a: 'b' } } }, { as: 'start', form: 'metadata' }),
    post(maps, { metadata: { name: 'm', labels: { a: 'b' } } }, { form: 'metadata' }),
    patch('merge', `${maps}/m`, { data: { x: 'y' } }, { form: 'metadata' }),
    patch(
      'merge',
      `${maps}/m`,
      { metadata: { labels: { a: 'c' }, finalizers: ['example.com/x'] } },
      { form: 'metadata' },
    ),
    patch('merge', `${maps}/m`, { metadata: { labels: { a: 'b' } } }, { form: 'metadata' }),
    patch('merge', `${maps}/m`, {}, { form: 'metadata' }),
    del(`${maps}/m`, undefined, { form: 'metadata' }),
    patch('merge', `${maps}/m`, { metadata: { finalizers: null } }, { form: 'metadata' }),
    get(`${maps}?${from}`, { settle: true }),
    get(`${maps}?${from}&labelSelector=a%3Db`),
    get(`${maps}?${from}&fieldSelector=metadata.name%3Dm`, { accept: asTable }),
    get(`${maps}?${from}&fieldSelector=metadata.name%3Dm`, { accept: asMetadata }),
    get(`${maps}?${from}&fieldSelector=metadata.name%3Dnobody`),
    get(`${maps}?watch=true&timeoutSeconds=1`),
    get(`${maps}?watch=1&timeoutSeconds=1&resourceVersion=0`),
    get(`${maps}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true`),
    get(
      `${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    ),
    get(
      `${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      { accept: asTable },
    ),
    get(
      `${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      { accept: asMetadata },
    ),
    get(`${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true`),
    get(`${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=Exact`),
    get(`${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`),
    get(`${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`),
    get(`${maps}?watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan&resourceVersion=1`),
    get(`${maps}?watch=true&timeoutSeconds=1&resourceVersion=x`),
    get(`${maps}?watch=true&timeoutSeconds=1&resourceVersion=99999999999999999`),
    get(`${maps}?watch=true&timeoutSeconds=1&labelSelector=%3D`),
    get(`${maps}?watch=true&timeoutSeconds=1&fieldSelector=x%3Dy`),
    get(`${maps}?watch=true&timeoutSeconds=1&limit=1&${''}continue=x`),
    get(`/api/v1/watch/namespaces/{{ns}}/configmaps?timeoutSeconds=1`),
    get(`/api/v1/watch/namespaces/{{ns}}/configmaps/start?timeoutSeconds=1`),
    get('/api/v1/namespaces/missing/configmaps?watch=true&timeoutSeconds=1'),
    get('/api/v1/watch/nothing?timeoutSeconds=1'),
  ),
  scenario(
    'watches of pods',
    post(
      pods,
      { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
      { as: 'start', form: 'metadata' },
    ),
    post(`${pods}/p/binding`, { target: { kind: 'Node', name: 'n1' } }),
    patch('merge', `${pods}/p/status`, { status: { phase: 'Running' } }, { form: 'metadata' }),
    del(`${pods}/p?gracePeriodSeconds=5`, undefined, { form: 'metadata' }),
    del(`${pods}/p?gracePeriodSeconds=0`, undefined, { form: 'metadata' }),
    get(`${pods}?${from}`, { settle: true }),
    get(`${pods}?${from}&fieldSelector=spec.nodeName%3Dn1`, { accept: asMetadata }),
    get(`${pods}?${from}&fieldSelector=spec.nodeName%3D`, { accept: asMetadata }),
    get(`${pods}?${from}`, { accept: asTable }),
  ),
];
