import { get, patch, post, type Scenario, scenario } from '../scenario.ts';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const map = {
  metadata: { name: 'm', labels: { a: 'b' }, annotations: { 'x.io/a': '1', 'x.io/b': '2' } },
  data: { x: '1' },
};

const deployment = {
  metadata: { name: 'd', annotations: { n: '1' } },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          {
            name: 'one',
            image: 'one:1',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
            ports: [{ containerPort: 80 }],
          },
          { name: 'two', image: 'two:1' },
        ],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'w', secret: { secretName: 's' } },
        ],
      },
    },
  },
};

function podSpec(spec: object): object {
  return { spec: { template: { spec } } };
}

export const patchScenarios: readonly Scenario[] = [
  scenario(
    'JSON patches',
    post(maps, map, { form: 'metadata' }),
    ...[
      [{ op: 'replace', path: '/data/x', value: '9' }],
      [
        { op: 'add', path: '/data/new', value: 'n' },
        { op: 'remove', path: '/data/x' },
      ],
      [
        { op: 'copy', from: '/data/x', path: '/data/y' },
        { op: 'move', from: '/data/y', path: '/data/z' },
      ],
      [
        { op: 'test', path: '/data/x', value: '1' },
        { op: 'replace', path: '/data/x', value: '2' },
      ],
      [{ op: 'test', path: '/data/x', value: 'other' }],
      [{ op: 'remove', path: '/data/missing' }],
      [{ op: 'replace', path: '/data/missing', value: 'x' }],
      [{ op: 'add', path: '/missing/deep', value: 'x' }],
      [
        { op: 'replace', path: '/metadata/annotations/x.io~1a', value: 's' },
        { op: 'remove', path: '/metadata/annotations/x.io~1b' },
      ],
      [{ op: 'add', path: '/data', value: { only: 'this' } }],
      [
        { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/b' },
      ],
      [{ op: 'add', path: '/metadata/finalizers/5', value: 'x' }],
      [{ op: 'jump', path: '/data' }],
      [{ op: 'add', path: 'data', value: 1 }],
      [{ op: 'add', value: 1 }],
      [{ path: '/data' }],
      [{ op: 'add', path: '/data/x' }],
      [{ op: 'replace', path: '', value: { metadata: { name: 'm' } } }],
      [{ op: 'replace', path: '/metadata/name', value: 'other' }],
      [{ op: 'replace', path: '/metadata/uid', value: 'other' }],
      [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }],
      [{ op: 'replace', path: '/kind', value: 'ServiceAccount' }],
      [{ op: 'replace', path: '/data/x', value: 5 }],
      [{ op: 'add', path: '/unknown', value: 5 }],
      [],
      {},
    ].map((operations) => patch('json', `${maps}/m?dryRun=All`, operations)),
    patch('json', `${maps}/m?dryRun=All&fieldValidation=Strict`, [{ op: 'add', path: '/unknown', value: 5 }]),
    patch('json', `${maps}/m?dryRun=All`, '['),
    patch('json', `${maps}/m?force=true`, []),
    patch('json', `${maps}/missing`, []),
  ),
  scenario(
    'merge patches',
    post(maps, map, { form: 'metadata' }),
    ...[
      { data: { x: null, y: '2' } },
      { data: null },
      { metadata: { labels: null } },
      { metadata: { name: 'other' } },
      { metadata: { namespace: 'other' } },
      { metadata: { uid: 'other' } },
      { metadata: { resourceVersion: '1' } },
      { metadata: { resourceVersion: null } },
      { metadata: { resourceVersion: 'x' } },
      { metadata: { generateName: 'x' } },
      { data: { x: 5 } },
      { data: [] },
      { kind: 'ServiceAccount' },
      { apiVersion: 'v2' },
      { metadata: null },
      { unknown: 1 },
      [],
      'null',
      '1',
      '{',
      '{"data":{"x":"1","x":"2"}}',
      {},
    ].map((body) => patch('merge', `${maps}/m?dryRun=All`, body)),
    patch('merge', `${maps}/m?dryRun=All&fieldValidation=Strict`, { unknown: 1 }),
    patch('merge', `${maps}/m?dryRun=All&fieldValidation=Strict`, '{"data":{"x":"1","x":"2"}}'),
    patch('merge', `${maps}/m?fieldManager=${'x'.repeat(130)}`, {}),
    patch('merge', `${maps}/m?dryRun=maybe`, {}),
  ),
  scenario(
    'strategic merge patches',
    post(deployments, deployment, { form: 'metadata' }),
    ...[
      podSpec({ containers: [{ name: 'one', image: 'one:2' }] }),
      podSpec({ containers: [{ name: 'three', image: 'three:1' }] }),
      podSpec({ containers: [{ name: 'two', $patch: 'delete' }] }),
      podSpec({ containers: [{ $patch: 'replace' }, { name: 'only', image: 'only:1' }] }),
      podSpec({
        containers: [
          {
            name: 'one',
            env: [
              { name: 'B', $patch: 'delete' },
              { name: 'C', value: '3' },
            ],
          },
        ],
      }),
      podSpec({
        containers: [{ name: 'one', ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 81 }] }],
      }),
      podSpec({
        $setElementOrder: {},
        '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }],
        containers: [{ name: 'one', image: 'one:3' }],
      }),
      podSpec({
        '$setElementOrder/containers': [{ name: 'two' }],
        containers: [{ name: 'one', image: 'one:3' }],
      }),
      podSpec({ tolerations: [{ key: 'other', operator: 'Exists' }] }),
      podSpec({ volumes: [{ name: 'v', emptyDir: null, hostPath: { path: '/x' } }] }),
      podSpec({ volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }),
      podSpec({ containers: [{ image: 'no-name' }] }),
      podSpec({ containers: null }),
      podSpec({ containers: {} }),
      podSpec({ $patch: 'replace', containers: [{ name: 'c', image: 'c:1' }] }),
      podSpec({ $patch: 'odd' }),
      { metadata: { annotations: { $patch: 'delete' } } },
      { metadata: { annotations: { n: null } } },
      { metadata: { finalizers: ['example.com/a'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      { spec: { strategy: { type: 'Recreate' } } },
      { spec: { replicas: 'many' } },
      { spec: { unknown: 1 } },
      { spec: { selector: { matchLabels: { a: 'c' } } } },
      [],
      '{',
    ].map((body) => patch('strategic', `${deployments}/d?dryRun=All`, body)),
    patch('strategic', `${deployments}/d?dryRun=All&fieldValidation=Strict`, { spec: { unknown: 1 } }),
    patch('strategic', `${deployments}/d?force=true`, {}),
    get(`${deployments}/d`, { form: 'metadata' }),
  ),
  scenario(
    'server-side apply',
    patch('apply', `${maps}/applied?fieldManager=one`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'applied' },
      data: { a: '1' },
    }),
    patch('apply', `${maps}/applied`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } }),
  ),
  scenario(
    'scale',
    post(deployments, { ...deployment, metadata: { name: 's' } }, { form: 'metadata' }),
    get(`${deployments}/s/scale`, { as: 'scale' }),
    patch('merge', `${deployments}/s/scale`, { spec: { replicas: 4 } }),
    { method: 'PUT', path: `${deployments}/s/scale`, from: 'scale', body: { spec: { replicas: 2 } } },
    {
      method: 'PUT',
      path: `${deployments}/s/scale`,
      from: 'scale',
      body: { spec: { replicas: 2 }, metadata: { resourceVersion: null } },
    },
    patch('merge', `${deployments}/s/scale?dryRun=All`, { spec: { replicas: -1 } }),
    patch('merge', `${deployments}/s/scale?dryRun=All`, { spec: { replicas: 'x' } }),
    patch('json', `${deployments}/s/scale?dryRun=All`, [{ op: 'replace', path: '/spec/replicas', value: 7 }]),
    patch('strategic', `${deployments}/s/scale?dryRun=All`, { spec: { replicas: 8 } }),
    {
      method: 'PUT',
      path: `${deployments}/s/scale`,
      from: 'scale',
      body: { metadata: { name: 'other', resourceVersion: null } },
    },
    {
      method: 'PUT',
      path: `${deployments}/s/scale`,
      body: { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 's' } },
    },
    {
      method: 'PUT',
      path: `${deployments}/s/scale`,
      body: { metadata: { name: 's', uid: 'wrong' }, spec: { replicas: 1 } },
    },
    get(`${deployments}/missing/scale`),
    patch('merge', `${deployments}/missing/scale`, { spec: { replicas: 1 } }),
    get(`${deployments}/s/scale`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    }),
    get(`${deployments}/s`),
  ),
];
