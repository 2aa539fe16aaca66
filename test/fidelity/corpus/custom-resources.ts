import {
  asMetadata,
  asMetadataList,
  asTable,
  del,
  get,
  patch,
  post,
  put,
  type Scenario,
  scenario,
} from '../scenario.ts';
import { define, definition, definitions, widget, widgets } from './custom-definitions.ts';

const plain = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: { type: 'string', default: 'red' },
        size: { type: 'integer', minimum: 1, maximum: 10 },
        replicas: { type: 'integer' },
        parts: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, port: { type: 'integer' } },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string', enum: ['Ready', 'Broken'] },
        replicas: { type: 'integer' },
        selector: { type: 'string' },
        since: { type: 'string', format: 'date-time' },
        ready: { type: 'boolean' },
        share: { type: 'number' },
      },
    },
  },
};

const lifecycleGroup = 'life.example.com';
const bare = 'bare.example.com';
const table = 'table.example.com';
const many = 'versions.example.com';
const scaled = 'scale.example.com';
const chosen = 'selectable.example.com';
const cluster = 'cluster.example.com';
const ended = 'ended.example.com';
const named = 'names.example.com';

export const customResourceScenarios: readonly Scenario[] = [
  scenario(
    'a custom resource lives',
    define({
      group: lifecycleGroup,
      schema: plain,
      version: { subresources: { status: {} } },
      names: { shortNames: ['wi'], categories: ['all'] },
    }),
    get(`/apis/${lifecycleGroup}`),
    get(`/apis/${lifecycleGroup}/v1`),
    post(
      widgets(lifecycleGroup),
      { ...widget(lifecycleGroup, { size: 3, odd: 1 }), status: { phase: 'Ready' } },
      { as: 'w' },
    ),
    post(widgets(lifecycleGroup), widget(lifecycleGroup, { size: 3 })),
    get(`${widgets(lifecycleGroup)}/w`),
    get(`${widgets(lifecycleGroup)}/none`),
    get(widgets(lifecycleGroup)),
    get(`/apis/${lifecycleGroup}/v1/widgets`),
    get(`${widgets(lifecycleGroup)}/w`, { accept: asTable }),
    get(`${widgets(lifecycleGroup)}/w`, { accept: asMetadata }),
    get(widgets(lifecycleGroup), { accept: asMetadataList }),
    put(`${widgets(lifecycleGroup)}/w`, { spec: { size: 4 } }, { from: 'w' }),
    put(`${widgets(lifecycleGroup)}/w`, widget(lifecycleGroup, { size: 5 })),
    put(`${widgets(lifecycleGroup)}/none`, widget(lifecycleGroup, { size: 5 })),
    patch('merge', `${widgets(lifecycleGroup)}/w`, { spec: { size: 6, color: null } }, { as: 'w' }),
    patch('merge', `${widgets(lifecycleGroup)}/w`, { status: { phase: 'Ready' } }),
    patch('json', `${widgets(lifecycleGroup)}/w`, [{ op: 'replace', path: '/spec/size', value: 7 }]),
    patch('json', `${widgets(lifecycleGroup)}/w`, [{ op: 'test', path: '/spec/size', value: 8 }]),
    patch('strategic', `${widgets(lifecycleGroup)}/w`, { spec: { size: 7 } }),
    patch(
      'merge',
      `${widgets(lifecycleGroup)}/w/status`,
      { status: { phase: 'Ready' }, spec: { size: 9 } },
      { as: 'w' },
    ),
    put(`${widgets(lifecycleGroup)}/w/status`, { status: { phase: 'Odd' } }, { from: 'w' }),
    put(
      `${widgets(lifecycleGroup)}/w/status`,
      { status: { phase: 'Broken' }, metadata: { labels: { a: 'b' } } },
      { from: 'w' },
    ),
    get(`${widgets(lifecycleGroup)}/w/status`),
    get(`${widgets(lifecycleGroup)}/w/scale`),
    patch('merge', `${widgets(lifecycleGroup)}/w`, {
      metadata: { finalizers: ['example.com/wait', 'plain'] },
    }),
    del(`${widgets(lifecycleGroup)}/w`),
    post(widgets(lifecycleGroup), widget(lifecycleGroup, { size: 3 })),
    patch('merge', `${widgets(lifecycleGroup)}/w`, { metadata: { finalizers: null } }),
    get(`${widgets(lifecycleGroup)}/w`),
    del(`${widgets(lifecycleGroup)}/w`),
  ),
  scenario(
    'custom resources without status and the forms of requests',
    define({ group: bare, schema: plain }),
    post(widgets(bare), { ...widget(bare, { size: 1 }), status: { phase: 'Ready' } }, { as: 'w' }),
    patch('merge', `${widgets(bare)}/w`, { status: { phase: 'Broken' } }),
    patch('merge', `${widgets(bare)}/w`, { metadata: { labels: { a: 'b' } } }),
    get(`${widgets(bare)}/w/status`),
    post(`${widgets(bare)}?dryRun=All`, { spec: {} }),
    post(`${widgets(bare)}?dryRun=All`, { kind: 'Widget', metadata: { name: 'x' } }),
    post(`${widgets(bare)}?dryRun=All`, { apiVersion: `${bare}/v1`, metadata: { name: 'x' } }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), kind: 'Other' }),
    post(`${widgets(bare)}?dryRun=All&fieldValidation=Ignore`, {
      ...widget(bare, {}),
      apiVersion: `${bare}/v2`,
    }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), apiVersion: 'v1' }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), metadata: {} }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), metadata: { name: 'Bad_Name' } }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), metadata: { name: 'x', labels: { a: 1 } } }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), metadata: 'x' }),
    post(`${widgets(bare)}?dryRun=All`, { ...widget(bare, {}), metadata: { name: 'x', odd: 1 } }),
    post(`${widgets(bare)}?dryRun=All`, 'not json'),
    post(`${widgets(bare)}?dryRun=All`, '[]'),
    post(`${widgets(bare)}?dryRun=All`, 'a: b', { type: 'application/protobuf' }),
    post(
      `${widgets(bare)}?dryRun=All`,
      `apiVersion: ${bare}/v1\nkind: Widget\nmetadata:\n  name: from-yaml\nspec:\n  size: 2\n`,
      { type: 'application/yaml' },
    ),
    ...(['Strict', 'Warn', 'Ignore'] as const).map((how) =>
      post(`${widgets(bare)}?dryRun=All&fieldValidation=${how}`, {
        ...widget(bare, { size: 1, odd: 1, free: { any: 1 }, ports: [{ name: 'a', odd: true }] }),
        top: 1,
        metadata: { name: 'x', odd: 1 },
      }),
    ),
    ...(['Strict', 'Warn'] as const).map((how) =>
      post(
        `${widgets(bare)}?dryRun=All&fieldValidation=${how}`,
        `{"apiVersion":"${bare}/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"size":1,"size":2}}`,
        { type: 'application/json' },
      ),
    ),
    patch('merge', `${widgets(bare)}/w?dryRun=All&fieldValidation=Strict`, { spec: { odd: 1 } }),
    patch('json', `${widgets(bare)}/w?dryRun=All&fieldValidation=Strict`, [
      { op: 'add', path: '/spec/odd', value: 1 },
    ]),
    patch('merge', `${widgets(bare)}/w?dryRun=All`, { spec: 'text' }),
    patch('merge', `${widgets(bare)}/w?dryRun=All`, { kind: 'Other' }),
    patch('merge', `${widgets(bare)}/w?dryRun=All`, { apiVersion: 'v2' }),
    patch('merge', `${widgets(bare)}/none?dryRun=All`, { spec: {} }),
    get(`${widgets(bare)}?fieldSelector=spec.size=1`),
    get(`${widgets(bare)}?fieldSelector=metadata.name=w`),
    get(`${widgets(bare)}?limit=1`),
    get(widgets(bare, 'v2')),
    get(`/apis/${bare}/v1/gadgets`),
    get(`/apis/${bare}/v2`),
    del(widgets(bare)),
    get(widgets(bare)),
  ),
  scenario(
    'custom resources in tables',
    define({
      group: table,
      schema: plain,
      version: {
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How large it is.' },
          { name: 'Port', type: 'integer', jsonPath: '.spec.ports[0].port', priority: 1 },
          { name: 'Web', type: 'integer', jsonPath: '.spec.ports[?(@.name=="web")].port' },
          { name: 'Parts', type: 'string', jsonPath: '.spec.parts' },
          { name: 'Names', type: 'string', jsonPath: '.spec.ports[*].name' },
          { name: 'Free', type: 'string', jsonPath: '.spec.free' },
          { name: 'Dotted', type: 'string', jsonPath: '.metadata.labels.example\\.com/a' },
          { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
          { name: 'Share', type: 'number', jsonPath: '.status.share' },
          { name: 'Since', type: 'date', jsonPath: '.status.since' },
          { name: 'None', type: 'string', jsonPath: '.spec.nothing.here' },
        ],
      },
    }),
    post(widgets(table), {
      ...widget(table, {
        size: 3,
        parts: ['a', 'b'],
        ports: [
          { name: 'admin', port: 8080 },
          { name: 'web', port: 80 },
        ],
        free: { z: 1, a: ['x', null], t: true },
      }),
      metadata: { name: 'full', labels: { 'example.com/a': 'yes' } },
    }),
    patch('merge', `${widgets(table)}/full/status`, {
      status: { ready: true, share: 0.5, since: '2020-01-01T00:00:00Z' },
    }),
    post(widgets(table), { ...widget(table, {}), metadata: { name: 'empty' } }),
    get(widgets(table), { accept: asTable }),
    get(`${widgets(table)}/empty`, { accept: asTable }),
  ),
  scenario(
    'several versions of a custom resource',
    define({
      group: many,
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    old: { type: 'string' },
                    both: { type: 'string' },
                    only: { type: 'string', default: 'beta' },
                  },
                },
              },
            },
          },
        },
        {
          name: 'v1',
          served: true,
          storage: false,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: { both: { type: 'string' }, young: { type: 'string', default: 'new' } },
                },
              },
            },
          },
        },
        {
          name: 'v1alpha1',
          served: true,
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
        {
          name: 'v2',
          served: false,
          storage: false,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    }),
    get(`/apis/${many}`),
    post(widgets(many, 'v1beta1'), widget(many, { old: 'x', both: 'y' }, 'v1beta1')),
    get(`${widgets(many, 'v1')}/w`),
    get(`${widgets(many, 'v1beta1')}/w`),
    get(`${widgets(many, 'v1alpha1')}/w`),
    get(`${widgets(many, 'v2')}/w`),
    patch('merge', `${widgets(many, 'v1')}/w`, { spec: { both: 'z' } }),
    get(`${widgets(many, 'v1beta1')}/w`),
    post(widgets(many, 'v1'), { ...widget(many, { both: 'y', young: 'n' }), metadata: { name: 'w2' } }),
    get(`${widgets(many, 'v1beta1')}/w2`),
    get(`${widgets(many, 'v1')}/w2`),
    get(widgets(many, 'v1')),
  ),
  scenario(
    'custom resources that scale',
    define({
      group: scaled,
      schema: plain,
      version: {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    }),
    get(`/apis/${scaled}/v1`),
    post(widgets(scaled), widget(scaled, {})),
    get(`${widgets(scaled)}/w/scale`),
    patch('merge', `${widgets(scaled)}/w`, { spec: { replicas: 2 } }),
    patch('merge', `${widgets(scaled)}/w/status`, { status: { replicas: 1, selector: 'app=w' } }),
    get(`${widgets(scaled)}/w/scale`, { as: 'scale' }),
    put(`${widgets(scaled)}/w/scale`, { spec: { replicas: 5 } }, { from: 'scale' }),
    patch('merge', `${widgets(scaled)}/w/scale`, { spec: { replicas: 4 } }),
    patch('merge', `${widgets(scaled)}/w/scale`, { spec: { replicas: -1 } }),
    get(`${widgets(scaled)}/w`),
    patch('merge', `${widgets(scaled)}/w`, { spec: { replicas: -1 } }),
    post(`${widgets(scaled)}?dryRun=All`, { ...widget(scaled, { replicas: 3_000_000_000 }) }),
  ),
  scenario(
    'fields of custom resources that can be selected by',
    define({
      group: chosen,
      schema: plain,
      version: { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }] },
    }),
    post(widgets(chosen), { ...widget(chosen, { color: 'blue', size: 1 }), metadata: { name: 'a' } }),
    post(widgets(chosen), { ...widget(chosen, { size: 2 }), metadata: { name: 'b' } }),
    post(widgets(chosen), { ...widget(chosen, { color: 'blue' }), metadata: { name: 'c' } }),
    get(`${widgets(chosen)}?fieldSelector=spec.color=blue`),
    get(`${widgets(chosen)}?fieldSelector=spec.color!=blue`),
    get(`${widgets(chosen)}?fieldSelector=spec.size=1,spec.color=blue`),
    get(`${widgets(chosen)}?fieldSelector=spec.size=`),
    get(`${widgets(chosen)}?fieldSelector=spec.parts=x`),
    del(`${widgets(chosen)}?fieldSelector=spec.color=blue`),
    get(widgets(chosen)),
  ),
  scenario(
    'custom resources of the whole cluster',
    define({ group: cluster, schema: plain, scope: 'Cluster' }),
    post(`/apis/${cluster}/v1/widgets`, widget(cluster, { size: 1 })),
    get(`/apis/${cluster}/v1/widgets/w`),
    get(`/apis/${cluster}/v1/namespaces/{{ns}}/widgets/w`),
    post(`/apis/${cluster}/v1/namespaces/{{ns}}/widgets`, widget(cluster, { size: 1 })),
    del(`/apis/${cluster}/v1/widgets/w`),
  ),
  scenario(
    'a definition goes, and its objects with it',
    define({ group: ended, schema: plain }),
    post(widgets(ended), {
      ...widget(ended, { size: 1 }),
      metadata: { name: 'kept', finalizers: ['example.com/x'] },
    }),
    post(widgets(ended), widget(ended, { size: 1 })),
    del(`${definitions}/widgets.${ended}`),
    get(`${definitions}/widgets.${ended}`, { until: 'InstanceDeletionInProgress' }),
    get(`${widgets(ended)}/w`, { until: 'NotFound' }),
    post(widgets(ended), { ...widget(ended, { size: 1 }), metadata: { name: 'late' } }),
    get(`${widgets(ended)}/kept`, { form: 'metadata' }),
    patch('merge', `${widgets(ended)}/kept`, { metadata: { finalizers: null } }, { form: 'metadata' }),
    get(`${definitions}/widgets.${ended}`, { until: 'NotFound' }),
    get(`/apis/${ended}/v1`, { until: '404 page not found' }),
    get(widgets(ended), { until: '404 page not found' }),
  ),
  scenario(
    'definitions that want the same names',
    define({ group: named, schema: plain, names: { shortNames: ['wi'] } }),
    post(
      definitions,
      {
        ...definition({ group: named, schema: plain }),
        metadata: { name: `gadgets.${named}` },
        spec: {
          ...definition({ group: named, schema: plain }).spec,
          names: { plural: 'gadgets', kind: 'Widget', singular: 'gadget', shortNames: ['wi', 'ga'] },
        },
      },
      { form: 'metadata' },
    ),
    get(`${definitions}/gadgets.${named}`, { until: 'NamesAccepted' }),
    get(`/apis/${named}/v1/namespaces/{{ns}}/gadgets`),
    patch('merge', `${definitions}/gadgets.${named}`, {
      spec: { names: { kind: 'Gadget', listKind: 'GadgetList', shortNames: ['ga'] } },
    }),
    get(`${definitions}/gadgets.${named}`, { until: 'InitialNamesAccepted' }),
    get(`/apis/${named}/v1/namespaces/{{ns}}/gadgets`, { until: 'GadgetList' }),
  ),
];
