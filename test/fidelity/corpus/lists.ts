import { asMetadataList, asTable, del, get, patch, post, type Scenario, scenario } from '../scenario.ts';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const four = ['a', 'b', 'c', 'd'].map((name, i) =>
  post(
    maps,
    { metadata: { name, labels: { name, odd: String(i % 2 === 1), [`only-${name}`]: '' } } },
    { as: name, form: 'metadata' },
  ),
);

export const listScenarios: readonly Scenario[] = [
  scenario(
    'lists in parts',
    four,
    get(`${maps}?limit=2`, { as: 'first' }),
    get(`${maps}?limit=2&continue={{first.metadata.continue}}`, { as: 'second' }),
    get(`${maps}?limit=1&continue={{first.metadata.continue}}`, { accept: asTable }),
    get(`${maps}?limit=2&continue={{first.metadata.continue}}&resourceVersion=5`),
    get(`${maps}?limit=2&continue={{first.metadata.continue}}&resourceVersionMatch=Exact`),
    get(`${maps}?limit=2&labelSelector=odd`),
    get(`${maps}?limit=4`),
    get(`${maps}?limit=0`, { accept: asMetadataList }),
    get(`${maps}?limit=2&resourceVersion=0`, { accept: asMetadataList, settle: true }),
    del(`${maps}/c`, undefined, { form: 'metadata' }),
    get(`${maps}?limit=2&continue={{first.metadata.continue}}`),
    get(`${pods}?limit=1&continue={{first.metadata.continue}}`),
  ),
  scenario(
    'lists by selector',
    four,
    ...[
      'odd=true',
      'odd!=true',
      'odd==true,name=b',
      'name in (a,c)',
      'name notin (a,c)',
      'only-a',
      '!only-a',
      'missing!=x',
      'missing notin (x)',
      'name in (a, b),odd',
      '',
      'only-a=',
    ].map((selector) => get(`${maps}?labelSelector=${encodeURIComponent(selector)}`, { accept: asTable })),
    ...[
      'metadata.name=a',
      'metadata.name!=a,metadata.name!=b',
      'metadata.namespace={{ns}}',
      'metadata.namespace=x',
      'metadata.name=a,metadata.name=b',
    ].map((selector) =>
      get(
        `${maps}?fieldSelector=${encodeURIComponent(selector).replaceAll('%7B', '{').replaceAll('%7D', '}')}`,
        { accept: asMetadataList },
      ),
    ),
    get('/api/v1/configmaps?labelSelector=only-a', { accept: asMetadataList }),
    get('/api/v1/configmaps?fieldSelector=metadata.namespace%3D{{ns}}%2Cmetadata.name%3Db', {
      accept: asMetadataList,
    }),
    get(`${maps}/a?labelSelector=only-b`, { form: 'metadata' }),
  ),
  scenario(
    'lists as of a version',
    four,
    patch('merge', `${maps}/a`, { data: { changed: 'yes' } }, { as: 'changed', form: 'metadata' }),
    del(`${maps}/d`, undefined, { form: 'metadata' }),
    get(`${maps}?resourceVersion={{c.metadata.resourceVersion}}&resourceVersionMatch=Exact`),
    get(`${maps}?resourceVersion={{b.metadata.resourceVersion}}&resourceVersionMatch=Exact&limit=1`),
    get(`${maps}?resourceVersion={{b.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan`, {
      settle: true,
    }),
    get(`${maps}?resourceVersion={{b.metadata.resourceVersion}}`, { accept: asMetadataList }),
    get(`${maps}?resourceVersion={{b.metadata.resourceVersion}}&limit=1`, { accept: asMetadataList }),
    get(`${maps}?resourceVersion=99999999999999999`),
    get(`${maps}/a?resourceVersion=0`, { settle: true, form: 'metadata' }),
    get(`${maps}/a?resourceVersion={{changed.metadata.resourceVersion}}`, { form: 'metadata' }),
    get(`${maps}/a?resourceVersion=99999999999999999`),
    get(`${maps}/a?watch=true`, { form: 'metadata' }),
  ),
  scenario(
    'pods by field',
    ...['n1', 'n2'].map((nodeName) =>
      post(
        pods,
        {
          metadata: { name: `on-${nodeName}` },
          spec: {
            nodeName,
            restartPolicy: nodeName === 'n1' ? 'Never' : 'Always',
            schedulerName: 's',
            containers: [{ name: 'c', image: 'x:1' }],
          },
        },
        { form: 'metadata' },
      ),
    ),
    patch(
      'merge',
      `${pods}/on-n1/status`,
      { status: { phase: 'Running', podIPs: [{ ip: '10.0.0.5' }], podIP: '10.0.0.5' } },
      { form: 'metadata' },
    ),
    ...[
      'spec.nodeName=n1',
      'spec.nodeName!=n1',
      'spec.nodeName=',
      'status.phase=Running',
      'status.phase!=Running,spec.nodeName=n2',
      'spec.restartPolicy=Never',
      'spec.schedulerName=s',
      'spec.serviceAccountName=',
      'spec.serviceAccountName=default',
      'spec.hostNetwork=false',
      'status.podIP=10.0.0.5',
      'status.podIPs=10.0.0.5',
      'status.nominatedNodeName=',
      'spec.host=n1',
      'metadata.name=on-n2',
    ].map((selector) => get(`${pods}?fieldSelector=${encodeURIComponent(selector)}`, { accept: asTable })),
  ),
];
