import { patch, post, put, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } };
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-1111-1111-1111-111111111111' };

/** Validation of the metadata that all kinds share. */
export const metadataScenarios: readonly Scenario[] = [
  creations('metadata that is refused at creation', maps, map, [
    { metadata: { name: null } },
    { metadata: { name: '' } },
    { metadata: null },
    { metadata: { name: '.' } },
    { metadata: { name: 'a/b' } },
    { metadata: { name: 'UPPER' } },
    { metadata: { name: `${'a'.repeat(254)}` } },
    { metadata: { name: null, generateName: 'Up-' } },
    { metadata: { name: null, generateName: 'ok-' } },
    { metadata: { name: 'given', generateName: 'ignored-' } },
    { metadata: { name: null, generateName: 'y'.repeat(260) } },
    { metadata: { namespace: 'elsewhere' } },
    { metadata: { namespace: '{{ns}}' } },
    { metadata: { namespace: '' } },
    { metadata: { resourceVersion: '5' } },
    { metadata: { uid: 'mine', creationTimestamp: '2000-01-01T00:00:00Z', generation: 7, selfLink: 'x' } },
    { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 } },
    { metadata: { labels: { 'a b': 'c' } } },
    { metadata: { labels: { 'Example.com/ok': 'c' } } },
    { metadata: { labels: { 'a/b/c': 'd' } } },
    { metadata: { labels: { '': 'x' } } },
    { metadata: { labels: { ok: 'not ok!' } } },
    { metadata: { labels: { ok: 'x'.repeat(64) } } },
    { metadata: { labels: { [`${'p'.repeat(64)}`]: 'x' } } },
    { metadata: { annotations: { 'a b': 'c' } } },
    { metadata: { annotations: { 'UPPER.com/x': 'fine' } } },
    { metadata: { annotations: { big: 'x'.repeat(262_145) } } },
    { metadata: { finalizers: ['plain'] } },
    { metadata: { finalizers: ['example.com/a', 'not ok/b'] } },
    { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } },
    { metadata: { ownerReferences: [owner] } },
    { metadata: { ownerReferences: [{}] } },
    {
      metadata: {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'q', controller: true },
        ],
      },
    },
    { metadata: { ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] } },
    { metadata: { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] } },
    { metadata: { ownerReferences: [owner, owner] } },
    { metadata: { managedFields: [{ manager: 'x', operation: 'Wrong', apiVersion: 'v1' }] } },
    {
      metadata: {
        managedFields: [
          {
            manager: 'x',
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': {} },
          },
        ],
      },
    },
    {
      metadata: {
        managedFields: [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'Other' }],
      },
    },
  ]),
  changes({
    name: 'metadata that is changed',
    collection: maps,
    object: {
      ...map,
      metadata: { name: 'm', labels: { a: 'b' }, finalizers: ['example.com/keep'] },
    } as never,
    changes: [
      { metadata: { uid: null, creationTimestamp: null, labels: null } },
      { metadata: { uid: '22222222-2222-2222-2222-222222222222' } },
      { metadata: { name: 'other' } },
      { metadata: { name: null } },
      { metadata: { namespace: 'other' } },
      { metadata: { namespace: null } },
      { metadata: { creationTimestamp: '2000-01-01T00:00:00Z' } },
      { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z' } },
      { metadata: { deletionGracePeriodSeconds: 3 } },
      { metadata: { generation: 5 } },
      { metadata: { generateName: 'x-' } },
      { metadata: { resourceVersion: '1' } },
      { metadata: { resourceVersion: 'x' } },
      { metadata: { resourceVersion: null } },
      { metadata: { resourceVersion: '0' } },
      { metadata: { finalizers: null } },
      { metadata: { finalizers: ['no'] } },
      { metadata: { managedFields: [] } },
      { metadata: { managedFields: [{}] } },
      { metadata: { managedFields: null } },
      { metadata: { ownerReferences: [{ ...owner, uid: '' }] } },
      { apiVersion: null, kind: null },
      { apiVersion: 'v2' },
      { kind: 'Secret' },
    ],
  }),
  scenario(
    'namespaces that are not there or about to go',
    post('/api/v1/namespaces/missing/configmaps', map),
    post('/apis/apps/v1/namespaces/missing/statefulsets', {}),
    put('/apis/coordination.k8s.io/v1/namespaces/missing/leases/l', { metadata: { name: 'l' } }),
    patch('merge', '/api/v1/namespaces/missing/configmaps/m', {}),
    post('/api/v1/namespaces', { metadata: { name: 'fidelity-going' } }, { form: 'metadata' }),
    post('/api/v1/namespaces/fidelity-going/configmaps', map, { form: 'metadata' }),
    { method: 'DELETE', path: '/api/v1/namespaces/fidelity-going' },
    post('/api/v1/namespaces/fidelity-going/configmaps', { metadata: { name: 'late' } }, { settle: true }),
    put('/api/v1/namespaces/fidelity-going/configmaps/m', { ...map, data: { a: 'b' } }, { form: 'metadata' }),
    { method: 'DELETE', path: '/api/v1/namespaces/fidelity-going/configmaps/m' },
    { method: 'DELETE', path: '/api/v1/namespaces/fidelity-going' },
    { method: 'GET', path: '/api/v1/namespaces/fidelity-going' },
    post('/api/v1/namespaces', { metadata: { name: 'fidelity-going' } }),
    put('/api/v1/namespaces/fidelity-going/finalize', {
      metadata: { name: 'fidelity-going' },
      spec: { finalizers: [] },
    }),
    { method: 'GET', path: '/api/v1/namespaces/fidelity-going' },
    ...['default', 'kube-system', 'kube-public', 'kube-node-lease', 'missing'].map((name) => ({
      method: 'DELETE' as const,
      path: `/api/v1/namespaces/${name}?dryRun=All`,
      form: 'metadata' as const,
    })),
  ),
];
