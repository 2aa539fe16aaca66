import { asTable, del, get, patch, post, put, type Scenario, scenario } from '../scenario.ts';
import { definition, definitions } from './custom-definitions.ts';
import { creations } from './variations.ts';

/** Everything about definitions except schemas: names, versions, conversion, columns, subresources and lifecycle. */

const group = 'definitions.fidelity.io';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const plain = definition({ group, schema: anything });
const path = `${definitions}/widgets.${group}`;
const colors = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
};

function version(name: string, more: object = {}): object {
  return { name, served: true, storage: false, schema: { openAPIV3Schema: anything }, ...more };
}

/** The only version, with some fields changed. */
function only(more: object): object {
  return { spec: { versions: [version('v1', { storage: true, ...more })] } };
}

function names(more: object): object {
  return { spec: { names: more } };
}

export const definitionScenarios: readonly Scenario[] = [
  creations('definitions with other names', definitions, plain, [
    {},
    { metadata: { name: 'other' } },
    { metadata: { name: 'Wid gets' } },
    { metadata: { name: null, generateName: 'widgets-' } },
    { spec: { group: '' } },
    { spec: { group: 'Bad_Group' } },
    { metadata: { name: 'widgets.nodot' }, spec: { group: 'nodot' } },
    { spec: { scope: null } },
    { spec: { scope: 'Everywhere' } },
    { spec: { scope: 'Cluster' } },
    names({ plural: null }),
    names({ plural: 'Wid_gets' }),
    names({ kind: null }),
    names({ kind: 'Wid get' }),
    names({ kind: '9widget' }),
    names({ singular: 'Wid' }),
    names({ singular: 'other', listKind: 'OtherList' }),
    names({ listKind: 'Widget' }),
    names({ listKind: 'Wid_gets' }),
    names({ shortNames: ['w', 'W', 'w.w'] }),
    names({ categories: ['all', 'Bad Category', ''] }),
    names({ shortNames: ['w'], categories: ['all'] }),
    { spec: { names: null } },
    { spec: null },
  ]),
  creations('definitions with other versions', definitions, plain, [
    { spec: { versions: null } },
    { spec: { versions: [] } },
    only({ name: 'V1' }),
    only({ name: '' }),
    only({ name: '1' }),
    only({ storage: false }),
    only({ served: false }),
    only({ schema: null }),
    only({ schema: {} }),
    { spec: { versions: [version('v1'), version('v2')] } },
    { spec: { versions: [version('v1', { storage: true }), version('v2', { storage: true })] } },
    { spec: { versions: [version('v1', { storage: true }), version('v1')] } },
    { spec: { versions: [version('v1', { storage: true }), version('v2', { schema: null })] } },
    {
      spec: {
        versions: [version('v1', { storage: true }), version('v2', { schema: { openAPIV3Schema: {} } })],
      },
    },
    { spec: { versions: [version('v1', { storage: true }), version('V2')] } },
    {
      spec: { versions: [version('v1', { storage: true }), version('v2', { subresources: { status: {} } })] },
    },
    only({ deprecated: true }),
    only({ deprecated: true, deprecationWarning: 'use v2' }),
    only({ deprecated: true, deprecationWarning: '' }),
    only({ deprecated: true, deprecationWarning: 'a\nb' }),
    only({ deprecated: true, deprecationWarning: 'é\u0007' }),
    only({ deprecated: true, deprecationWarning: 'x'.repeat(257) }),
    only({ deprecationWarning: 'use v2' }),
    { spec: { preserveUnknownFields: true } },
    { spec: { preserveUnknownFields: false } },
    {
      spec: {
        preserveUnknownFields: true,
        versions: [
          version('v1', {
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
            },
          }),
        ],
      },
    },
    {
      status: {
        conditions: [{ type: 'Established', status: 'True' }],
        storedVersions: ['v7'],
        acceptedNames: plain.spec.names,
      },
    },
  ]),
  creations('definitions with conversion', definitions, plain, [
    { spec: { conversion: { strategy: 'None' } } },
    { spec: { conversion: {} } },
    { spec: { conversion: { strategy: 'Magic' } } },
    { spec: { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } } },
    {
      spec: {
        conversion: {
          strategy: 'None',
          webhook: { clientConfig: { url: 'https://x.io' }, conversionReviewVersions: [] },
        },
      },
    },
    {
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'https://x.io/convert' }, conversionReviewVersions: ['v1'] },
        },
      },
    },
  ]),
  creations('definitions with columns', definitions, plain, [
    only({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }] }),
    only({
      additionalPrinterColumns: [
        { name: 'A', type: 'date', format: 'date-time', priority: 1, description: 'd', jsonPath: '.x' },
      ],
    }),
    only({ additionalPrinterColumns: [{}] }),
    only({ additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] }),
    only({ additionalPrinterColumns: [{ name: 'A', type: 'string', format: 'uuid', jsonPath: '.a' }] }),
    only({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }] }),
    only({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.' }] }),
    only({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a["b"' }] }),
    {
      spec: {
        versions: [
          version('v1', {
            storage: true,
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }],
          }),
          version('v2', { additionalPrinterColumns: [{ name: '', type: 'string', jsonPath: '.a' }] }),
        ],
      },
    },
  ]),
  creations('definitions with subresources', definitions, plain, [
    only({ subresources: {} }),
    only({ subresources: { status: {} } }),
    only({ subresources: { scale: {} } }),
    only({
      subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    }),
    only({ subresources: { scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: 'x' } } }),
    only({
      subresources: { scale: { specReplicasPath: '.status.replicas', statusReplicasPath: '.spec.replicas' } },
    }),
    only({
      subresources: {
        scale: {
          specReplicasPath: '.spec.a',
          statusReplicasPath: '.status.a',
          labelSelectorPath: '.metadata.labels',
        },
      },
    }),
    only({
      subresources: {
        scale: {
          specReplicasPath: '.spec.a',
          statusReplicasPath: '.status.a',
          labelSelectorPath: 'selector',
        },
      },
    }),
    only({
      subresources: {
        scale: {
          specReplicasPath: '.spec.a',
          statusReplicasPath: '.status.a',
          labelSelectorPath: '.status.selector',
        },
      },
    }),
    {
      spec: {
        versions: [
          version('v1', { storage: true, subresources: { scale: {} } }),
          version('v2', { subresources: { status: {} } }),
        ],
      },
    },
  ]),
  creations('definitions with selectable fields', definitions, definition({ group, schema: colors }), [
    ...[
      [''],
      ['.spec.color'],
      ['.spec.color', '.spec.color'],
      ['spec.color'],
      ['.spec.size'],
      ['.spec'],
      ['.spec.color.x'],
      ['.spec.'],
      ["['spec']"],
      ['.metadata.name'],
      ['..'],
    ].map((paths) =>
      only({
        schema: { openAPIV3Schema: colors },
        selectableFields: paths.map((jsonPath) => ({ jsonPath })),
      }),
    ),
    only({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: Object.fromEntries([...'abcdefghi'].map((name) => [name, { type: 'string' }])),
        },
      },
      selectableFields: [...'abcdefghi'].map((name) => ({ jsonPath: `.${name}` })),
    }),
    only({ schema: null, selectableFields: [{ jsonPath: '.spec' }] }),
    only({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } },
        },
      },
      selectableFields: [{ jsonPath: '.metadata.name' }],
    }),
    only({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { m: { type: 'object', additionalProperties: { type: 'string' } } },
        },
      },
      selectableFields: [{ jsonPath: '.m.key' }],
    }),
    {
      spec: {
        versions: [
          version('v1', {
            storage: true,
            schema: { openAPIV3Schema: colors },
            selectableFields: [{ jsonPath: '.spec.color' }],
          }),
          version('v2', { selectableFields: [{ jsonPath: '.spec.color' }] }),
          version('v3', { schema: null, selectableFields: [{ jsonPath: '.spec' }] }),
        ],
      },
    },
  ]),
  creations(
    'definitions in the groups of Kubernetes',
    definitions,
    { ...definition({ group: 'fidelity.k8s.io', schema: anything }) },
    [
      {},
      { metadata: { annotations: { 'api-approved.kubernetes.io': 'because' } } },
      { metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } } },
      {
        metadata: {
          annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
        },
      },
      { metadata: { annotations: { 'api-approved.kubernetes.io': 'https:///x' } } },
    ],
  ),
  creations('definitions that are no such thing', definitions, plain, [
    { spec: { versions: 'v1' } },
    { spec: { nonsense: 1, versions: [{ name: 'v1', more: 2 }] } },
    only({ schema: { openAPIV3Schema: { type: 5 } } }),
    only({ schema: { openAPIV3Schema: { type: 'object', items: { type: 5 } } } }),
    only({ schema: { openAPIV3Schema: { type: 'object', additionalProperties: 'yes' } } }),
    only({ schema: { openAPIV3Schema: { type: 'object', maximum: 'much' } } }),
    only({
      schema: {
        openAPIV3Schema: { type: 'object', nonsense: 1, properties: { a: { type: 'string', b: 1 } } },
      },
    }),
    only({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { l: { type: 'array', items: { type: 'string', b: 1 } } },
        },
      },
    }),
  ]),
  scenario(
    'changes of definitions',
    post(definitions, plain, { form: 'metadata' }),
    get(path, { until: 'InitialNamesAccepted', as: 'object' }),
    [
      {},
      { spec: { group: 'other.fidelity.io' } },
      names({ plural: 'gadgets' }),
      names({ kind: 'Gadget' }),
      names({ shortNames: ['w'] }),
      { spec: { scope: 'Cluster' } },
      { spec: { versions: [version('v1'), version('v2', { storage: true })] } },
      { spec: { versions: [version('v2', { storage: true })] } },
      { spec: { versions: [version('v1')] } },
      { spec: { preserveUnknownFields: true } },
      only({ schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }),
      { status: { storedVersions: [] } },
      { metadata: { resourceVersion: null } },
      { metadata: { labels: { a: 'b' } } },
      { spec: { conversion: null, names: { singular: null, listKind: null } } },
    ].map((change) => put(`${path}?dryRun=All`, change, { from: 'object' })),
  ),
  scenario(
    'the names of an established definition stay',
    post(definitions, plain, { form: 'metadata' }),
    get(path, { until: 'InitialNamesAccepted' }),
    patch('merge', path, names({ kind: 'Gadget' })),
    patch('merge', path, { spec: { scope: 'Cluster' } }),
    patch('merge', path, names({ listKind: 'WidgetCollection', singular: 'wid' })),
    get(path, { until: '"acceptedNames":{"plural":"widgets","singular":"wid"' }),
    get(`${path}?fieldSelector=x`, { accept: asTable }),
    get(`${definitions}?fieldSelector=metadata.name%3Dwidgets.${group}`, { accept: asTable }),
    get(`${definitions}?fieldSelector=spec.group%3D${group}`),
  ),
  scenario(
    'the status of a definition',
    post(definitions, plain, { form: 'metadata' }),
    get(path, { until: 'InitialNamesAccepted', as: 'established' }),
    get(`${path}/status`),
    put(
      `${path}/status?dryRun=All`,
      { spec: { scope: 'Cluster' }, metadata: { labels: { a: 'b' } } },
      { from: 'established' },
    ),
    put(`${path}/status?dryRun=All`, { status: { storedVersions: ['v7'] } }, { from: 'established' }),
    put(`${path}/status?dryRun=All`, { status: { storedVersions: [] } }, { from: 'established' }),
    put(
      `${path}/status?dryRun=All`,
      { status: { acceptedNames: { plural: 'Bad Name' } } },
      { from: 'established' },
    ),
    put(`${path}/status?dryRun=All`, { status: { conditions: null } }, { from: 'established' }),
    patch('merge', `${path}/status?dryRun=All`, {
      metadata: { resourceVersion: null },
      status: { storedVersions: ['v1', 'v2'] },
    }),
  ),
  scenario(
    'versions in which objects are stored',
    post(definitions, plain, { form: 'metadata' }),
    get(path, { until: 'InitialNamesAccepted' }),
    patch('merge', path, { spec: { versions: [version('v1'), version('v2', { storage: true })] } }),
    patch('merge', path, { spec: { versions: [version('v2', { storage: true })] } }),
    patch('merge', `${path}/status`, { status: { storedVersions: ['v2'] } }),
    patch('merge', path, { spec: { versions: [version('v2', { storage: true })] } }),
  ),
  scenario(
    'a definition that is deleted',
    post(
      definitions,
      { ...plain, metadata: { name: `widgets.${group}`, finalizers: ['fidelity.io/wait'] } },
      { form: 'metadata' },
    ),
    get(path, { until: 'InitialNamesAccepted', as: 'established' }),
    del(path, { preconditions: { uid: 'other' } }),
    del(path, { preconditions: { resourceVersion: '1' } }),
    del(`${path}?dryRun=All`),
    del(path, { propagationPolicy: 'Foreground' }),
    get(path, { until: 'InstanceDeletionCompleted' }),
    del(path),
    patch('merge', path, { metadata: { labels: { a: 'b' } } }),
    patch('json', path, [{ op: 'remove', path: '/metadata/finalizers' }]),
    get(path),
  ),
];
