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
  type Step,
  scenario,
} from '../scenario.ts';
import { definition, definitions } from './custom-definitions.ts';

/** The steps that `lifecycle.ts` has for other kinds, with pauses for what a server does to definitions in the background. */

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { size: { type: 'integer', default: 1 }, color: { type: 'string' } },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const rich = definition({
  group: 'lives.fidelity.io',
  schema,
  names: { singular: 'widge', shortNames: ['wdg'], categories: ['fidelity'] },
  version: {
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.size',
        statusReplicasPath: '.status.size',
        labelSelectorPath: '.status.s',
      },
    },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 }],
    selectableFields: [{ jsonPath: '.spec.color' }],
  },
});
const labels = { fidelity: 'yes' };
const whole = { ...rich, metadata: { ...rich.metadata, labels, annotations: { note: 'rich' } } };
const path = `${definitions}/${rich.metadata.name}`;
const selected = `${definitions}?labelSelector=fidelity%3Dyes`;
const established = 'InitialNamesAccepted';

function settled(as: string): Step {
  return get(path, { until: established, as });
}

const lifecycleScenario: Scenario = scenario(
  'CustomResourceDefinition of apiextensions.k8s.io/v1, from creation to deletion',
  post(`${definitions}?dryRun=All`, whole),
  post(`${definitions}?fieldValidation=Strict&fieldManager=maker`, whole),
  settled('rich'),
  post(definitions, whole),
  post(definitions, { ...whole, apiVersion: 'wrong/v1' }),
  post(`${definitions}?fieldValidation=Strict`, { ...whole, oddField: 1 }),
  get(path, { accept: asTable }),
  get(path, { accept: asMetadata }),
  get(selected, { accept: asTable }),
  get(`${selected}&limit=1`, { accept: asMetadataList }),
  get(`${definitions}?fieldSelector=spec.nothing%3D1`),
  get(`${definitions}/nobody`),
  put(path, { metadata: { labels: { late: 'true' } } }, { from: 'rich', as: 'updated' }),
  put(path, { metadata: { labels: { late: 'again' } } }, { from: 'rich' }),
  put(path, {}, { from: 'updated', form: 'metadata' }),
  put(path, { metadata: { resourceVersion: null } }, { from: 'updated' }),
  put(path, { metadata: { uid: '00000000-0000-0000-0000-000000000000' } }, { from: 'updated' }),
  put(path, { metadata: { name: 'other' } }, { from: 'updated' }),
  put(
    `${definitions}/made-by-put`,
    { metadata: { name: 'made-by-put', uid: null, resourceVersion: null } },
    { from: 'rich', form: 'metadata' },
  ),
  patch('merge', path, { metadata: { labels: { 'by-merge': 'yes' } } }, { form: 'metadata' }),
  patch('json', path, [{ op: 'add', path: '/metadata/annotations/by-json', value: 'yes' }], {
    form: 'metadata',
  }),
  patch('strategic', path, { metadata: { labels: { 'by-strategic': 'yes' } } }, { form: 'metadata' }),
  patch('merge', `${path}?dryRun=All`, { spec: { names: { categories: null } } }),
  get(path),
  del(`${path}?dryRun=All`),
  del(path, { propagationPolicy: 'Background' }),
  get(path, { until: 'NotFound' }),
);

const { metadata, ...rest } = rich;
const applied = { ...rest, metadata: { name: metadata.name, labels: { by: 'one' } } };
const { apiVersion, kind } = rich;
const bare = { apiVersion, kind, metadata: { name: metadata.name } };
const condition = {
  type: 'Sunny',
  status: 'True',
  reason: 'R',
  message: 'm',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

const appliedScenario: Scenario = scenario(
  'definitions that are applied',
  patch('apply', `${path}?fieldManager=one`, applied),
  settled('applied'),
  patch('apply', `${path}?fieldManager=one`, applied, { form: 'metadata' }),
  patch('apply', `${path}?fieldManager=two`, applied, { form: 'metadata' }),
  patch('apply', `${path}?fieldManager=two`, {
    ...bare,
    spec: { ...rich.spec, names: { plural: 'widgets', kind: 'Gadget' } },
  }),
  patch('apply', `${path}?fieldManager=two`, {
    ...applied,
    metadata: { name: metadata.name, labels: { by: 'two' } },
  }),
  patch('apply', `${path}/status?fieldManager=watcher`, { ...bare, status: { conditions: [condition] } }),
  patch('apply', `${path}/status?fieldManager=watcher`, {
    ...bare,
    status: { storedVersions: ['v1', 'v2'] },
  }),
  patch('apply', `${path}/status?fieldManager=watcher&force=true`, {
    ...bare,
    status: { storedVersions: ['v1'] },
  }),
  patch(
    'apply',
    `${path}?fieldManager=watcher`,
    { ...bare, status: { storedVersions: ['v1'] } },
    { form: 'metadata' },
  ),
  patch('merge', `${path}?fieldManager=three`, { metadata: { labels: { by: 'three' } } }),
  patch('apply', `${path}?fieldManager=two`, { ...rest, metadata: bare.metadata }),
  get(path),
);

export const definitionLifecycleScenarios: readonly Scenario[] = [lifecycleScenario, appliedScenario];
