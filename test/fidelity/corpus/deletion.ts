import { asTable, del, get, patch, post, put, type Scenario, scenario } from '../scenario.ts';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const sets = '/apis/apps/v1/namespaces/{{ns}}/statefulsets';
const zeroUid = '00000000-0000-0000-0000-000000000000';

function pod(name: string, more: object = {}): object {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'x:1' }], ...more } };
}

const set = {
  metadata: { name: 's' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
  },
};

export const deletionScenarios: readonly Scenario[] = [
  scenario(
    'deletion with finalizers',
    post(
      maps,
      { metadata: { name: 'm', finalizers: ['example.com/a', 'example.com/b'] } },
      { form: 'metadata' },
    ),
    del(`${maps}/m`),
    del(`${maps}/m`),
    post(maps, { metadata: { name: 'm' } }),
    get(`${maps}/m`, { as: 'going' }),
    put(
      `${maps}/m`,
      { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } },
      { from: 'going' },
    ),
    put(`${maps}/m`, { metadata: { deletionTimestamp: null }, data: { a: 'b' } }, { from: 'going' }),
    patch('merge', `${maps}/m`, { metadata: { finalizers: ['example.com/b'] } }),
    patch('json', `${maps}/m`, [{ op: 'remove', path: '/metadata/finalizers/0' }]),
    get(`${maps}/m`),
  ),
  scenario(
    'preconditions and options of deletion',
    post(maps, { metadata: { name: 'm' } }, { as: 'm', form: 'metadata' }),
    ...[
      { preconditions: { uid: zeroUid } },
      { preconditions: { resourceVersion: '1' } },
      { preconditions: { uid: '{{m.metadata.uid}}', resourceVersion: '1' } },
      { propagationPolicy: 'Wrong' },
      { propagationPolicy: 'Orphan', orphanDependents: true },
      { orphanDependents: 'x' },
      { gracePeriodSeconds: -1 },
      { gracePeriodSeconds: 'x' },
      { dryRun: ['Some'] },
      { dryRun: ['All'] },
      { unknown: 1 },
      { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
      { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
      { kind: 'Pod', apiVersion: 'v1' },
    ].map((options) => del(`${maps}/m`, options)),
    ...[
      'propagationPolicy=Wrong',
      'gracePeriodSeconds=x',
      'gracePeriodSeconds=-1&dryRun=All',
      'dryRun=Some',
      'dryRun=All&propagationPolicy=Foreground',
      'orphanDependents=true&dryRun=All',
      'orphanDependents=true&propagationPolicy=Orphan',
    ].map((query) => del(`${maps}/m?${query}`)),
    del(`${maps}/m`, '{'),
    del(`${maps}/m`, {
      preconditions: { uid: '{{m.metadata.uid}}', resourceVersion: '{{m.metadata.resourceVersion}}' },
    }),
    del(`${maps}/m`, { preconditions: { uid: '{{m.metadata.uid}}' } }),
  ),
  scenario(
    'propagation',
    post(sets, set, { form: 'metadata' }),
    del(`${sets}/s?propagationPolicy=Foreground`),
    get(`${sets}/s`),
    del(`${sets}/s?propagationPolicy=Orphan`, undefined, { form: 'metadata' }),
    del(`${sets}/s?propagationPolicy=Background`, undefined, { form: 'metadata' }),
    patch('merge', `${sets}/s`, { metadata: { finalizers: [] } }, { form: 'metadata' }),
    get(`${sets}/s`),
    post(sets, set, { form: 'metadata' }),
    del(`${sets}/s`, { orphanDependents: true }, { form: 'metadata' }),
    patch('merge', `${sets}/s`, { metadata: { finalizers: null } }, { form: 'metadata' }),
    post(
      '/apis/batch/v1/namespaces/{{ns}}/jobs',
      {
        metadata: { name: 'j' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:1' }] } } },
      },
      { form: 'metadata' },
    ),
    del('/apis/batch/v1/namespaces/{{ns}}/jobs/j', undefined, { form: 'metadata' }),
    patch(
      'merge',
      '/apis/batch/v1/namespaces/{{ns}}/jobs/j',
      { metadata: { finalizers: null } },
      { form: 'metadata' },
    ),
  ),
  scenario(
    'pods and their grace',
    post(pods, pod('waiting'), { form: 'metadata' }),
    del(`${pods}/waiting`),
    get(`${pods}/waiting`),
    post(pods, pod('bound', { nodeName: 'n1', terminationGracePeriodSeconds: 40 }), { form: 'metadata' }),
    del(`${pods}/bound?gracePeriodSeconds=-5`, undefined, { form: 'metadata' }),
    post(pods, pod('bound', { nodeName: 'n1', terminationGracePeriodSeconds: 40 }), { form: 'metadata' }),
    del(`${pods}/bound`, undefined, { as: 'going' }),
    get(`${pods}/bound`, { accept: asTable }),
    del(`${pods}/bound?gracePeriodSeconds=100`, undefined, { form: 'metadata' }),
    del(`${pods}/bound?gracePeriodSeconds=10`, undefined, { form: 'metadata' }),
    del(`${pods}/bound?gracePeriodSeconds=1`, { preconditions: { uid: zeroUid } }),
    put(`${pods}/bound`, { metadata: { labels: { late: 'yes' } } }, { from: 'going' }),
    patch('merge', `${pods}/bound`, { metadata: { labels: { late: 'yes' } } }, { form: 'metadata' }),
    patch('merge', `${pods}/bound/status`, { status: { phase: 'Failed' } }),
    del(`${pods}/bound?gracePeriodSeconds=0`, undefined, { form: 'metadata' }),
    get(`${pods}/bound`),
    post(
      pods,
      {
        metadata: { name: 'kept', finalizers: ['example.com/x'] },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'x:1' }] },
      },
      { form: 'metadata' },
    ),
    del(`${pods}/kept?gracePeriodSeconds=0`, undefined, { form: 'metadata' }),
    del(`${pods}/kept`, undefined, { form: 'metadata' }),
    patch('merge', `${pods}/kept`, { metadata: { finalizers: null } }, { form: 'metadata' }),
    get(`${pods}/kept`),
    post(pods, pod('done', { nodeName: 'n1' }), { form: 'metadata' }),
    patch('merge', `${pods}/done/status`, { status: { phase: 'Succeeded' } }, { form: 'metadata' }),
    del(`${pods}/done`, undefined, { form: 'metadata' }),
    get(`${pods}/done`),
  ),
  scenario(
    'collections',
    ...['a', 'b', 'c'].map((name) =>
      post(maps, { metadata: { name, labels: { half: name === 'c' ? 'no' : 'yes' } } }, { form: 'metadata' }),
    ),
    del(`${maps}?labelSelector=half%3Dyes&dryRun=All`),
    del(`${maps}?labelSelector=half%3Dyes`),
    get(maps, { accept: asTable }),
    del(`${maps}?fieldSelector=metadata.name%3Dnobody`),
    del(`${maps}?limit=1`),
    del(maps, { preconditions: { uid: zeroUid } }),
    del(`${maps}?labelSelector=%3D`),
    del(maps, { propagationPolicy: 'Wrong' }),
    del(maps, '{'),
    del(maps),
    post(maps, { metadata: { name: 'held', finalizers: ['example.com/x'] } }, { form: 'metadata' }),
    del(maps),
    get(maps),
    del('/api/v1/namespaces/missing/configmaps'),
  ),
];
